#!/usr/bin/env python3
"""test_mcp - allm mcp, with a client over pipes"""
import json
import os
import subprocess
import tempfile

from program import ALLM, CLEAN, HOME, PREFIX, allm, equal, fake, holds, main, \
    one_sentence, scripts, text

META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {}}


class Client:
    """A client of the program."""

    def __init__(self, *args, env=None):
        self.child = subprocess.Popen(
            [*PREFIX, ALLM, "mcp", *args], stdin=subprocess.PIPE, cwd=HOME,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env={**CLEAN, **(env or {})})

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
    client.call(4, {"prompt": "x", "model": "groq:m"})
    said = client.hear()["result"]["content"][0]["text"]
    holds(said, "GROQ_API_KEY", "allm keys")
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


def fresh():
    """An environment with a store of its own."""
    return {"ALLM_STORE": "sqlite:" + tempfile.mkdtemp(dir=HOME) + "/s.db"}


def test_sessions():
    """stored sessions are resources; a client reads them as Markdown"""
    env = fresh()
    for name in ("trip", "home:1"):
        equal(allm("-S", name, *text("Fog."), "Weather?", env=env).code, 0)
    client = Client(*text(), env=env)
    holds(client.open()["capabilities"], "resources")
    client.say(id=1, method="resources/list")
    rows = client.hear()["result"]["resources"]
    equal(sorted(row["uri"] for row in rows),
          ["allm://sessions/home:1", "allm://sessions/trip"])
    equal({row["mimeType"] for row in rows}, {"text/markdown"})
    client.say(id=2, method="resources/templates/list")
    equal(client.hear()["result"]["resourceTemplates"][0]["uriTemplate"],
          "allm://sessions/{name}")
    equal(allm("-S", "late", *text("Sun."), "Now?", env=env).code, 0)
    for name, wanted in (("trip", "Weather?"), ("home%3A1", "Weather?"),
                         ("late", "Now?")):
        uri = "allm://sessions/" + name
        client.say(id=3, method="resources/read", params={"uri": uri})
        part, = client.hear()["result"]["contents"]
        equal((part["uri"], part["mimeType"]), (uri, "text/markdown"))
        holds(part["text"], "## User\n\n" + wanted, "## Assistant\n\n")
    for uri in ("allm://sessions/none", "allm://sessions/a b", "file:///x",
                "allm://sessions/", "allm://sessions/%zz"):
        client.say(id=4, method="resources/read", params={"uri": uri})
        assert client.hear()["error"]["message"], uri
    equal(client.end(), (0, b"", b""))


def test_many_sessions():
    """the list of sessions has pages"""
    env = fresh()
    equal(allm("-S", "s0", *text(), "hi", env=env).code, 0)
    for i in range(1, 103):
        equal(allm("sessions", "fork", "s0", f"s{i}", env=env).code, 0)
    client = Client(*text(), env=env)
    client.open()
    names, cursor = set(), {}
    for pages in range(2):
        client.say(id=1, method="resources/list", params=cursor)
        result = client.hear()["result"]
        names |= {row["name"] for row in result["resources"]}
        equal("nextCursor" in result, pages == 0)
        cursor = {"cursor": result.get("nextCursor")}
    equal(names, {f"s{i}" for i in range(103)})
    equal(client.end()[0], 0)


def test_no_store():
    """without a store there are no resources, and none is made"""
    env = {"ALLM_STORE": "sqlite:" + os.path.join(HOME, "none", "s.db")}
    client = Client(*text(), env=env)
    client.open()
    client.say(id=1, method="resources/list")
    equal(client.hear()["result"]["resources"], [])
    client.say(id=2, method="resources/read",
               params={"uri": "allm://sessions/x"})
    assert client.hear()["error"]["message"]
    equal(client.end(), (0, b"", b""))
    assert not os.path.exists(os.path.join(HOME, "none"))


def answer_of(client):
    result = client.hear()["result"]
    return result["content"][0]["text"], result.get("isError", False)


def test_ask_session():
    """ask continues a stored session, which is locked meanwhile"""
    env = fresh()
    one, two = [[["text", words], ["finish", "stop"]]
                for words in ("Fog.", "Rain.")]
    client = Client(*scripts(one, two), env=env)
    client.open()
    client.call(1, {"prompt": "Weather?", "session": "trip",
                    "system": "Be brief."})
    equal(answer_of(client), ("Fog.", False))
    client.call(2, {"prompt": "And now?", "session": "trip"})
    equal(answer_of(client), ("Rain.", False))
    equal(allm("sessions", "show", "trip", env=env).text,
          "system: Be brief.\nuser: Weather?\nassistant: Fog.\n"
          "user: And now?\nassistant: Rain.\n")
    row, = allm("sessions", "list", "--json", env=env).json["sessions"]
    equal((row["model"], row["holder"]), ("fake:m", None))
    for name in ("./trip", "a b", "", "x.json"):
        client.call(3, {"prompt": "x", "session": name})
        words, failed = answer_of(client)
        equal(failed, True)
        holds(words, "session")
    equal(client.end(), (0, b"", b""))


def test_ask_session_cancelled():
    """a cancelled call lets go of its session; another one is refused"""
    env = fresh()
    late = [["sleep", 60000], ["text", "late"], ["finish", "stop"]]
    client = Client(*scripts(late, late, late), env=env)
    client.open()
    client.call(1, {"prompt": "x", "session": "trip"})
    client.call(2, {"prompt": "y", "session": "trip"})
    heard = client.hear()
    equal((heard["id"], heard["result"]["isError"]), (2, True))
    client.say(method="notifications/cancelled", params={"requestId": 1})
    client.say(id=3, method="ping")
    equal(client.hear()["id"], 3)
    run = allm("-S", "trip", *text("Fog."), "hi", env=env)
    equal((run.code, run.text), (0, "Fog.\n"))
    equal(client.end()[:2], (0, b""))


def test_no_reader():
    """the program ends if nobody reads its output"""
    client = Client(*text())
    client.child.stdout.close()
    client.say(id=2, method="ping")
    equal(client.child.wait(timeout=20), 0)
    client.child.stdin.close()
    client.child.stderr.close()


def test_stuck_reader():
    """the program ends after its input, even if its output is never read"""
    client = Client(*text())
    client.open()
    for number in range(500):
        client.say(id=number, method="tools/list")
    client.child.stdin.close()
    equal(client.child.wait(timeout=20), 0)
    client.child.stdout.close()
    client.child.stderr.close()


def test_usage():
    """wrong arguments are refused"""
    one_sentence(allm("mcp", "sevre"), 2, "sevre")
    one_sentence(allm("mcp", "-m", "nothing:m"), 5, "nothing")


if __name__ == "__main__":
    main(globals())
