"""The activities of a tool host: they open a request, run the tool, and seal what it returns."""

from __future__ import annotations

import asyncio
import concurrent.futures
import inspect
import sys
import threading
import traceback
from collections.abc import Awaitable, Callable
from typing import Any

import pydantic_core
from pydantic import BaseModel, ValidationError
from temporalio import activity
from temporalio.exceptions import ApplicationError

from . import _wire as wire
from .seal import open_payload, seal_payload
from .tools import Context, Tool

#: ("value", what it returned) or ("error", what it raised).
Outcome = tuple[str, Any]


class Activities:
    def __init__(self, tools: dict[str, Tool], key: bytes) -> None:
        self._tools = tools
        self._key = key

    @activity.defn(name=wire.RUN)
    async def run(self, sealed: bytes) -> bytes:
        return await self._perform(sealed, self._run)

    @activity.defn(name=wire.PROBE)
    async def probe(self, sealed: bytes) -> bytes:
        return await self._perform(sealed, self._probe)

    async def _perform(self, sealed: bytes, work: Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]) -> bytes:
        place = activity.info().activity_id
        try:
            request = open_payload(self._key, f"{place}/request", sealed)
            name = request["tool"]
        except Exception:
            name = None
        # Raised outside of `except`: Temporal stores the error that another one was raised for.
        if name is None:
            words = "this host cannot open it: it is sealed for a host with another API key"
            raise ApplicationError(words, type=wire.NOT_STARTED, non_retryable=True)
        alive = asyncio.create_task(_send_heartbeats())
        try:
            result = await work(request)
            return seal_payload(self._key, f"{place}/result", result)
        except Exception as error:
            # Temporal stores what is raised, and the tool's own words may contain the arguments.
            _print_error(request, error)
        finally:
            alive.cancel()
        raise ApplicationError(f"{name} has failed; its process says why", type="ToolFailed")

    async def _run(self, request: dict[str, Any]) -> dict[str, Any]:
        try:
            tool, arguments = self._parse(request)
            kind, value = await _within_time(tool, tool.function, arguments, request)
            if kind == "error":
                raise value
            if kind == "late":
                return _failure("Timeout", f"it was not done within {tool.timeout} s")
            return {"ok": True, "text": _hide(request, text_of(value))}
        except _Refused as refused:
            return _failure(refused.code, str(refused))
        except Exception as error:
            _print_error(request, error)
            return _failure("ExecutionFailed", _hide(request, _words_of(error)))

    async def _probe(self, request: dict[str, Any]) -> dict[str, Any]:
        """Raises when the probe does, so that it is tried again."""
        try:
            tool, arguments = self._parse(request)
        except _Refused as refused:
            return _failure(refused.code, str(refused))
        if tool.probe is None:
            raise RuntimeError("it has no probe")
        kind, value = await _within_time(tool, tool.probe, arguments, request)
        if kind == "error":
            raise value
        if kind == "late":
            raise RuntimeError(f"the probe was not done within {tool.timeout} s")
        if value is None:
            return {"nothing": True}
        return {"ok": True, "text": _hide(request, text_of(value))}

    def _parse(self, request: dict[str, Any]) -> tuple[Tool, BaseModel]:
        tool = self._tools.get(request["tool"])
        if tool is None:
            raise _Refused("NotFound", f"this host no longer has a tool {request['tool']}")
        try:
            return tool, tool.arguments.model_validate(request["input"])
        except ValidationError as error:
            wrong = error.errors(include_url=False, include_context=False, include_input=False)
            lines = (f"{one['msg']} at {'.'.join(map(str, one['loc'])) or 'the arguments'}" for one in wrong)
            raise _Refused("InvalidArgs", "\n".join(lines)) from None


class _Refused(Exception):
    def __init__(self, code: str, words: str) -> None:
        super().__init__(words)
        self.code = code


async def _send_heartbeats() -> None:
    while True:
        activity.heartbeat()
        await asyncio.sleep(wire.HEARTBEAT_SECONDS / 4)


