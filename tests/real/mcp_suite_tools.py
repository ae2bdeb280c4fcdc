#!/usr/bin/env python3
"""mcp_suite_tools - the tools that the conformance suite wants of a server

An MCP server over pipes, of the revision 2025-11-25.
"""
import json
import sys

PNG = ("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwAD"
       "hgGAWjR9awAAAABJRU5ErkJggg==")
TEXT = {"type": "text", "text": "This is a simple text response for testing."}
IMAGE = {"type": "image", "data": PNG, "mimeType": "image/png"}
RESOURCE = {"type": "resource", "resource": {
    "uri": "test://embedded-resource", "mimeType": "text/plain",
    "text": "This is an embedded resource content."}}
RESULTS = {
    "test_simple_text": {"content": [TEXT]},
    "test_image_content": {"content": [IMAGE]},
    "test_audio_content": {"content": [
        {"type": "audio", "data": "UklGRiQ=", "mimeType": "audio/wav"}]},
    "test_embedded_resource": {"content": [RESOURCE]},
    "test_multiple_content_types": {"content": [TEXT, IMAGE, RESOURCE]},
    "test_tool_with_progress": {"content": [TEXT]},
    "test_error_handling": {"isError": True, "content": [
        {"type": "text", "text": "This tool intentionally fails."}]},
    "json_schema_2020_12_tool": {"content": [TEXT]},
}
SCHEMAS = {"json_schema_2020_12_tool": {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {"address": {"type": "object", "properties": {
        "street": {"type": "string"}, "city": {"type": "string"}}}},
    "properties": {"name": {"type": "string"},
                   "address": {"$ref": "#/$defs/address"}},
    "additionalProperties": False}}


def say(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def call(params):
    """The result of a call, after its progress."""
    token = params.get("_meta", {}).get("progressToken")
    if params["name"] == "test_tool_with_progress" and token is not None:
        for progress in (0, 50, 100):
            say(method="notifications/progress", params={
                "progressToken": token, "progress": progress, "total": 100})
    return RESULTS[params["name"]]


def answer(method, params):
    if method == "initialize":
        return {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                "serverInfo": {"name": "suite", "version": "1"}}
    if method == "tools/list":
        return {"tools": [
            {"name": name, "description": f"The tool {name}.",
             "inputSchema": SCHEMAS.get(name, {"type": "object"})}
            for name in RESULTS]}
    return call(params) if method == "tools/call" else None


for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    found = answer(asked["method"], asked.get("params") or {})
    if found is None:
        say(id=asked["id"], error={"code": -32601, "message": "no"})
    else:
        say(id=asked["id"], result=found)
