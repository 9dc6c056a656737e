"""MC-5: the Python SDK of MCP at TempoClaw, over HTTP and over stdio. Prints what it saw as JSON."""

import asyncio
import json
import sys

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client


async def use(server) -> dict:
    progress = []

    async def heard(done, total, message):
        progress.append(message)

    async with Client(server) as client:
        tools = [tool.name for tool in (await client.list_tools()).tools]
        peek = await client.call_tool("peek", {"note": "python"})
        ask = await client.call_tool("ask_main", {"message": 'mark {"note":"python"}'}, progress_callback=heard)
        resources = (await client.list_resources()).resources
        return {
            "tools": tools,
            "peek": peek.content[0].text,
            "ask": ask.content[0].text,
            "progress": progress,
            "resources": len(resources),
        }


async def main() -> None:
    url, key, command, *args = sys.argv[1:]
    async with httpx2.AsyncClient(headers={"authorization": f"Bearer {key}"}, timeout=60) as http:
        over_http = await use(streamable_http_client(url + "/mcp", http_client=http))
    env = {"TEMPOCLAW_URL": url, "TEMPOCLAW_API_KEY": key}
    over_stdio = await use(StdioServerParameters(command=command, args=args, env=env))
    print(json.dumps({"http": over_http, "stdio": over_stdio}))


asyncio.run(main())
