#!/usr/bin/env python3
"""test_commands - models, keys, doctor, replay, demo and chat, in pipes and in
a terminal"""
import hashlib
import http.server
import json
import os
import socket
import tempfile
import threading
import time

from place import Place, Serving
from program import (HOME, SOURCE, Terminal, allm, equal, file, holds, main,
                     one_sentence)

SSE = ('data: {"choices":[{"index":0,"delta":{"content":"played"}}]}\n\n'
       'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'
       'data: [DONE]\n\n')
TWO = json.dumps({"scripts": [
    [["text", "one"], ["usage", {"input_tokens": 3, "output_tokens": 2}],
     ["finish", "stop"]],
    [["text", "two"], ["finish", "stop"]]]})


def recording(url="https://api.groq.com/openai/v1/chat/completions", body=None,
              status=200, text=SSE):
    request = {"method": "POST", "url": url}
    if body:
        request["body"] = body
    rows = [{"allm_recording": 1}, {"request": request},
            {"answer": {"status": status, "headers": []}},
            {"text": text}, {"end": "complete"}]
    return "".join(json.dumps(row) + "\n" for row in rows)


# ------------------------------------------------------------------ lists


def test_models():
    """models lists the catalog; arguments filter it"""
    holds(allm("models").text, "openai:gpt-5", "anthropic:")
    for line in allm("models", "openai", "mini").text.splitlines():
        holds(line, "openai", "mini")
    assert allm("models", "--json").json[0]["pricing"], "pricing"
    run = allm("models", "nosuchmodel")
    equal((run.code, run.out), (0, b""))
    holds(run.said, "no such model")


def test_models_table():
    """columns never touch in a thousand rows, and a note has the date"""
    run = allm("models")
    lines = run.text.splitlines()
    assert len(lines) > 1000, len(lines)
    name = max(len(line.split()[0]) for line in lines)
    for line in lines:
        assert line == line.rstrip(), line
        assert line[name:name + 2].strip() == "", line
    day = json.load(open(os.path.join(SOURCE, "data", "catalog.json")))
    holds(run.said, f"{len(lines)} models", "as of " + day["updated"])


def test_models_filters():
    """--provider, --can and arguments filter the list"""
    lines = allm("models", "--provider", "xai").text.splitlines()
    assert lines and all(line.startswith("xai:") for line in lines)
    rows = allm("models", "--provider", "openai", "--can", "tools,vision",
                "--json", "gpt").json
    assert rows
    for row in rows:
        equal((row["provider"], row["capabilities"]["vision"],
               row["capabilities"]["tools"]["enabled"]),
              ("openai", True, True))
        holds(row["id"], "gpt")
    for line in allm("models", "--can", "embedding").text.splitlines():
        holds(line, " embedding")
    equal(allm("models", "--provider", "xai", "--can", "embedding").out, b"")


def test_models_filter_typos():
    """a filter that no model can match is rejected, also with --json"""
    for more in [], ["--json"]:
        run = allm("models", "--can", "tools,visoin", *more)
        one_sentence(run, 2, '"visoin"', "vision", "embedding")
        run = allm("models", "--provider", "antropic", *more)
        equal((run.code, run.out), (2, b""))
        holds(run.said, 'did you mean "anthropic"')
    own = json.dumps({"models": [{"provider": "mine", "id": "m",
                                  "capabilities": {"flying": True}}]})
    run = allm("models", "--provider", "mine", "--can", "flying",
               env={"ALLM_CATALOG": file("mine.json", own)})
    holds(run.text, "mine:m")


