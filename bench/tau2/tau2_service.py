"""The tools of a domain of τ² as an HTTP service on the loopback address, with a database for each task.

`python tau2_service.py DOMAIN DELAY_MS` prints its port. It ends with the process that has started it.

A write takes effect as often as it is asked for: nothing here looks whether a call has happened before. The service keeps
the results of calls under their `Idempotency-Key`, as a shop keeps an order under its customer's reference, and can be asked
for them. It waits up to DELAY_MS at random before a write takes effect, and again before it answers.

  GET  /tools                  name, requestor, whether it writes, description and JSON Schema of each tool
  GET  /tasks                  id and expected calls of each task that has some
  POST /tasks/ID/calls/NAME    makes a call; the body has its arguments. Answers {"text"}
  GET  /tasks/ID/calls/KEY     {"text"} of the last write with this key; 404 when there was none
  POST /tasks/ID/end           compares the database with gold, and forgets the task
"""

from __future__ import annotations

import importlib
import json
import os
import random
import sys
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote

from loguru import logger
from pydantic import ValidationError

MAX_BODY = 1_000_000

# τ² logs each call.
logger.disable("tau2")


class Running:
    """A task that has begun: its database, and the writes that were made, in their order."""

    def __init__(self, domain: Domain, task: Any) -> None:
        self.lock = threading.Lock()
        self.environment = domain.new_environment(task)
        self.writes: list[tuple[str, str, str]] = []
        self.asked: Counter[str] = Counter()


class Domain:
    def __init__(self, name: str, delay_ms: float) -> None:
        self.module = importlib.import_module(f"tau2.domains.{name}.environment")
        self.delay_s = delay_ms / 1000
        self.guard = threading.Lock()
        self.running: dict[str, Running] = {}
        self.example = self.module.get_environment()
        self.tasks: dict[str, Any] = {}
        for number, task in enumerate(self.module.get_tasks()):
            if task.evaluation_criteria and task.evaluation_criteria.actions:
                self.tasks[f"{name}-{number}"] = task
        self.parameters = {
            name: tool.params for kit in (self.example.tools, self.example.user_tools) if kit for name, tool in kit.get_tools().items()
        }
        self.requestors = {tool["name"]: tool["requestor"] for tool in self.tools()}
        self.writing = {tool["name"] for tool in self.tools() if tool["writes"]}

    def tools(self) -> list[dict[str, Any]]:
        listed = []
        for requestor, kit in (("assistant", self.example.tools), ("user", self.example.user_tools)):
            for name, tool in (kit.get_tools() if kit else {}).items():
                schema = tool.params.model_json_schema()
                for field, one in schema.get("properties", {}).items():
                    one.setdefault("description", field)
                description = tool.short_desc or tool.long_desc or name
                writes = kit.tool_type(name).value == "write"
                listed.append({"name": name, "requestor": requestor, "writes": writes, "description": description, "schema": schema})
        return listed

    def expected(self) -> list[dict[str, Any]]:
        return [
            {"id": key, "calls": [{"name": one.name, "arguments": one.arguments} for one in task.evaluation_criteria.actions]}
            for key, task in self.tasks.items()
        ]

    def new_environment(self, task: Any) -> Any:
        """As τ²'s evaluator begins the database that it calls gold."""
        made = self.module.get_environment()
        start = task.initial_state
        made.set_state(
            initialization_data=start.initialization_data if start else None,
            initialization_actions=start.initialization_actions if start else None,
            message_history=(start.message_history if start else None) or [],
        )
        return made

    def act(self, environment: Any, name: str, requestor: str, arguments: dict[str, Any]) -> str:
        """As τ²'s evaluator makes the calls of gold. An error is an answer too."""
        try:
            return environment.to_json_str(environment.make_tool_call(name, requestor=requestor, **arguments))
        except Exception as error:
            return f"Error: {error}"

    def task_of(self, key: str) -> Running:
        with self.guard:
            if key not in self.running:
                self.running[key] = Running(self, self.tasks[key])
            return self.running[key]

    def call(self, task: str, name: str, key: str, arguments: dict[str, Any]) -> str:
        running = self.task_of(task)
        # As τ² declares them: JavaScript sends 2.0 as 2.
        arguments = self.parameters[name].model_validate(arguments).model_dump(exclude_unset=True, mode="json")
        writes = name in self.writing
        if writes:
            time.sleep(random.random() * self.delay_s)
        with running.lock:
            text = self.act(running.environment, name, self.requestors[name], arguments)
            if writes:
                running.writes.append((key, name, text))
        if writes:
            time.sleep(random.random() * self.delay_s)
        return text

    def find(self, task: str, key: str) -> str | None:
        running = self.task_of(task)
        with running.lock:
            found = next((text for one, _, text in reversed(running.writes) if one == key), None)
            running.asked["found" if found is not None else "not_found"] += 1
            return found

    def end(self, key: str) -> dict[str, Any]:
        running, task = self.task_of(key), self.tasks[key]
        gold = self.new_environment(task)
        actions = task.evaluation_criteria.actions
        texts = [self.act(gold, one.name, one.requestor, one.arguments) for one in actions]
        expected = Counter(one.name for one in actions if one.name in self.writing)
        with running.lock:
            ours = running.environment
            equal = (ours.get_db_hash(), ours.get_user_db_hash()) == (gold.get_db_hash(), gold.get_user_db_hash())
            keys = {one: name for one, name, _ in running.writes}
            lost = expected - Counter(keys.values())
            made = len(running.writes)
        with self.guard:
            self.running.pop(key)
        return {
            "equal": equal,
            "texts": texts,
            "expected": expected.total(),
            "doubled": made - len(keys),
            "lost": lost.total(),
            "found": running.asked["found"],
            "not_found": running.asked["not_found"],
        }


