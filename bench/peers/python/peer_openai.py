"""peer_openai.py - the client of openai; see client.py"""
import json

from openai import AsyncOpenAI

import client

TOOL = {"type": "function", "function": {
    "name": "note", "description": "keeps a note", "parameters": {
        "type": "object", "properties": {"text": {"type": "string"}}}}}


class Peer:
    def __init__(self, base):
        self.openai = AsyncOpenAI(api_key="k", base_url=base + "/v1")

    def open(self, messages, **more):
        return self.openai.chat.completions.create(
            model="m", messages=messages, stream=True, **more)

    def convert(self, message):
        return {"role": message[0], "content": message[1]}

    async def read(self, messages):
        if isinstance(messages[0], tuple):
            messages = [self.convert(m) for m in messages]
        return (await self.collect(messages))[0]

    async def collect(self, messages, **more):
        n, text, calls = 0, [], {}
        async for chunk in await self.open(messages, **more):
            delta = chunk.choices[0].delta
            if delta.content:
                n += 1
                text.append(delta.content)
            for call in delta.tool_calls or []:
                kept = calls.setdefault(call.index, [call.id, []])
                if call.function.arguments:
                    n += 1
                    kept[1].append(call.function.arguments)
        return n, "".join(text), [(i, "".join(a)) for i, a in calls.values()]

    async def tools(self):
        messages, events = [{"role": "user", "content": "hi"}], 0
        while True:
            n, _, calls = await self.collect(messages, tools=[TOOL])
            events += n
            if not calls:
                return events
            messages.append({"role": "assistant", "tool_calls": [
                {"id": i, "type": "function",
                 "function": {"name": "note", "arguments": a}}
                for i, a in calls]})
            for i, a in calls:
                json.loads(a)
                messages.append({"role": "tool", "tool_call_id": i,
                                 "content": "fine"})

    async def hold(self):
        stream = await self.open([{"role": "user", "content": "hi"}])
        await stream.__anext__()
        return stream

    async def first(self):
        async for chunk in await self.open([{"role": "user",
                                             "content": "hi"}]):
            if chunk.choices[0].delta.content:
                client.say("first")


if __name__ == "__main__":
    client.run(Peer)
