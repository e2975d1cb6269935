"""Logging of every process: one line of JSON (or for people, coloured text) with ids and never content.

An exception is logged as its class and the places it passed; its message may quote what somebody wrote (GEN-05).
"""

from __future__ import annotations

import logging
import sys
import traceback
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import structlog

if TYPE_CHECKING:
    from structlog.typing import EventDict, Processor, WrappedLogger


def logging_config(level: str, style: str, *, show_messages: bool = False) -> dict[str, Any]:
    """The ``LOGGING`` dictionary; also sets structlog up for this process. ``style`` is json or console."""
    logging.raiseExceptions = show_messages  # or a line that cannot be written is quoted to stderr in full
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        *([] if show_messages else [where_it_passed]),
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    last: list[Processor] = (
        [structlog.dev.ConsoleRenderer()]
        if style == "console"
        else [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
    )
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "filters": {"quiet_tasks": {"()": TaskFailureFilter}},
        "formatters": {
            "hub": {
                "()": structlog.stdlib.ProcessorFormatter,
                "foreign_pre_chain": shared,
                "processors": [structlog.stdlib.ProcessorFormatter.remove_processors_meta, *last],
            }
        },
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "hub", "filters": ["quiet_tasks"]}},
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {
            "django": {"handlers": [], "level": level, "propagate": True},
            "django.db.backends": {"level": "INFO"},
            "django.server": {"handlers": [], "propagate": True},
            "celery.app.trace": {"level": "WARNING"},
            "celery.worker.strategy": {"level": "WARNING"},  # one line for every message, every ten seconds
            "kombu": {"level": "WARNING"},
            "httpx2": {"level": "WARNING"},  # it would write whole addresses
            "openai": {"level": "WARNING"},
        },
    }


def where_it_passed(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    """Replace an exception by its class names and the lines it passed, innermost last."""
    info = event.pop("exc_info", None)
    exception = _exception(info)
    if exception is None:
        return event
    chain: list[str] = []
    frames = traceback.extract_tb(exception.__traceback__)
    cause: BaseException | None = exception
    while cause is not None and len(chain) < 5:
        chain.append(f"{type(cause).__module__}.{type(cause).__qualname__}")
        cause = cause.__cause__ or (None if cause.__suppress_context__ else cause.__context__)
    event["exception"] = chain
    event["frames"] = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames[-12:]]
    return event


class TaskFailureFilter(logging.Filter):
    """Celery puts the exception's text into its message; keep the task's name and id instead."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Always keeps the record."""
        if record.name.startswith("celery.") and isinstance(record.args, Mapping) and "traceback" in record.args:
            record.msg, record.args = f"task {record.args.get('name')} {record.args.get('id')} failed", None
        return True


def _exception(info: Any) -> BaseException | None:
    if isinstance(info, BaseException):
        return info
    if isinstance(info, tuple):
        return info[1] if isinstance(info[1], BaseException) else None
    return sys.exc_info()[1] if info else None