def test_models_own():
    """the user's catalog file overrides the built-in one"""
    own = json.dumps({"updated": "2020-01-01", "models": [
        {"provider": "openai", "id": "gpt-4o", "pricing": {"input": 77,
                                                          "output": 88}},
        {"provider": "vllm", "id": "mine", "limits": {"context": 4096}}]})
    env = {"ALLM_CATALOG": file("own.json", own)}
    run = allm("models", "gpt-4o", "--provider", "openai", env=env)
    lines = [line.split() for line in run.text.splitlines()]
    equal([line for line in lines if line[0] == "openai:gpt-4o"],
          [["openai:gpt-4o", "$77/$88"]])
    holds(run.said, "as of 2020-01-01")
    equal(allm("models", "vllm", env=env).text, "vllm:mine  4.1k\n")
    folder = os.path.join(HOME, "config", "allm")
    os.makedirs(folder)
    with open(os.path.join(folder, "catalog.json"), "w") as out:
        out.write(own)
    run = allm("models", "vllm", env={"XDG_CONFIG_HOME": HOME + "/config"})
    equal(run.text, "vllm:mine  4.1k\n")
    one_sentence(allm("models", env={"ALLM_CATALOG": "/nowhere"}), 2,
                 "/nowhere")
    one_sentence(allm("models", env={"ALLM_CATALOG": file("x.json", "{}")}), 2,
                 "list of models")
    one_sentence(allm("models", env={"ALLM_CATALOG": "/dev/null"}), 2,
                 "not a regular file")


def test_default_model():
    """the default is the newest model of the first provider with a key"""
    for key, model in (("OPENAI_API_KEY", "gpt-"),
                       ("ANTHROPIC_API_KEY", "claude-sonnet-"),
                       ("COHERE_API_KEY", "command-")):
        run = allm("--dry-run", "hi", env={key: "sk-x"})
        equal(run.code, 0)
        holds(run.text, model)


class Offers(http.server.BaseHTTPRequestHandler):
    """A server with models, in the forms of llama.cpp and of Ollama."""
    asked = []

    def do_GET(self):
        Offers.asked.append((self.path, self.headers.get("authorization")))
        body = {"/v1/models": {"object": "list",
                               "models": [{"name": "x"}],
                               "data": [{"id": "tiny.gguf", "meta": {}},
                                        {"id": "big"}]},
                "/api/tags": {"models": [{"name": "llama3.2:1b", "size": 9},
                                         {"name": "qwen3:8b"}]},
                "/odd/models": {"hello": "world"}}.get(self.path)
        data = json.dumps(body or {"error": "no such thing"}).encode()
        self.send_response(200 if body else 404)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args):
        pass


def test_models_of_a_server():
    """models -m PROVIDER: lists the models of a server"""
    with http.server.HTTPServer(("127.0.0.1", 0), Offers) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        at = "http://127.0.0.1:%d" % server.server_port
        env = {"LLAMACPP_BASE_URL": at + "/v1", "OLLAMA_HOST": at,
               "VLLM_BASE_URL": at + "/odd", "GROQ_BASE_URL": at + "/v1",
               "GROQ_API_KEY": "sk-groq", "XAI_BASE_URL": at + "/none"}
        run = allm("models", "-m", "llamacpp:", env=env)
        equal((run.code, run.text), (0, "llamacpp:tiny.gguf\nllamacpp:big\n"))
        equal(allm("models", "-m", "ollama:", "qwen", env=env).text,
              "ollama:qwen3:8b\n")
        equal(allm("models", "-m", "llamacpp:", "--json", env=env).json[1],
              {"id": "big", "raw": {"id": "big"}})
        allm("models", "-m", "groq", env=env)
        equal(Offers.asked, [("/v1/models", None), ("/api/tags", None),
                             ("/v1/models", None),
                             ("/v1/models", "Bearer sk-groq")])
        for words, of in (["nosuch"], 2), (["--can", "tools"], 2):
            run = allm("models", "-m", "llamacpp:", *words, env=env)
            equal((run.code, run.out), (0, b""))
            holds(run.said, f"none of the {of} models of llamacpp matches")
        equal(allm("models", "-m", "llamacpp:", "--json", "tiny", env=env).json,
              [{"id": "tiny.gguf", "raw": {"id": "tiny.gguf", "meta": {}}}])
        one_sentence(allm("models", "-m", "vllm:", env=env), 1,
                     "no list of models")
        assert allm("models", "-m", "xai:", env={**env, "XAI_API_KEY": "k"}
                    ).code == 5
        server.shutdown()
    one_sentence(allm("models", "-m", "openai:"), 4, "set OPENAI_API_KEY")
    run = allm("models", "-m", "nobody:")
    equal(run.code, 2)
    holds(run.said, "unknown provider")


