"""peer_litellm.py - the client of litellm; see client.py"""
import litellm

import client
import peer_openai

litellm.telemetry = False
litellm.suppress_debug_info = True


class Peer(peer_openai.Peer):
    def __init__(self, base):
        self.base = base + "/v1"

    def open(self, messages, **more):
        return litellm.acompletion(
            model="openai/m", messages=messages, stream=True, api_key="k",
            api_base=self.base, **more)


if __name__ == "__main__":
    client.run(Peer)
