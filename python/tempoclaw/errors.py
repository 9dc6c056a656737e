"""Why a request was not done."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ._wire import REMEDIES

_OWN_REMEDIES = {
    "Unreachable": "Check the address, and that TempoClaw runs.",
    "TimedOut": "Try again, or raise `timeout`. Use the same `idempotency_key`, because it may have been done.",
    "InvalidAnswer": "Check that the address is the one of TempoClaw and not of a page in front of it.",
    "TooLargeAnswer": "Raise `max_bytes`, or read less.",
    "InvalidRequest": "Correct what the message names.",
}
#: Far more than a problem has. What a wrong server sends as one is cut.
_MAX_TEXT = 2_000


class TempoClawError(Exception):
    """What the API refused, or why there is no answer.

    code: stable: a code of the API, `Http…` where the API did not answer itself, or a code of the client.
    status: the HTTP status; 0 without an answer.
    remedy: what to do about it.
    retry_after: seconds after which the same request may succeed.
    problem: everything that the API said.
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        status: int = 0,
        problem: Mapping[str, Any] | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message[:_MAX_TEXT])
        self.code = code
        self.status = status
        self.problem: Mapping[str, Any] = problem or {}
        self.retry_after = retry_after
        self.remedy = {**REMEDIES, **_OWN_REMEDIES}.get(code) or _remedy_of(status)


def _remedy_of(status: int) -> str:
    if 300 <= status < 400:
        return "Use the address that this one leads to."
    return _OWN_REMEDIES["InvalidAnswer"] if status < 500 else "Try again later."


def refusal(status: int, headers: Mapping[str, str], body: bytes) -> TempoClawError:
    """Of an answer that is not 2xx."""
    try:
        problem = json.loads(body)
    except (ValueError, RecursionError):
        # A proxy answers with a page of its own.
        problem = {}
    if not isinstance(problem, dict):
        problem = {}
    texts = [problem.get("detail"), problem.get("title"), f"The request was answered with HTTP {status}"]
    head = next(text for text in texts if isinstance(text, str) and text)
    errors = problem.get("errors")
    fields = [_field_text(one) for one in errors if isinstance(one, dict)] if isinstance(errors, list) else []
    code = problem.get("code")
    return TempoClawError(
        code if isinstance(code, str) and code else f"Http{status}",
        " · ".join([head, *(text for text in fields if text and text != head)]),
        status=status,
        problem=problem,
        retry_after=_seconds_of(headers.get("retry-after")),
    )


def _field_text(error: dict[str, Any]) -> str:
    parts = [error.get("pointer"), error.get("message")]
    return ": ".join(part for part in parts if isinstance(part, str) and part)


def _seconds_of(text: str | None) -> float | None:
    return float(text) if text is not None and text.isdecimal() and len(text) < 10 and int(text) > 0 else None
