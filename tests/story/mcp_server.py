#!/usr/bin/env python3
"""mcp_server - a small MCP server over pipes, of the revision 2025-06-18

Its tools: add(a, b), env(name), ask(), which asks the client's user for a name
and a size, or with the form in $FORM, crash(), sum(list), which reports its
progress and has a schema for its result, and draw(), whose result is an image.
A line for each start is appended to $STARTS.
"""
import json
import os
import sys

TOOLS = [
    {"name": "add", "description": "Adds.", "inputSchema": {
        "type": "object", "properties": {"a": {"type": "number"},
                                         "b": {"type": "number"}},
        "required": ["a", "b"]}},
    {"name": "env", "description": "A variable.", "inputSchema": {
        "type": "object", "properties": {"name": {"type": "string"}}}},
    {"name": "ask", "description": "Asks.", "inputSchema": {"type": "object"}},
    {"name": "crash", "description": "Ends.",
     "inputSchema": {"type": "object"}},
    {"name": "sum", "description": "Adds up.", "inputSchema": {
        "type": "object", "properties": {"list": {"type": "array"}}},
     "outputSchema": {
         "type": "object", "properties": {"sum": {"type": "number"}},
         "required": ["sum"]}},
    {"name": "draw", "description": "A dot.",
     "inputSchema": {"type": "object"}},
]
PNG = ("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwAD"
       "hgGAWjR9awAAAABJRU5ErkJggg==")
FORM = json.loads(os.environ.get("FORM", "null")) or {
    "type": "object", "properties": {
        "name": {"type": "string", "title": "Name"},
        "size": {"type": "string", "enum": ["small", "large"]}},
    "required": ["name"]}


def say(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def text(words):
    return {"content": [{"type": "text", "text": words}]}


def elicit():
    """Ask the client's user."""
    say(id="e1", method="elicitation/create",
        params={"message": "Who are you?", "requestedSchema": FORM})
    for line in sys.stdin:
        message = json.loads(line)
        if message.get("id") == "e1":
            return message.get("result", message.get("error"))
    return None


def add_up(numbers, token):
    """The sum; each number is progress."""
    for i, number in enumerate(numbers if token is not None else []):
        say(method="notifications/progress",
            params={"progressToken": token, "progress": i + 1,
                    "total": len(numbers), "message": f"adding {number}"})
    return {**text("a sum"), "structuredContent": {"sum": sum(numbers)}}


def call(name, arguments, token):
    if name == "sum":
        return add_up(arguments["list"], token)
    if name == "add":
        return text(str(arguments["a"] + arguments["b"]))
    if name == "env":
        return text(os.environ.get(arguments["name"], "(none)"))
    if name == "ask":
        return text(json.dumps(elicit(), sort_keys=True))
    if name == "draw":
        return {"content": [
            {"type": "text", "text": "a dot"},
            {"type": "image", "data": PNG, "mimeType": "image/png"},
            {"type": "resource_link", "uri": "story://one", "name": "one"}]}
    if name == "crash":
        os._exit(3)
    return {**text("no such tool"), "isError": True}


def answer(method, params):
    if method == "initialize":
        return {"protocolVersion": "2025-06-18",
                "capabilities": {"tools": {}, "prompts": {}, "resources": {}},
                "serverInfo": {"name": "story", "version": "1"}}
    if method == "tools/list":
        return {"tools": TOOLS}
    if method == "tools/call":
        return call(params["name"], params.get("arguments", {}),
                    params.get("_meta", {}).get("progressToken"))
    if method == "prompts/list":
        return {"prompts": [{"name": "greet", "arguments": [{"name": "who"}]}]}
    if method == "prompts/get":
        who = params.get("arguments", {}).get("who", "nobody")
        return {"messages": [{"role": "user", "content": {
            "type": "text", "text": f"Greet {who} for $5."}}]}
    if method == "resources/list":
        return {"resources": [{"uri": "story://one", "name": "one"}]}
    if method == "resources/read":
        return {"contents": [{"uri": params["uri"], "text": "once upon"}]}
    return {} if method == "ping" else None


def main():
    if os.environ.get("STARTS"):
        with open(os.environ["STARTS"], "a", encoding="utf-8") as out:
            out.write("start\n")
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message or "method" not in message:
            continue
        result = answer(message["method"], message.get("params") or {})
        if result is None:
            say(id=message["id"],
                error={"code": -32601, "message": "no such method"})
        else:
            say(id=message["id"], result=result)


if __name__ == "__main__":
    main()