def test_doctor_data():
    """doctor warns if the catalog is older than 90 days"""
    def said(days):
        day = time.strftime("%Y-%m-%d",
                            time.gmtime(time.time() - days * 86400))
        own = file("old.json", json.dumps({"updated": day, "models": []}))
        rows = allm("doctor", env={"ALLM_CATALOG": own}).text.splitlines()
        return next(row for row in rows if " models " in row), day
    row, day = said(90)
    holds(row, "ok   models", day)
    row, day = said(91)
    holds(row, "--   models", day, "91 days old")


def test_providers():
    """models --providers lists the providers"""
    holds(allm("models", "--providers").text, "groq", "https://api.groq.com",
          "set AZURE_OPENAI_ENDPOINT")
    names = [row["name"] for row in
             allm("models", "--providers", "--json").json]
    assert "openai" in names and "anthropic" in names


def test_keys():
    """keys prints the source of a key, never its value"""
    file(".env", "MISTRAL_API_KEY=secret-in-file\n")
    run = allm("keys", env={"XAI_API_KEY": "secret-in-env"})
    os.remove(os.path.join(HOME, ".env"))
    equal(run.code, 0)
    rows = {line.split()[0]: line for line in run.text.splitlines()}
    holds(rows["xai"], "XAI_API_KEY", "environment")
    holds(rows["mistral"], "MISTRAL_API_KEY", ".env file")
    holds(rows["openai"], "not set")
    holds(rows["vllm"], "none needed")
    assert b"secret" not in run.out + run.err
    row = allm("keys", "--json", env={"XAI_API_KEY": "secret"}).json[0]
    equal(row, {"provider": "xai", "variable": "XAI_API_KEY",
                "source": "env", "needed": True})


def test_dotenv_is_a_file():
    """a pipe or device named .env is rejected without blocking"""
    for kind in ("pipe", "device"):
        folder = tempfile.mkdtemp(dir=HOME)
        path = os.path.join(folder, ".env")
        if kind == "pipe":
            os.mkfifo(path)
        else:
            os.symlink("/dev/zero", path)

        def run(*words, **env):
            return allm(*words, cwd=folder, env=env, timeout=20)
        for words in (("hi",), ("-m", "groq:a", "hi"), ("keys",),
                      ("keys", "--json")):
            one_sentence(run(*words), 2, '".env"',
                         "(it is a pipe or a device, not a file)",
                         "make it readable, or remove it")
        seen = run("doctor", XAI_API_KEY="x")
        equal(seen.said.count("it is a pipe or a device"), 1)
        holds(seen.text, "ok   keys           xai")
        equal(run("version").code, 0)
        equal(run("models", "openai").code, 0)
        run = run("--dry-run", "hi", XAI_API_KEY="x", OPENAI_API_KEY="x")
        equal(run.code, 0)      # not read if the key is found elsewhere


def test_dotenv_mark():
    """a byte order mark does not hide the first line of .env"""
    folder = tempfile.mkdtemp(dir=HOME)
    with open(os.path.join(folder, ".env"), "w", encoding="utf-8-sig") as out:
        out.write("MISTRAL_API_KEY=x\r\nXAI_API_KEY=y\r\n")
    run = allm("keys", cwd=folder)
    rows = {line.split()[0]: line for line in run.text.splitlines()}
    holds(rows["mistral"], ".env file")
    holds(rows["xai"], ".env file")


