#!/usr/bin/env python3
"""test_mcp - allm mcp, with a client over pipes"""
import json
import subprocess

from program import ALLM, CLEAN, HOME, PREFIX, allm, equal, fake, holds, main, \
    one_sentence, scripts, text

META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {}}


class Client:
    """A client of the program."""

    def __init__(self, *args):
        self.child = subprocess.Popen(
            [*PREFIX, ALLM, "mcp", *args], stdin=subprocess.PIPE, cwd=HOME,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=CLEAN)

    def say(self, **message):
        line = json.dumps({"jsonrpc": "2.0", **message}) + "\n"
        self.child.stdin.write(line.encode())
        self.child.stdin.flush()

    def hear(self):
        """The next message."""
        return json.loads(self.child.stdout.readline())

    def open(self):
        self.say(id=0, method="initialize",
                 params={"protocolVersion": "2025-06-18", "capabilities": {}})
        return self.hear()["result"]

    def call(self, number, arguments, meta=None):
        self.say(id=number, method="tools/call",
                 params={"name": "ask", "arguments": arguments,
                         **({"_meta": meta} if meta else {})})

    def end(self):
        """Close the input.  The exit code and what is left of the output."""
        out, err = self.child.communicate(timeout=20)
        return self.child.returncode, out, err


def test_legacy():
    """a legacy client asks a model, and sees its progress"""
    client = Client(*text("Fog."))
    greeting = client.open()
    equal(greeting["protocolVersion"], "2025-06-18")
    equal(greeting["serverInfo"]["name"], "allm")
    client.say(id=1, method="tools/list")
    equal([tool["name"] for tool in client.hear()["result"]["tools"]], ["ask"])
    client.call(2, {"prompt": "Weather?"}, {"progressToken": "t"})
    heard = client.hear()
    equal((heard["method"], heard["params"]["progressToken"]),
          ("notifications/progress", "t"))
    equal(client.hear()["result"]["content"],
          [{"type": "text", "text": "Fog."}])
    equal(client.end(), (0, b"", b""))


def test_modern():
    """a modern client needs no handshake"""
    client = Client("serve", *text("Fog."))
    client.say(id=1, method="server/discover", params={"_meta": META})
    holds(client.hear()["result"]["supportedVersions"], "2026-07-28")
    client.call(2, {"prompt": "Weather?"}, META)
    equal(client.hear()["result"]["content"][0]["text"], "Fog.")
    equal(client.end()[0], 0)


def test_failures():
    """a call that fails is the tool's failure, and the server goes on"""
    client = Client(*fake(["error", "rate_limited"]))
    client.open()
    client.call(1, {})
    heard = client.hear()["result"]
    equal(heard["isError"], True)
    holds(heard["content"][0]["text"], "prompt")
    client.call(2, {"prompt": "x", "model": "nothing:m"})
    heard = client.hear()["result"]
    equal(heard["isError"], True)
    client.call(3, {"prompt": "x"})
    heard = client.hear()["result"]
    equal(heard["isError"], True)
    equal(client.end()[0], 0)


def test_cancel():
    """a cancelled call ends, others go on; the end of the input ends all"""
    late = [["sleep", 60000], ["text", "late"], ["finish", "stop"]]
    client = Client(*scripts(late, late))
    client.open()
    client.call(1, {"prompt": "x"})
    client.say(method="notifications/cancelled", params={"requestId": 1})
    client.say(id=2, method="ping")
    equal(client.hear(), {"jsonrpc": "2.0", "id": 2, "result": {}})
    client.call(3, {"prompt": "x"})
    equal(client.end(), (0, b"", b""))


def test_no_reader():
    """the program ends if nobody reads its output"""
    client = Client(*text())
    client.child.stdout.close()
    client.say(id=2, method="ping")
    equal(client.child.wait(timeout=20), 0)
    client.child.stdin.close()
    client.child.stderr.close()


def test_usage():
    """wrong arguments are refused"""
    one_sentence(allm("mcp", "sevre"), 2, "sevre")
    one_sentence(allm("mcp", "-m", "nothing:m"), 5, "nothing")


if __name__ == "__main__":
    main(globals())
