"""Serves the tools of a folder; `npx tempoclaw tools serve` starts it.

`python -m tempoclaw.host describe FOLDER` prints its tools as JSON. `serve FOLDER` does the same, reads one line of JSON
with where to serve them, and ends when its input does. Lines of JSON on stdout say what has happened; what tools print
goes to stderr.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import signal
import sys
import threading
import time
from datetime import timedelta
from pathlib import Path
from typing import Any, TextIO

from temporalio.client import Client
from temporalio.service import TLSConfig
from temporalio.worker import Worker

from . import _wire as wire
from .load import load_tools
from .run import Activities

#: Seconds after which a process that does not end is ended, beside those that its tools have.
_PATIENCE = 10


def take_stdout() -> TextIO:
    """The program that started this one reads it; what tools print is no part of that."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1)
    sys.stdout.flush()
    os.dup2(2, 1)
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    return out


def take_stdin() -> TextIO:
    """Programs that tools start would otherwise read it."""
    lines = os.fdopen(os.dup(0), encoding="utf-8")
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    return lines


def send(out: TextIO, news: dict[str, Any]) -> None:
    out.write(json.dumps(news) + "\n")
    out.flush()


async def connect(temporal: dict[str, Any]) -> Client:
    tls = temporal.get("tls")
    if isinstance(tls, dict):
        files = {name: base64.b64decode(tls[name]) for name in ("ca", "cert", "key") if name in tls}
        tls = TLSConfig(
            server_root_ca_cert=files.get("ca"),
            client_cert=files.get("cert"),
            client_private_key=files.get("key"),
            domain=tls.get("domain"),
        )
    return await Client.connect(
        temporal["address"],
        namespace=temporal["namespace"],
        api_key=temporal.get("api_key"),
        rpc_metadata=temporal.get("metadata", {}),
        tls=tls,
    )


async def serve(folder_tools: dict[str, Any], target: dict[str, Any], lines: TextIO, out: TextIO) -> None:
    """Returns when `lines` has ended, and what ran has ended or was cut off."""
    client = await connect(target["temporal"])
    activities = Activities(folder_tools, base64.b64decode(target["seal_key"]))
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()

    def wait_for_end() -> None:
        while lines.read(4096):
            pass
        loop.call_soon_threadsafe(stop.set)
        time.sleep(wire.DRAIN_SECONDS + _PATIENCE)
        os._exit(1)

    threading.Thread(target=wait_for_end, daemon=True).start()
    loop.add_signal_handler(signal.SIGTERM, stop.set)
    work = {"runs": activities.run, "probes": activities.probe}
    workers = [
        Worker(
            client,
            task_queue=target["queues"][queue],
            activities=[one],
            max_concurrent_activities=wire.AT_ONCE,
            graceful_shutdown_timeout=timedelta(seconds=wire.DRAIN_SECONDS),
        )
        for queue, one in work.items()
    ]
    running = [asyncio.create_task(worker.run()) for worker in workers]
    stopped = asyncio.create_task(stop.wait())
    send(out, {"ready": True})
    done, _ = await asyncio.wait({*running, stopped}, return_when=asyncio.FIRST_COMPLETED)
    if stopped in done:
        await asyncio.gather(*(worker.shutdown() for worker in workers))
    await asyncio.gather(*running)


def main(mode: str, folder: str) -> None:
    out = take_stdout()
    lines = take_stdin()
    # Ctrl-C of the terminal reaches the program that started this one, which ends it in its order.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    tools, description = load_tools(Path(folder))
    send(out, description)
    if mode != "serve":
        return
    target = lines.readline()
    if not target:
        return
    try:
        asyncio.run(serve(tools, json.loads(target), lines, out))
    except Exception as error:
        print(f"The Python tools cannot be served: {error}", file=sys.stderr, flush=True)
        os._exit(1)
    # Threads of tools that do not end must not keep the process alive.
    sys.stderr.flush()
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