def test_doctor():
    """doctor lists keys and servers; exit code 4 if there are none"""
    run = allm("doctor", env={"OPENAI_API_KEY": "sk-secret"})
    equal(run.code, 0)
    holds(run.text, "ok   library", "ok   keys           openai")
    assert b"secret" not in run.out
    run = allm("doctor", env={"HOME": "/nowhere"})
    holds(run.text, "not writable", "--   keys")
    assert run.code in (0, 4), run.code   # a server may run on this machine


def test_doctor_settings():
    """doctor shows the files of settings, trust, the model and the keys"""
    p = Place()
    holds(found(p.run("doctor"), "config"), "ok", "no file")
    p.write({"model": "groq:a", "output": {"width": 70}})
    p.write({"system": "x", "max_turns": 3}, ".allm.json")
    equal(p.run("keys", "set", "groq", stdin="k").code, 0)
    run = p.run("doctor")
    holds(run.text, p.config + ": model, output", ".allm.json: max_turns")
    holds(found(run, "trust"), "--", "1 waiting")
    holds(found(run, "model"), "ok", "groq:a", p.config)
    holds(found(run, "keys"), "ok", "groq")
    equal(p.run("config", "trust", "--sha256", hashlib.sha256(
        p.read(".allm.json")).hexdigest()).code, 0)
    holds(found(p.run("doctor"), "trust"), "ok", "is trusted")
    os.chmod(os.path.join(p.folder, "keys.json"), 0o644)
    holds(found(p.run("doctor"), "keys.json"), "--", "chmod 600")
    holds(found(p.run("doctor", env={"ALLM_MODEL": "groq:b"}), "model"),
          "groq:b (ALLM_MODEL)")
    p = Place()
    p.write("{")
    rows = p.run("doctor").text
    holds(rows, "--   config", "cannot be used")
    assert p.config not in rows, rows


def test_doctor_terminal():
    """doctor shows what the terminal can do"""
    for env, words in (({"TERM": "xterm"}, b"xterm, 200 columns, colours, "
                        b"lines can be edited"),
                       ({"TERM": "dumb"}, b"dumb, 200 columns, no colours, "
                        b"lines cannot be edited"),
                       ({"TERM": "xterm", "NO_COLOR": "1"}, b"no colours")):
        t = Terminal("doctor", env=env, columns=200)
        t.until(words)
        assert t.end() in (0, 4)


class Answers(Serving):
    """A server with the same answer for every path."""

    def __init__(self, body, status=200, kind="application/json", wait=0):
        paths = self.paths = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                paths.append(self.path)
                time.sleep(wait)
                self.send_response(status)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *args):
                pass
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0),
                                                      Handler)
        # the client may have timed out and gone
        self.server.handle_error = lambda *args: None
        self.port = self.server.server_port


def found(run, name):
    """The line of doctor about this."""
    return next(line for line in run.text.splitlines()
                if line[5:].startswith(name + " "))


def test_doctor_server():
    """doctor finds a server that lists its models at its address"""
    rows = [
        ("LLAMACPP_BASE_URL", "http://127.0.0.1:%d/v1", "llama.cpp",
         b'{"object": "list", "data": [{"id": "qwen"}]}', "/v1/models",
         "LLAMACPP_BASE_URL: 1 model; allm -m llamacpp:qwen ..."),
        ("LMSTUDIO_BASE_URL", "http://127.0.0.1:%d/v1", "LM Studio",
         b'{"data": [{"id": "a"}, {"id": "b"}]}', "/v1/models",
         "2 models; allm -m lmstudio:a ..."),
        ("OLLAMA_HOST", "127.0.0.1:%d", "Ollama",
         b'{"models": [{"name": "llama3.2:latest"}]}', "/api/tags",
         "OLLAMA_HOST: 1 model; allm -m ollama:llama3.2:latest ..."),
        ("SGLANG_BASE_URL", "http://me:secret@127.0.0.1:%d/v1", "sglang",
         b'{"data": [{"id": "c"}]}', "/v1/models",
         "SGLANG_BASE_URL: 1 model; allm -m sglang:c ..."),
    ]
    for variable, place, name, body, path, words in rows:
        with Answers(body) as server:
            run = allm("doctor", env={variable: place % server.port})
            equal((run.code, server.paths), (0, [path]))
            line = found(run, name)
            holds(line, "ok ", words)
            assert "secret" not in run.text, run.text


