"""A client of TempoClaw's HTTP API."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import quote

from ._operations import OPERATIONS
from .errors import TempoClawError
from .feed import follow
from .http import Http, Request

_EVENTS = "GET /v1/sessions/{key}/events"


class Client:
    """Sends requests and follows events. It is safe to use from several threads, and sends nothing when it is made.

    url: where TempoClaw is, also below a path; by default TEMPOCLAW_URL.
    api_key: a key or a token, or a function that returns one for each request; by default TEMPOCLAW_API_KEY.
    timeout: seconds that one try may take, beside the `wait` of the request.
    patience: seconds in which a request that failed for a moment is sent again; 0 sends it once.
    max_bytes: bytes that an answer may have.
    """

    def __init__(
        self,
        url: str | None = None,
        api_key: str | Callable[[], str] | None = None,
        *,
        timeout: float = 60,
        patience: float = 20,
        max_bytes: int = 32 * 1024 * 1024,
    ) -> None:
        url = url or os.environ.get("TEMPOCLAW_URL")
        if not url:
            raise TempoClawError("InvalidRequest", "url is missing; give it, or set TEMPOCLAW_URL")
        key = api_key if api_key is not None else os.environ.get("TEMPOCLAW_API_KEY")
        self._http = Http(url, key, timeout=timeout, patience=patience, max_bytes=max_bytes)
        self.approvals = Approvals(self)

    def session(self, key: str) -> Session:
        return Session(self, key)

    def request(
        self,
        operation: str,
        *,
        params: Mapping[str, str | int] | None = None,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        content_type: str = "application/octet-stream",
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> Any:
        """Sends any operation of the API, such as `GET /v1/agents/{key}`, and returns what it answers.

        body: a value that is sent as JSON, or bytes, which are sent as `content_type`.
        idempotency_key: a request with the same key is done once; each POST has its own by default.
        Raises TempoClawError.
        """
        place = _place_of(operation, params, query, is_feed=False)
        request = Request(*place, body=body, content_type=content_type)
        wait = float((query or {}).get("wait") or 0)
        return self._http.send(request, idempotency_key, (timeout or self._http.timeout) + wait)

    def follow(
        self,
        operation: str,
        *,
        params: Mapping[str, str | int] | None = None,
        query: Mapping[str, Any] | None = None,
        after: int | None = None,
    ) -> Iterator[Any]:
        """Follows any stream of the API, and connects again after a cut, until you leave the loop.

        Raises TempoClawError for what does not pass: a refused key, no such session, deleted events.
        """
        method, path, pairs = _place_of(operation, params, query, is_feed=True)
        yield from follow(
            lambda last: self._http.stream(Request(method, path, pairs), last), after, operation == _EVENTS
        )

    def close(self) -> None:
        self._http.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Session:
    def __init__(self, client: Client, key: str) -> None:
        self._client = client
        self.key = key

    def send(self, text: str, *, wait: float | None = None, idempotency_key: str | None = None, **message: Any) -> Any:
        """Returns when the message is accepted; with `wait` (seconds), when its turn has ended, waits for a person, or
        the time is up. `message` has `agent`, `mode` and what else the API takes."""
        return self._client.request(
            "POST /v1/sessions/{key}/messages",
            params={"key": self.key},
            query={"wait": wait},
            body={**message, "text": text},
            idempotency_key=idempotency_key,
        )

    def events(self, *, after: int | None = None) -> Iterator[Any]:
        """Every event behind the id `after`, once and in order, until you leave the loop."""
        return self._client.follow(_EVENTS, params={"key": self.key}, after=after)

    def stop(self, **stop: Any) -> Any:
        return self._client.request("POST /v1/sessions/{key}/stop", params={"key": self.key}, body=stop)


class Approvals:
    def __init__(self, client: Client) -> None:
        self._client = client

    def list(self, **query: Any) -> Any:
        return self._client.request("GET /v1/approvals", query=query)

    def show(self, id: str) -> Any:
        return self._client.request("GET /v1/approvals/{id}", params={"id": id})

    def decide(self, id: str, decision: str, **more: Any) -> Any:
        """decision: `approve` or `deny`; `more` has what else the API takes, such as `note`."""
        return self._client.request(
            "POST /v1/approvals/{id}/decision", params={"id": id}, body={"decision": decision, **more}
        )

    def events(self, **query: Any) -> Iterator[Any]:
        """Approvals as they are requested and decided."""
        return self._client.follow("GET /v1/approvals/events", query=query)


def _place_of(
    operation: str, params: Mapping[str, Any] | None, query: Mapping[str, Any] | None, is_feed: bool
) -> tuple[str, str, list[tuple[str, str]]]:
    """Method, path and query. Raises when it is no operation of the API, or would lead to another one."""
    known = OPERATIONS.get(operation)
    if known is None:
        raise TempoClawError("InvalidRequest", f"{operation[:200]} is no operation of the API of this version")
    fields, is_stream = known
    if is_stream is not is_feed:
        raise TempoClawError("InvalidRequest", f"{operation}: use {'follow' if is_stream else 'request'}")
    values = params or {}
    names = re.findall(r"\{(\w+)\}", operation)
    _refuse_unknown(operation, "params", values, names)
    _refuse_unknown(operation, "query", query or {}, fields)
    for name in names:
        if re.fullmatch(r"\.{0,2}", str(values.get(name, ""))):
            raise TempoClawError(
                "InvalidRequest", f"{operation}: {name} is {str(values.get(name, ''))!r}, which names nothing"
            )
    method, path = operation.split(" ", 1)
    path = re.sub(r"\{(\w+)\}", lambda found: quote(str(values[found[1]]), safe=""), path)
    pairs = [
        (name, _text_of(one))
        for name, value in (query or {}).items()
        for one in (value if isinstance(value, (list, tuple)) else [value])
        if one is not None
    ]
    return method, path[1:], pairs


def _refuse_unknown(operation: str, part: str, values: Mapping[str, Any], names: Any) -> None:
    unknown = sorted(set(values) - set(names))
    if unknown:
        known = ", ".join(names) or "none"
        raise TempoClawError("InvalidRequest", f"{operation} has no {unknown[0]} in {part}; it has {known}")


def _text_of(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
