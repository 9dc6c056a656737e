"""Speaks with an agent through OpenAI's client for Python, and prints what it got as one line of JSON."""

import json
import sys

from openai import OpenAI

client = OpenAI(base_url=sys.argv[1], api_key=sys.argv[2], max_retries=0)
tools = [
    {
        "type": "function",
        "function": {
            "name": "get_weather",
            "description": "Weather of a city",
            "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
        },
    }
]

messages = [{"role": "user", "content": 'get_weather {"city":"Oslo"}'}]
first = client.chat.completions.create(model="main", messages=messages, tools=tools)
call = first.choices[0].message.tool_calls[0]
messages.append(first.choices[0].message.model_dump(exclude_none=True))
messages.append({"role": "tool", "tool_call_id": call.id, "content": "12 degrees"})
second = client.chat.completions.create(model="main", messages=messages, tools=tools)

chunks = client.chat.completions.create(
    model="main", messages=[{"role": "user", "content": "In pieces."}], stream=True
)
streamed = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)

response = client.responses.create(model="main", input="One.")
following = client.responses.create(model="main", input="Two.", previous_response_id=response.id)
with client.responses.stream(model="main", input="As events.") as stream:
    types = [event.type for event in stream]
    final = stream.get_final_response().output_text

print(
    json.dumps(
        {
            "models": [model.id for model in client.models.list()],
            "call": [call.function.name, json.loads(call.function.arguments)],
            "result": second.choices[0].message.content,
            "streamed": streamed,
            "responses": [response.output_text, following.output_text, final],
            "last": types[-1],
        }
    )
)