def test_doctor_other_servers():
    """doctor rejects any other server, and says what is wrong with it"""
    rows = [
        (Answers(b"<html>It works!</html>", kind="text/html"),
         "does not list models"),
        (Answers(b"no", 404, "text/plain"), "does not list models"),
        (Answers(b'{"hello": "world"}'), "does not list models"),
        (Answers(b'[1, 2]'), "does not list models"),
        (Answers(b'{"data": [7]}'), "does not list models"),
        (Answers(b'{"data": []}'), "the server has no models"),
        (Answers(b'{"error": {"message": "no"}}', 401), "rejects the key"),
        (Answers(b'{"data": []}', wait=4), "no answer in time"),
    ]
    for server, words in rows:
        with server:
            run = allm("doctor", env={
                "LMSTUDIO_BASE_URL": f"http://127.0.0.1:{server.port}/v1"})
        line = found(run, "LM Studio")
        holds(line, "-- ", "LMSTUDIO_BASE_URL: ", words)
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))       # and does not listen
        run = allm("doctor", env={
            "OLLAMA_HOST": f"127.0.0.1:{nobody.getsockname()[1]}"})
    holds(found(run, "Ollama"), "-- ", "OLLAMA_HOST: no server answers")


# ----------------------------------------------------------------- replay


def test_replay():
    """replay plays a recording, as text and as events"""
    path = file("a.recording", recording())
    run = allm("replay", path)
    equal((run.code, run.out, run.err), (0, b"played\n", b""))
    equal(allm("replay", "--events", path).lines[-1]["type"],
          "message_completed")
    both = file("b.recording", recording() + recording())
    equal(allm("replay", both).out, b"played\nplayed\n")


def test_replay_miss():
    """with a prompt that is not in the recording: exit code 12"""
    path = file("c.recording", recording())
    equal(allm("replay", "-m", "groq:m", path, "hi").out, b"played\n")
    path = file("d.recording", recording(body={"model": "m"}))
    one_sentence(allm("replay", "-m", "groq:m", path, "hi"), 12,
                 "replay miss")


def test_replay_failure():
    """a recorded failure fails again"""
    path = file("e.recording", recording(
        status=429, text='{"error": {"message": "slow down"}}'))
    run = allm("replay", path)
    equal((run.code, run.out), (3, b""))
    holds(run.said, "slow down")


def test_replay_bad():
    """a recording that is missing, damaged or unclear: one sentence"""
    one_sentence(allm("replay", "/nowhere"), 2, "/nowhere")
    one_sentence(allm("replay", file("f.recording", b"\0\xff\n")), 2)
    one_sentence(allm("replay"), 2, "allm replay FILE")
    one_sentence(allm("replay", file("g.recording", recording(
        url="https://example.org/x"))), 2, "cannot tell the provider")
    one_sentence(allm("replay", os.path.join(SOURCE, "examples",
                                             "replay.recording")), 2,
                 "cannot tell the provider")


# ------------------------------------------------------------------- demo


def test_demo():
    """demo runs real tools and is instant without a terminal"""
    began = time.monotonic()
    run = allm("demo", stdin=None)
    assert time.monotonic() - began < 5
    equal((run.code, run.err), (0, b""))
    holds(run.text, "clock returned \"20", "folder returned {\"entries\":",
          "What is your favourite colour?\n", "\n> blue\n",
          "loaded again: 7 messages", "I remember: blue")
    end = run.text.rstrip().splitlines()[-3:]
    holds(end[0], "OPENAI_API_KEY")
    holds(end[2], "Ollama")
    holds(run.text, "kill -9: the process that ran the agent is gone.",
          "ledger? yes", "Your train is booked, and only once.")
    starts = [run.text.index(name + " is running")
              for name in ("folder", "clock")]
    assert max(starts) < run.text.index("returned"), "not in parallel"


