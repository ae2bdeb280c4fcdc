"""peer_pydantic_ai.py - the client of pydantic-ai; see client.py"""
from pydantic_ai import Agent, direct
from pydantic_ai.messages import (ModelRequest, ModelResponse, PartDeltaEvent,
                                  PartStartEvent, TextPart, UserPromptPart)
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

import client


def note(text: str) -> str:
    """keeps a note"""
    return "fine"


class Peer:
    def __init__(self, base):
        self.model = OpenAIChatModel("m", provider=OpenAIProvider(
            base_url=base + "/v1", api_key="k"))
        self.agent = Agent(self.model, tools=[note])

    def convert(self, message):
        if message[0] == "user":
            return ModelRequest(parts=[UserPromptPart(message[1])])
        return ModelResponse(parts=[TextPart(message[1])])

    def open(self, messages):
        return direct.model_request_stream(
            self.model, messages,
            model_request_parameters=ModelRequestParameters())

    async def read(self, messages):
        if isinstance(messages[0], tuple):
            messages = [self.convert(m) for m in messages]
        n = 0
        async with self.open(messages) as stream:
            async for event in stream:
                n += isinstance(event, (PartStartEvent, PartDeltaEvent))
            stream.get()
        return n

    async def tools(self):
        n = 0
        async with self.agent.iter("hi") as run:
            async for node in run:
                if not Agent.is_model_request_node(node):
                    continue
                async with node.stream(run.ctx) as stream:
                    async for event in stream:
                        n += isinstance(event, (PartStartEvent,
                                                PartDeltaEvent))
        return n

    async def hold(self):
        context = self.open([self.convert(("user", "hi"))])
        stream = await context.__aenter__()
        async for event in stream:
            if isinstance(event, (PartStartEvent, PartDeltaEvent)):
                return context, stream

    async def first(self):
        async with self.open([self.convert(("user", "hi"))]) as stream:
            async for event in stream:
                if isinstance(event, PartStartEvent):
                    client.say("first")


if __name__ == "__main__":
    client.run(Peer)
