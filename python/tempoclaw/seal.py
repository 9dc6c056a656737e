"""Seals what goes through Temporal, as domain/payload-seal.ts does: AES-GCM, with 12 random bytes before it."""

from __future__ import annotations

import json
import os
import re
from typing import Any

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

_IV_BYTES = 12
_SURROGATE = re.compile("[\ud800-\udfff]")


def json_text(value: Any) -> str:
    """The JSON that JavaScript writes: compact, and with half characters as escapes. Numbers are integers."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    # Two halves beside each other are one character.
    joined = text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
    return _SURROGATE.sub(lambda half: f"\\u{ord(half.group()):04x}", joined)


def seal_payload(key: bytes, place: str, value: Any, iv: bytes | None = None) -> bytes:
    """`place` says what it is and for which work, so that none can replace another."""
    iv = iv or os.urandom(_IV_BYTES)
    return iv + AESGCM(key).encrypt(iv, json_text(value).encode(), place.encode())


def open_payload(key: bytes, place: str, sealed: bytes) -> Any:
    """Raises an exception when it is sealed under another key, or for another place."""
    text = AESGCM(key).decrypt(sealed[:_IV_BYTES], sealed[_IV_BYTES:], place.encode())
    return json.loads(text)
