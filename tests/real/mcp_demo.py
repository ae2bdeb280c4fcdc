"""mcp_demo - a server of the official Python package, for our client"""
from typing import Annotated

from mcp.server import MCPServer
from mcp.server.mcpserver import Context, Elicit, Resolve
from pydantic import BaseModel

server = MCPServer("demo", instructions="be nice")


class Name(BaseModel):
    """What the form asks for."""
    name: str
    count: int = 3


@server.tool()
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


@server.tool()
async def slow(steps: int, ctx: Context) -> str:
    """Reports its progress."""
    for i in range(steps):
        await ctx.report_progress(i + 1, steps)
    return "done"


def who() -> Elicit[Name]:
    """The question."""
    return Elicit("who?", Name)


@server.tool()
def greet(name: Annotated[Name, Resolve(who)]) -> str:
    """Asks the user for a name."""
    return f"hello {name.name} {name.count}"


@server.resource("demo://one")
def one() -> str:
    """A resource."""
    return "the text"


@server.prompt()
def ask(topic: str) -> str:
    """A prompt."""
    return f"tell me about {topic}"


server.run()
