"""``up``: the whole hub in one process tree, from the servers to the first answer, until somebody stops it."""

from __future__ import annotations

import shlex
from contextlib import ExitStack
from typing import TYPE_CHECKING

from django.core.management import call_command
from django.db import connections

from memories.management.firststart import FIRST_VAULT, Bootstrap, bootstrap, prepare_store
from memoryhub.env import BASE_DIR
from memoryhub.local.commands import HubPlan, beat_command, begin_metrics, web_command, worker_command
from memoryhub.local.datadir import DataDir, check, prepare
from memoryhub.local.locks import hub_lock
from memoryhub.local.postgres import start_postgres
from memoryhub.local.processes import leave_with_launcher, start
from memoryhub.local.readiness import address, refuse_taken_port, wait_until_ready
from memoryhub.local.supervisor import Supervisor, stop_signals
from memoryhub.local.valkey import start_valkey

if TYPE_CHECKING:
    from collections.abc import Callable

SERVERS, PROCESSES = 1, 2  # what starts first stops last


def run_hub(plan: HubPlan, say: Callable[[str], None], *, demo: bool = False) -> None:
    """Start everything, say where it is, and keep it until Ctrl-C or SIGTERM.

    Raises HubError: at the start with nothing changed, later when a process cannot be kept running.
    """
    leave_with_launcher()
    refuse_taken_port(plan.host, plan.port)
    check(plan.env.data)
    with stop_signals(), ExitStack() as stack:
        try:
            datadir = prepare(plan.env.data)
            stack.enter_context(hub_lock(datadir))
            supervisor = Supervisor(say)
            stack.callback(supervisor.stop)
            _start(plan, datadir, supervisor)
            told = bootstrap(datadir, address(plan.host, plan.port))
            _start_processes(plan, datadir, supervisor)
            if demo:
                call_command("load_demo")
            say(_welcome(plan, datadir, told))
            connections.close_all()
            supervisor.watch()
        except KeyboardInterrupt:
            say("Stopping.")


def _start(plan: HubPlan, datadir: DataDir, supervisor: Supervisor) -> None:
    if plan.env.database_url is None:
        supervisor.keep(lambda: start_postgres(datadir).child, SERVERS)
    if plan.env.broker_url is None:
        supervisor.keep(lambda: start_valkey(datadir).child, SERVERS)
    prepare_store()


def _start_processes(plan: HubPlan, datadir: DataDir, supervisor: Supervisor) -> None:
    begin_metrics(datadir)
    web = supervisor.keep(lambda: start(web_command(plan, datadir)), PROCESSES)
    if plan.workers:
        supervisor.keep(lambda: start(worker_command(plan, datadir)), PROCESSES)
    wait_until_ready(plan.host, plan.port, web)
    if plan.workers:
        supervisor.keep(lambda: start(beat_command(datadir)), PROCESSES)


def _welcome(plan: HubPlan, datadir: DataDir, told: Bootstrap | None) -> str:
    url = address(plan.host, plan.port)
    lines = ["", f"  MemoryHub is ready:  {url}", ""]
    if told is None:
        lines += ["  Accounts and keys:   as they were set up in this database (`manage.py create_key` makes a key)"]
    else:
        lines += [
            f"  Admin login:         {told.admin_username}  {told.admin_password}",
            f"  API key:             {told.api_key}",
            f"  Both are kept in:    {datadir.bootstrap}",
        ]
    lines += [f"  Your data:           {', '.join(datadir.storage)}", "", "  Write a first memory:", ""]
    key = told.api_key if told else "$MEMORYHUB_KEY"
    lines += [
        f"    curl {url}/api/v1/memories -H 'Authorization: Bearer {key}' \\",
        """         -H 'Content-Type: application/json' -d '{"content": "I prefer tea in the morning."}'""",
        "",
        "  Connect an MCP client (the page Connect has the lines for others):",
        "",
        f"    claude mcp add --transport http memoryhub {url}/mcp --header 'Authorization: Bearer {key}'",
        *(_narrower(datadir) if told else ()),
        "",
        "  Ctrl-C stops everything; the next start finds your data again.",
        "",
    ]
    return "\n".join(lines)


def _narrower(datadir: DataDir) -> list[str]:
    """How an agent gets a key of its own."""
    where = "" if datadir.root == BASE_DIR / "var" else f"MEMORYHUB_DATA={shlex.quote(str(datadir.root))} "
    return [
        "",
        "  That key may do everything. An agent you keep needs less: make it one that reads, writes and archives,",
        "  on the page Keys or with",
        "",
        f"    {where}uv run manage.py create_key --vault {FIRST_VAULT} --name my-agent --for agent",
    ]
