"""peer_anthropic.py - the client of anthropic; see client.py

It reads the same texts in Anthropic's format.
"""
from anthropic import AsyncAnthropic

import client

TOOL = {"name": "note", "description": "keeps a note", "input_schema": {
    "type": "object", "properties": {"text": {"type": "string"}}}}
HI = [{"role": "user", "content": "hi"}]


class Peer:
    def __init__(self, base):
        self.anthropic = AsyncAnthropic(api_key="k", base_url=base)

    def open(self, messages, **more):
        return self.anthropic.messages.stream(
            model="m", max_tokens=1000, messages=messages, **more)

    def convert(self, message):
        return {"role": message[0], "content": message[1]}

    async def read(self, messages):
        if isinstance(messages[0], tuple):
            messages = [self.convert(m) for m in messages]
        return (await self.collect(messages))[0]

    async def collect(self, messages, **more):
        n = 0
        async with self.open(messages, **more) as stream:
            async for event in stream:
                n += event.type == "content_block_delta"
            return n, await stream.get_final_message()

    async def tools(self):
        messages, events = list(HI), 0
        while True:
            n, message = await self.collect(messages, tools=[TOOL])
            events += n
            calls = [b for b in message.content if b.type == "tool_use"]
            if not calls:
                return events
            messages.append({"role": "assistant", "content": message.content})
            messages.append({"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": c.id,
                 "content": "fine"} for c in calls]})

    async def hold(self):
        stream = await self.open(HI).__aenter__()
        async for event in stream:
            if event.type == "content_block_delta":
                return stream

    async def first(self):
        async with self.open(HI) as stream:
            async for event in stream:
                if event.type == "content_block_delta":
                    client.say("first")


if __name__ == "__main__":
    client.run(Peer)