def handler_of(domain: Domain) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            match self.path_parts():
                case ["tools"]:
                    self.answer(200, domain.tools())
                case ["tasks"]:
                    self.answer(200, domain.expected())
                case ["tasks", task, "calls", key] if task in domain.tasks:
                    text = domain.find(task, key)
                    self.answer(404 if text is None else 200, {"text": text})
                case _:
                    self.answer(404, {"error": "there is nothing at this address"})

        def do_POST(self) -> None:
            length = int(self.headers.get("content-length") or 0)
            if length > MAX_BODY:
                return self.answer(413, {"error": f"the body has more than {MAX_BODY} bytes"})
            arguments = json.loads(self.rfile.read(length) or b"{}")
            match self.path_parts():
                case ["tasks", task, "calls", name] if task in domain.tasks and name in domain.requestors:
                    try:
                        text = domain.call(task, name, self.headers.get("idempotency-key") or "", arguments)
                    except ValidationError as error:
                        return self.answer(400, {"error": str(error)})
                    self.answer(200, {"text": text})
                case ["tasks", task, "end"] if task in domain.tasks:
                    self.answer(200, domain.end(task))
                case _:
                    self.answer(404, {"error": "there is nothing at this address"})

        def path_parts(self) -> list[str]:
            return [unquote(part) for part in self.path.strip("/").split("/")]

        def answer(self, status: int, value: Any) -> None:
            body = json.dumps(value, default=str).encode()
            try:
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
            except ConnectionError:
                # Its caller was killed.
                self.close_connection = True

        def log_message(self, *_: Any) -> None:
            pass

    return Handler


def end_with_parent() -> None:
    parent = os.getppid()
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(0)


if __name__ == "__main__":
    threading.Thread(target=end_with_parent, daemon=True).start()
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler_of(Domain(sys.argv[1], float(sys.argv[2]))))
    server.daemon_threads = True
    print(f"port {server.server_port}", flush=True)
    server.serve_forever()
