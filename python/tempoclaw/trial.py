"""Runs or probes one tool in a process that can be killed; `npx tempoclaw tools test` starts it.

It reads one line of JSON with the work, and writes lines with what happens.
"""

from __future__ import annotations

import asyncio
import base64
import dataclasses
import functools
import inspect
import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any, TextIO

from temporalio.testing import ActivityEnvironment

from . import _wire as wire
from .host import send, take_stdin, take_stdout
from .load import load_tools
from .run import Activities
from .tools import Tool


def _with_kill(tool: Tool, point: str | None, out: TextIO) -> Tool:
    """Kills the process before its first line, or after its last one."""

    def started() -> None:
        send(out, {"kind": "started"})
        if point == "before":
            os.kill(os.getpid(), signal.SIGKILL)

    def ran() -> None:
        send(out, {"kind": "ran"})
        if point == "after":
            os.kill(os.getpid(), signal.SIGKILL)

    function: Callable[..., Any] = tool.function
    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def run_async(**values: Any) -> Any:
            started()
            value = await function(**values)
            ran()
            return value

        return dataclasses.replace(tool, function=run_async)

    @functools.wraps(function)
    def run(**values: Any) -> Any:
        started()
        value = function(**values)
        ran()
        return value

    return dataclasses.replace(tool, function=run)


async def _perform(work: dict[str, Any], out: TextIO) -> None:
    tools, _ = load_tools(Path(work["folder"]))
    name = work["tool"]
    if name not in tools:
        raise LookupError(f"{work['folder']}/tools has no tool {name} that can be loaded")
    activities = Activities({name: _with_kill(tools[name], work.get("kill"), out)}, base64.b64decode(work["key"]))
    perform = activities.run if work["type"] == wire.RUN else activities.probe
    environment = ActivityEnvironment()
    environment.info = dataclasses.replace(environment.info, activity_id=work["id"])
    result: bytes = await environment.run(perform, base64.b64decode(work["request"]))
    send(out, {"kind": "result", "result": base64.b64encode(result).decode()})


def main() -> None:
    out = take_stdout()
    work = json.loads(take_stdin().readline())
    try:
        asyncio.run(_perform(work, out))
    except Exception as error:
        send(out, {"kind": "problem", "message": str(error)})
    os._exit(0)


if __name__ == "__main__":
    main()
