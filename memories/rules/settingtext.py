"""Values of settings as people type and read them. Pure; what is acceptable is decided by the schema."""

from __future__ import annotations

from enum import EnumType
from types import UnionType
from typing import Any, Literal, get_args, get_origin

from memories.rules.layers import INFO, SettingInfo, SettingInvalid, canonical_key
from memories.rules.settings import Settings
from memoryhub.lib.errors import FieldError

type Kind = Literal["yes_no", "choice", "whole", "number", "list", "text"]

_YES, _NO = {"true", "yes", "on", "1"}, {"false", "no", "off", "0"}


def kind_of(key: str) -> Kind:
    """What a form must offer for it."""
    annotation = _bare(Settings.model_fields[key].annotation)
    if get_origin(annotation) is list:
        return "list"
    if INFO[key].choices:
        return "choice"
    kinds: dict[Any, Kind] = {bool: "yes_no", int: "whole", float: "number"}
    return kinds.get(annotation, "text")


def options_of(key: str) -> tuple[str, ...]:
    """The words a list may hold, or a choice; nothing where any text will do."""
    annotation = _bare(Settings.model_fields[key].annotation)
    (inner,) = get_args(annotation) if get_origin(annotation) is list else (annotation,)
    return tuple(str(one) for one in _words(getattr(inner, "__value__", inner)))


def _words(annotation: Any) -> tuple[Any, ...]:
    if isinstance(annotation, EnumType):
        return tuple(annotation)
    return get_args(annotation) if getattr(get_origin(annotation), "_name", None) == "Literal" else ()


def _bare(annotation: Any) -> Any:
    """The annotation without its name, and without None."""
    annotation = getattr(annotation, "__value__", annotation)
    if get_origin(annotation) is UnionType or isinstance(annotation, UnionType):
        annotation = next(one for one in get_args(annotation) if one is not type(None))
    return getattr(annotation, "__value__", annotation)


def parsed(key: str, text: str) -> Any:
    """The value somebody typed. Raises SettingInvalid saying what it should look like."""
    key, text = canonical_key(key), text.strip()
    match kind_of(key):
        case "yes_no" if text.lower() in _YES | _NO:
            return text.lower() in _YES
        case "whole" if text.lstrip("-").isdecimal() and len(text) < 19:
            return int(text)
        case "number":
            return _number(key, text)
        case "list":
            return [part.strip() for part in text.replace("\n", ",").split(",") if part.strip()]
        case "text" | "choice":
            return text
        case _:
            raise _unlike(key)


def _number(key: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise _unlike(key) from None


def _unlike(key: str) -> SettingInvalid:
    wanted = {"yes_no": "yes or no", "whole": "a whole number", "number": "a number"}[kind_of(key)]
    return SettingInvalid(errors=[FieldError("/value", "wrong_kind", f"must be {wanted}")])


def typed(value: Any) -> str:
    """A value as a form's field holds it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return ", ".join(str(one) for one in value) if isinstance(value, list | tuple) else str(value)


def bounds_of(info: SettingInfo) -> str:
    """``1 to 500``, ``at least 1``, ``one of: a, b``; empty where anything goes."""
    low, high = ("" if bound is None else _counted(bound) for bound in (info.minimum, info.maximum))
    if low and high:
        return f"{low} to {high}"
    if low or high:
        return f"at least {low}" if low else f"at most {high}"
    options = options_of(info.key)
    if not options:
        return ""
    return f"{'any of' if kind_of(info.key) == 'list' else 'one of'}: {', '.join(options)}"


def _counted(bound: float) -> str:
    return f"{bound:,.0f}" if bound == int(bound) else f"{bound:g}"
