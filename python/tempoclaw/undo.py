"""The tool that reverses the calls of another. Its arguments are the call's, and what the call returned."""

from __future__ import annotations

import asyncio
import inspect
from dataclasses import replace
from typing import Any

from pydantic import BaseModel, Field, create_model

from .run import text_of
from .tools import Context, Tool


def undo_name(name: str) -> str:
    return f"undo_{name}"


def undo_tool(name: str, tool: Tool) -> Tool:
    """For a tool that has an undo."""
    arguments = create_model(
        "Undo",
        call=(str, Field(description=f"Id of the call of {name}")),
        input=(tool.arguments, Field(description="Its arguments")),
        result=(
            str | None,
            Field(None, description="What it returned; absent when nobody knows whether it took effect"),
        ),
    )

    def reverse(call: str, input: BaseModel, result: str | None, context: Context) -> Any:
        # Keys of calls end with their ids.
        key = context.idempotency_key[: -len(context.call)] + call
        undoes = replace(context, call=call, idempotency_key=key)
        found = result
        if found is None:
            found = _finished(tool.call(tool.probe, input, undoes)) if tool.probe else None
        if found is None:
            return "There is nothing to reverse: the call has not taken effect."
        assert tool.undo is not None
        return _finished(tool.call(tool.undo, input, replace(context, result=text_of(found), undoes=undoes)))

    return replace(
        tool,
        function=reverse,
        description=f"Reverses a call of {name}",
        arguments=arguments,
        model_name=None,
        probe=None,
        undo=None,
    )


def _finished(value: Any) -> Any:
    """The function runs in a thread of its own."""
    return asyncio.run(_awaited(value)) if inspect.isawaitable(value) else value


async def _awaited(value: Any) -> Any:
    return await value