def test_demo_folder():
    """demo leaves no files, and continues if it cannot save"""
    folder = os.path.join(HOME, "temporary")
    os.mkdir(folder)
    run = allm("demo", env={"TMPDIR": folder})
    equal((run.code, run.err, os.listdir(folder)), (0, b"", []))
    run = allm("demo", env={"TMPDIR": "/nowhere"})
    equal((run.code, run.said.count("\n")), (0, 1))
    holds(run.said, "cannot save the session below /nowhere")
    holds(run.text, "I remember: blue")


def test_demo_terminal():
    """in a terminal, demo asks, and ends within ten seconds"""
    began = time.monotonic()
    t = Terminal("demo")
    t.until(b"colour?")
    t.write(b"green\r")
    equal(t.end(), 0)
    holds(t.said.decode(), "green", "Thank you.", "With a real model")
    assert b"blue" not in t.said.replace(b"is the sky blue", b""), t.said
    assert time.monotonic() - began < 10
    began = time.monotonic()
    t = Terminal("demo")        # no answer
    equal(t.end(), 0)
    assert 1 < time.monotonic() - began < 10
    holds(t.said.decode(), "> blue")


# ------------------------------------------------------------------- chat


def test_chat():
    """chat answers line by line and knows its commands"""
    path = os.path.join(HOME, "saved.json")
    run = allm("chat", "-m", "fake:m", "-o", "adapter_opts", TWO,
               stdin=f"hi\n/usage\n/model\n/save {path}\r\nho\n/nope\n/mod\n")
    equal((run.code, run.out), (0, b"one\ntwo\n"))
    holds(run.said, "usage: 3 tokens in, 2 out, cost unknown\n", "fake:m",
          "saved to",
          "unknown command /nope", "did you mean /model;")
    with open(path, encoding="utf-8") as saved:
        document = json.load(saved)
    equal(document["__type__"], "ALLM.Session")
    equal(len(document["data"]["thread"]["data"]["messages"]), 2)
    equal(os.stat(path).st_mode & 0o777, 0o600)


def test_chat_ends():
    """chat ends with its input, and with /exit"""
    equal(allm("chat", "-m", "fake:m", stdin=None).code, 0)
    run = allm("chat", "-m", "fake:m", "-o", "adapter_opts", TWO,
               stdin="/help\n/exit\nhi\n")
    equal((run.code, run.out), (0, b""))
    holds(run.said, "/model", "/system", "/usage", "/save", "/exit")


def test_chat_bad():
    """chat rejects arguments; after a failure it continues"""
    one_sentence(allm("chat", "hello"), 2, "takes no arguments")
    equal(allm("chat").code, 4)
    run = allm("chat", "-m", "fake:m", "-o", "adapter_opts",
               json.dumps({"scripts": [[["preflight_error", "rate_limited"]],
                                       [["text", "ok"],
                                        ["finish", "stop"]]]}),
               stdin="a\n/save /nowhere/x\n/save\n/model no:x\nb\n")
    equal((run.code, run.out), (0, b"ok\n"))
    holds(run.said, "/nowhere/x", "/save FILE", "there is no provider")


def test_chat_session():
    """chat saves its conversation with -S, and /load opens another"""
    first, second = (os.path.join(HOME, name) for name in ("s1", "s2"))

    def talk(lines, *words):
        return allm("chat", *words, "-m", "fake:m", "-o", "adapter_opts", TWO,
                    stdin=lines)

    def count(path):
        with open(path, encoding="utf-8") as saved:
            thread = json.load(saved)["data"]["thread"]["data"]
        return len(thread["messages"])
    run = talk("hi\n", "-S", first, "-s", "brief")
    equal((run.code, run.out, count(first)), (0, b"one\n", 3))
    run = talk(f"ho\n/save {second}\nha\n/save\n", "-S", first)
    equal((run.code, count(first), count(second)), (0, 7, 5))
    holds(run.said, "3 messages so far", f"saved to {second}",
          f"saved to {first}")
    run = talk(f"/load {second}\nhi\n/load {second}\n/load\n/load /none\n"
               "/system now\nhi\n/system\n", "-S", first)
    equal((run.code, count(first), count(second)), (0, 7, 9))
    holds(run.said, "5 messages so far", "already the current conversation",
          "/load NAME", "/none", "/system TEXT")
    for path in (first, second):
        equal(os.path.exists(path + ".lock"), False)


