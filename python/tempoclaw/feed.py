"""Follows a stream of server-sent events.

After a cut it continues behind the last event that it has returned, so that none is missing and none comes twice.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

from .errors import TempoClawError
from .http import pause_after

_FIRST_PAUSE = 0.25
_LONGEST_PAUSE = 5.0
#: Characters of one event, which is far smaller. A line without end is no event.
_MAX_EVENT = 8 * 1024 * 1024
#: Longer than any id of an event.
_MAX_ID = 16

Open = Callable[[int | None], AbstractContextManager[Iterator[str]]]


def follow(open: Open, after: int | None, is_numbered: bool) -> Iterator[Any]:
    """`open` opens the stream behind an id. Raises what does not pass."""
    last = after
    pause = _FIRST_PAUSE
    while True:
        shortest = 0.0
        try:
            with open(last) as texts:
                pause = _FIRST_PAUSE
                for id, data in _events_of(texts):
                    number = int(id) if id.isdecimal() and len(id) <= _MAX_ID else None
                    if is_numbered and number is None:
                        raise _unreadable("An event has no id")
                    if is_numbered and last is not None and number is not None and number <= last:
                        continue
                    event = _parse(data)
                    if number is not None:
                        last = max(last or 0, number)
                    yield event
        except TempoClawError as cut:
            # A silent stream is connected again, as one that was cut.
            if cut.code != "TimedOut" and pause_after(cut, "GET", 0) is None and cut.status < 500:
                raise
            shortest = cut.retry_after or 0.0
        time.sleep(max(pause * random.uniform(0.5, 1), shortest))
        pause = min(pause * 2, _LONGEST_PAUSE)


def _events_of(texts: Iterator[str]) -> Iterator[tuple[str, str]]:
    """Id and data of each event. Lines end with LF, CR or both."""
    id = ""
    data: list[str] = []
    size = 0
    for line in _lines_of(texts):
        if line == "":
            if data:
                yield id, "\n".join(data)
            data, size = [], 0
            continue
        name, _, value = line.partition(":")
        value = value[1:] if value.startswith(" ") else value
        if name == "id" and "\0" not in value:
            id = value
        elif name == "data":
            data.append(value)
            size += len(value) + 1
            if size > _MAX_EVENT:
                raise _unreadable("An event is larger than 8 MB")


def _lines_of(texts: Iterator[str]) -> Iterator[str]:
    """A line that the stream ends in is none."""
    parts: list[str] = []
    size = 0
    is_cr = False
    is_first = True
    for text in texts:
        if text and is_first:
            text = text.removeprefix("\ufeff")
            is_first = False
        # The CR was the end of a line, and this is its other half.
        if is_cr and text:
            text = text.removeprefix("\n")
            is_cr = False
        is_cr = text.endswith("\r") or (is_cr and not text)
        pieces = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        for piece in pieces[:-1]:
            yield "".join([*parts, piece])
            parts, size = [], 0
        parts.append(pieces[-1])
        size += len(pieces[-1])
        if size > _MAX_EVENT:
            raise _unreadable("An event is larger than 8 MB")


def _parse(data: str) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        raise _unreadable("An event is not JSON") from None


def _unreadable(message: str) -> TempoClawError:
    return TempoClawError("InvalidAnswer", message)
