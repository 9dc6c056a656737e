"""Sends one request at a time to the API: its address, its key, its limits, and what is sent again."""

from __future__ import annotations

import json
import re
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx

from .errors import TempoClawError, refusal

#: Bytes of a refusal that are read.
_MAX_REFUSAL = 256 * 1024
_PAUSE = 0.5
_LONGEST_PAUSE = 5.0
#: Seconds; the server of an event stream sends at least a comment every 15.
_SILENCE = 35
#: What can be sent in a header as it is.
_KEY = re.compile(r"[\x21-\x7e]{1,16384}")


@dataclass(frozen=True)
class Request:
    method: str
    #: Relative to the address of TempoClaw, without a slash at its beginning.
    path: str
    query: list[tuple[str, str]] = field(default_factory=list)
    body: Any = None
    content_type: str = "application/octet-stream"


class Http:
    def __init__(
        self, url: str, api_key: str | Callable[[], str] | None, *, timeout: float, patience: float, max_bytes: int
    ) -> None:
        self._base = _base_of(url)
        self._api_key = api_key
        self.timeout = timeout
        self._patience = patience
        self._max_bytes = max_bytes
        self._has_answered = False
        # A redirect would carry the key elsewhere.
        self._client = httpx.Client(follow_redirects=False, timeout=None)

    def send(self, request: Request, idempotency_key: str | None, timeout: float) -> Any:
        """Sends again what may succeed in a moment and cannot be done twice."""
        headers = {}
        if request.method == "POST":
            headers["idempotency-key"] = _checked_key(idempotency_key or uuid.uuid4().hex)
        until = time.monotonic() + self._patience
        pause = _PAUSE
        while True:
            try:
                return self._once(request, headers, timeout)
            except TempoClawError as error:
                seconds = pause_after(error, request.method, pause)
                # An address that has never answered is more often wrong than away.
                if seconds is None or not self._has_answered or time.monotonic() + seconds > until:
                    raise
            time.sleep(seconds)
            pause = min(pause * 2, _LONGEST_PAUSE)

    def _once(self, request: Request, headers: dict[str, str], timeout: float) -> Any:
        until = time.monotonic() + timeout
        with self._open(request, headers, httpx.Timeout(timeout)) as response:
            body = _read(response, self._max_bytes, until)
            kind = response.headers.get("content-type", "")
            is_file = "content-disposition" in response.headers
        # A file is what it is, whatever its type says of its contents.
        if is_file:
            return body
        # The API answers no requests of programs with pages: this one is of something in front of it, or elsewhere.
        if kind.startswith("text/html"):
            raise TempoClawError("InvalidAnswer", "The answer is a page of HTML", status=response.status_code)
        if not body:
            return None
        if "json" in kind:
            try:
                return json.loads(body)
            except (ValueError, RecursionError):
                raise TempoClawError("InvalidAnswer", "The answer is not JSON") from None
        return body.decode("utf-8", "replace") if kind.startswith("text/") else body

    @contextmanager
    def stream(self, request: Request, after: int | None) -> Iterator[Iterator[str]]:
        """The lines of a stream of events."""
        headers = {"accept": "text/event-stream", **({} if after is None else {"last-event-id": str(after)})}
        with self._open(request, headers, httpx.Timeout(_SILENCE)) as response:
            if not response.headers.get("content-type", "").startswith("text/event-stream"):
                raise TempoClawError("InvalidAnswer", "The answer is no event stream", status=response.status_code)
            yield response.iter_text()

    @contextmanager
    def _open(self, request: Request, headers: dict[str, str], timeout: httpx.Timeout) -> Iterator[httpx.Response]:
        content = None
        sent = {"accept": "application/json", **self._authorization(), **headers}
        if request.body is not None:
            is_bytes = isinstance(request.body, (bytes, bytearray))
            sent["content-type"] = request.content_type if is_bytes else "application/json"
            content = bytes(request.body) if is_bytes else _json_of(request.body)
        url = self._base.join(request.path)
        made = self._client.build_request(
            request.method, url, params=request.query or None, content=content, headers=sent, timeout=timeout
        )
        try:
            response = self._client.send(made, stream=True)
            self._has_answered = True
            try:
                if not response.is_success:
                    body = _read(response, _MAX_REFUSAL, time.monotonic() + 10, is_whole=False)
                    raise refusal(response.status_code, response.headers, body)
                yield response
            finally:
                response.close()
        except httpx.TimeoutException:
            raise TempoClawError("TimedOut", f"{self._origin} did not answer in time") from None
        except (httpx.TransportError, httpx.StreamError) as error:
            raise TempoClawError("Unreachable", f"{self._origin} does not answer: {type(error).__name__}") from None

    def _authorization(self) -> dict[str, str]:
        key = self._api_key() if callable(self._api_key) else self._api_key
        if key is None:
            return {}
        if not _KEY.fullmatch(key):
            raise TempoClawError("InvalidRequest", "The API key is empty, or has spaces or line breaks")
        return {"authorization": f"Bearer {key}"}

    @property
    def _origin(self) -> str:
        return f"{self._base.scheme}://{self._base.netloc.decode()}"

    def close(self) -> None:
        self._client.close()


def _read(response: httpx.Response, limit: int, until: float, is_whole: bool = True) -> bytes:
    body = bytearray()
    for chunk in response.iter_bytes():
        body += chunk
        if len(body) > limit:
            if not is_whole:
                break
            raise TempoClawError(
                "TooLargeAnswer", f"The answer has more than {limit} bytes", status=response.status_code
            )
        if time.monotonic() > until:
            raise TempoClawError("TimedOut", "The answer did not end in time")
    return bytes(body)


def _base_of(url: str) -> httpx.URL:
    try:
        base = httpx.URL(url)
    except (httpx.InvalidURL, TypeError):
        raise TempoClawError("InvalidRequest", f"url: {str(url)[:200]!r} is no address") from None
    if base.scheme not in ("http", "https") or not base.host:
        raise TempoClawError("InvalidRequest", "url: it begins with https:// or http://")
    if base.userinfo:
        raise TempoClawError("InvalidRequest", "url: it contains a password; use api_key")
    # An address without a slash at its end would lose its last part.
    return base.copy_with(path=base.path.rstrip("/") + "/", query=None, fragment=None)


def _json_of(body: Any) -> bytes:
    try:
        return json.dumps(body, ensure_ascii=True, allow_nan=False).encode()
    except (TypeError, ValueError) as error:
        raise TempoClawError("InvalidRequest", f"body: it cannot be sent as JSON: {error}") from None


def _checked_key(key: str) -> str:
    if not re.fullmatch(r"[\x20-\x7e]{1,255}", key):
        raise TempoClawError("InvalidRequest", "idempotency_key: it has 1 to 255 printable characters of ASCII")
    return key


def pause_after(error: TempoClawError, method: str, pause: float) -> float | None:
    """Seconds after which the same may succeed; None where it would not, or might be done twice."""
    seconds = error.retry_after or pause
    # A caller that sends `mode: reject` asks for this answer.
    if error.code == "SessionBusy":
        return None
    retryable = error.problem.get("retryable")
    if isinstance(retryable, bool):
        return seconds if retryable else None
    if error.status == 429:
        return seconds
    passes = error.code == "Unreachable" or error.status in (502, 503, 504)
    return seconds if passes and method != "PATCH" else None
