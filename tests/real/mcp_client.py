"""mcp_client - the official Python client, against a server of ours

usage: mcp_client.py PROGRAM [ARG...]

Prints one line of JSON: what the client found, and the results of its calls.
"""
import asyncio
import json
import sys

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client


async def main():
    parameters = StdioServerParameters(command=sys.argv[1], args=sys.argv[2:])
    async with Client(stdio_client(parameters)) as client:
        tools = await client.list_tools()
        total = await client.call_tool("add", {"a": 2, "b": 3})
        wrong = await client.call_tool("add", {"a": "x"})
        print(json.dumps({
            "version": client.protocol_version,
            "tools": [tool.name for tool in tools.tools],
            "sum": total.content[0].text,
            "wrong": wrong.is_error,
        }))

asyncio.run(main())