async def _within_time(
    tool: Tool, function: Callable[..., Any], arguments: BaseModel, request: dict[str, Any]
) -> Outcome:
    """What came of it; "late" when its time was over and it has not noticed that soon."""
    given = request["context"]
    context = Context(
        idempotency_key=given["idempotencyKey"],
        secrets=dict(request["secrets"]),
        **{name: given[name] for name in ("agent", "user", "session", "turn", "call")},
    )

    def call() -> Any:
        return tool.call(function, arguments, context)

    begin = _begin_async if inspect.iscoroutinefunction(function) else _begin_sync
    future, cancel = begin(call)
    outcome = asyncio.wrap_future(future)
    try:
        done, _ = await asyncio.wait({outcome}, timeout=tool.timeout)
        if done:
            return outcome.result()
        context.signal.set()
        cancel()
        done, _ = await asyncio.wait({outcome}, timeout=wire.NOTICE_SECONDS)
        return outcome.result() if done and outcome.result()[0] == "value" else ("late", None)
    except asyncio.CancelledError:
        context.signal.set()
        cancel()
        raise


def _begin_sync(call: Callable[[], Any]) -> tuple[concurrent.futures.Future[Outcome], Callable[[], None]]:
    """In a thread of its own: one that does not end in its time takes no place of others, and ends with the process."""
    future: concurrent.futures.Future[Outcome] = concurrent.futures.Future()

    def run() -> None:
        try:
            outcome = ("value", call())
        except BaseException as error:
            outcome = ("error", _raisable(error))
        future.set_result(outcome)

    threading.Thread(target=run, daemon=True).start()
    return future, lambda: None


def _begin_async(call: Callable[[], Any]) -> tuple[concurrent.futures.Future[Outcome], Callable[[], None]]:
    """In a loop of all async tools, beside that of the heartbeats, which a tool that blocks must not stop."""
    future: concurrent.futures.Future[Outcome] = concurrent.futures.Future()
    loop = _tools_loop()
    tasks: list[asyncio.Task[None]] = []

    async def run() -> None:
        try:
            outcome = ("value", await call())
        except BaseException as error:
            outcome = ("error", _raisable(error))
        future.set_result(outcome)

    def cancel() -> None:
        loop.call_soon_threadsafe(lambda: tasks[0].cancel())

    loop.call_soon_threadsafe(lambda: tasks.append(loop.create_task(run())))
    return future, cancel


_loops: list[asyncio.AbstractEventLoop] = []


def _tools_loop() -> asyncio.AbstractEventLoop:
    if not _loops:
        loop = asyncio.new_event_loop()
        threading.Thread(target=loop.run_forever, daemon=True).start()
        _loops.append(loop)
    return _loops[0]


def _raisable(error: BaseException) -> Exception:
    """What would end a loop, or cancel the activity, is an error of the tool."""
    return error if isinstance(error, Exception) else RuntimeError(f"{type(error).__name__}: {error}")


def _failure(code: str, words: str) -> dict[str, Any]:
    return {"ok": False, "code": code, "message": _cut(words, wire.MAX_MESSAGE)[0]}


def text_of(value: Any) -> str:
    if value is None:
        return "Done."
    text = value if isinstance(value, str) else _json_of(value)
    kept, length = _cut(text, wire.MAX_OUTPUT)
    return text if kept is text else f"{kept}\n[cut: it returned {length} characters]"


def _json_of(value: Any) -> str:
    return pydantic_core.to_json(value, inf_nan_mode="null", bytes_mode="base64").decode()


def _cut(text: str, limit: int) -> tuple[str, int]:
    """Counts characters as JavaScript does: those beyond the first 65,536 are two."""
    units = text.encode("utf-16-le", "surrogatepass")
    if len(units) <= 2 * limit:
        return text, len(units) // 2
    return units[: 2 * limit].decode("utf-16-le", "surrogatepass"), len(units) // 2


def _words_of(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def _hide(request: dict[str, Any], text: str) -> str:
    """Workers hide all secrets of the tenant; this hides them before they leave the process."""
    for name, value in request["secrets"].items():
        if len(value) >= wire.MIN_SECRET:
            text = text.replace(value, f"[secret {name}]")
    return text


def _print_error(request: dict[str, Any], error: BaseException) -> None:
    lines = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    print(f"{request['tool']}: {_hide(request, lines)}", file=sys.stderr, flush=True)