def test_chat_failure():
    """an answer that failed does not end the conversation"""
    path = os.path.join(HOME, "s3")
    run = allm("chat", "-S", path, "-m", "fake:m", "-o", "adapter_opts",
               json.dumps({"scripts": [[["text", "a"], ["finish", "stop"]],
                                       [["error", "rate_limited"]],
                                       [["text", "c"], ["finish", "stop"]]]}),
               stdin="one\ntwo\nthree\n")
    equal((run.code, run.out), (0, b"a\nc\n"))
    with open(path, encoding="utf-8") as saved:
        thread = json.load(saved)["data"]["thread"]["data"]
    equal([m["data"]["content"] for m in thread["messages"]],
          ["one", "a", "three", "c"])


def test_chat_asks():
    """a chat in a pipe that ends with a question: exit code 10"""
    script = json.dumps({"script": [
        ["tool_call", {"id": "a", "name": "ask_user",
                       "arguments": {"question": "Which?"}}],
        ["finish", "tool_calls"]]})
    run = allm("chat", "--ask", "-m", "fake:m", "-o", "adapter_opts", script,
               stdin="paint it\n")
    equal((run.code, run.out, run.err), (10, b"Which?\n", b""))


def test_chat_terminal():
    """in a terminal Ctrl-C cancels the answer, Ctrl-D ends the chat"""
    script = json.dumps({"scripts": [
        [["text", "begun but "], ["delay", 60000], ["finish", "stop"]],
        [["text", "second\x1b[2J"], ["finish", "stop"]]]})
    t = Terminal("chat", "-m", "fake:m", "-o", "adapter_opts", script)
    t.until(b"> ")
    t.write(b"hi\r")
    t.until(b"begun but")
    t.write(b"\x03")
    t.until(b"cancelled")
    t.write(b"again\r")
    t.until(b"second\\u001b[2J")
    t.until(b"\r\n> ")
    t.write(b"\x04")
    equal(t.end(), 0)


def test_no_words():
    """commands without arguments reject them"""
    for name in ("version", "doctor", "demo"):
        one_sentence(allm(name, "extra"), 2, name, "no arguments", '"extra"')


def test_chat_lines():
    """a line that is too long or not text is rejected, not split"""
    def talk(lines):
        return allm("chat", "-m", "fake:m", "-o", "adapter_opts", TWO,
                    stdin=lines)
    run = talk(b"x" * 200000 + b"\nhi\n")
    equal((run.code, run.out), (2, b"one\n"))
    equal(run.said.count("\n"), 1)
    holds(run.said, "64 KiB")
    equal((talk(b"y" * 65000).code, talk(b"y" * 70000).out), (0, b""))
    for line in (b"a\xffb", b"a\0b"):
        run = talk(line + b"\nhi\n")
        equal((run.code, run.out), (2, b"one\n"))
        holds(run.said, "not valid UTF-8 text")
    run = talk("hi\r\n\u00e9\n")
    equal((run.code, run.out, run.err), (0, b"one\ntwo\n", b""))


def test_chat_system():
    """chat -s without a file does not mention a file"""
    run = allm("chat", "-s", "be brief", "-m", "fake:m", "-o", "adapter_opts",
               TWO, stdin="hi\n")
    equal((run.code, run.out, run.err), (0, b"one\n", b""))


if __name__ == "__main__":
    main(globals())
