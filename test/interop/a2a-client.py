"""Gives tasks to an agent through the A2A SDK for Python, and prints what it got as one line of JSON."""

import asyncio
import json
import sys

import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.types.a2a_pb2 import (
    GetTaskRequest,
    ListTasksRequest,
    Message,
    Part,
    Role,
    SendMessageRequest,
    Task,
    TaskState,
)
from google.protobuf.json_format import MessageToDict, ParseDict

url, key, binding = sys.argv[1:4]


def message(number: int, parts: list[Part], task: str = "") -> SendMessageRequest:
    return SendMessageRequest(
        message=Message(message_id=f"{binding}-{number}", task_id=task, role=Role.ROLE_USER, parts=parts)
    )


def text(words: str) -> list[Part]:
    return [Part(text=words)]


async def main() -> None:
    async with httpx.AsyncClient(headers={"Authorization": f"Bearer {key}"}, timeout=60) as http:
        card = await A2ACardResolver(http, url).get_agent_card()

        def client(streaming: bool):
            config = ClientConfig(
                streaming=streaming,
                httpx_client=http,
                supported_protocol_bindings=[binding],
                use_client_preference=True,
            )
            return ClientFactory(config).create(card)

        async def whole(request: SendMessageRequest) -> Task:
            responses = [one async for one in client(streaming=False).send_message(request)]
            return responses[-1].task

        first = await whole(message(1, text("From Python.")))
        kinds, states, streamed = [], [], ""
        lasting = message(2, text('wait {"timeMs":500}\nthen\nIn pieces.'))
        async for one in client(streaming=True).send_message(lasting):
            kinds.append(one.WhichOneof("payload"))
            if one.HasField("status_update"):
                states.append(TaskState.Name(one.status_update.status.state))
            if one.HasField("artifact_update"):
                parts = "".join(part.text for part in one.artifact_update.artifact.parts)
                streamed = streamed + parts if one.artifact_update.append else parts
        asks = await whole(message(3, text(f'poke {{"note":"python-{binding}"}}\nthen\nPoked.')))
        asked = [MessageToDict(part)["data"] for part in asks.status.message.parts if part.HasField("data")]
        answer = ParseDict({"data": {"approval": asked[0]["approval"], "approve": True}}, Part())
        done = await whole(message(4, [answer], asks.id))
        listed = await client(streaming=False).list_tasks(ListTasksRequest(context_id=done.context_id))
        read = await client(streaming=False).get_task(GetTaskRequest(id=first.id))
        print(
            json.dumps(
                {
                    "name": card.name,
                    "first": [TaskState.Name(first.status.state), first.artifacts[0].parts[0].text],
                    "read": [len(read.history), read.artifacts[0].parts[0].text],
                    "kinds": [kinds[0], kinds[-1]],
                    "states": states[-1],
                    "streamed": streamed,
                    "asks": [TaskState.Name(asks.status.state), asked[0]["tool"]],
                    "done": [done.id == asks.id, done.artifacts[0].parts[0].text],
                    "listed": [task.id == done.id for task in listed.tasks],
                }
            )
        )


asyncio.run(main())
