#!/usr/bin/env python3
"""test_secrets - a planted key is in no output, no file and no child process

The key comes from a variable, from keys.json, from a file, or from a command.
Commands are run in all ways that print or write much; then everything that
they printed, every file below the home, and the environments of the programs
that they started are searched.
"""
import os

from place import Place, Server
from program import Terminal, equal, main

KEY = "sk-planted-0123456789-abcdefghij"
PARTS = [KEY.encode(), KEY.encode().hex().encode(), KEY[3:].encode()]


def search(what, content):
    for part in PARTS:
        assert part not in content, (what, content[:2000])


def search_home(p, allowed):
    """No file has the key, except those that were made to hold it."""
    searched = 0
    for folder, _, names in os.walk(p.home):
        for name in names:
            path = os.path.join(folder, name)
            if path not in allowed:
                with open(path, "rb") as source:
                    search(path, source.read())
                searched += 1
    return searched


def commands(p, server):
    """Calls that print and write as much as possible."""
    here = ["-m", "corp:m"]
    batch = p.write('{"prompt": "hi"}\n', "in.jsonl")
    p.write("$input", "../.config/allm/templates/t.md")
    yield ["-v", *here, "hi"]
    yield ["--json", *here, "hi"]
    yield ["--events", *here, "hi"]
    yield ["--dry-run", *here, "hi"]
    yield ["--record", "call.recording", "--trace", "call.trace", *here, "hi"]
    yield ["--replay", "call.recording", *here, "hi"]
    yield ["-S", "kept", "-u", *here, "hi"]
    yield ["-t", "t", *here, "hi"]
    yield ["-s", "x", *here, "--save", "saved", "$input"]
    yield ["batch", *here, batch, "-O", "out.jsonl", "--summary", "sum.json",
           "--trace", "batch.trace", "--record", "batch.recording"]
    yield ["chat", *here, "-S", "./chat.session"]
    for words in (["config", "show", "--origin"], ["config", "show", "--json"],
                  ["config", "check"], ["config", "get", "providers"],
                  ["doctor"], ["doctor", "--json"], ["keys"],
                  ["keys", "--json"], ["keys", "test", "corp"],
                  ["models", "--provider", "groq"], ["sessions", "--json"],
                  ["sessions", "show", "kept"], ["templates", "--json"],
                  ["route", "any"], ["demo"], ["help", "--all"],
                  ["_complete", "bash", "1", "allm", "k"]):
        yield words
    server.left[:] = [401, 500, 500, 500, 429, 429, 429]
    for _ in range(3):                          # errors quote the server
        yield ["-v", *here, "hi"]


def run_everything(settings, env, before=None, allowed=()):
    p = Place()
    allowed = [os.path.join(p.project, name) for name in allowed]
    with Server(message="bad key " + KEY) as server:
        p.write({"providers": {"corp": {"like": "groq", "base_url": server.url,
                                        **settings}}})
        if before:
            allowed += before(p)
        quoted = 0
        for words in commands(p, server):
            run = p.run(*words, env=env, stdin="hi\n")
            search(words, run.out + run.err)
            quoted += "bad key" in run.said
        equal(quoted, 3)
        keys = [key for key in server.keys() if key]
        assert keys and set(keys) == {"Bearer " + KEY}, set(keys)
    assert search_home(p, allowed) > 10


def test_variable():
    """a key in a variable"""
    run_everything({"key": "env:CORP_KEY"}, {"CORP_KEY": KEY})


def test_stored_key():
    """a key in keys.json"""
    def store(p):
        equal(p.run("keys", "set", "corp", stdin=KEY + "\n").code, 0)
        return [os.path.join(p.folder, "keys.json")]
    run_everything({}, {}, store)


def test_file():
    """a key in a file"""
    def store(p):
        path = p.write(KEY + "\n", "the.key")
        os.chmod(path, 0o600)
        equal(p.run("keys", "set", "corp", "--from", "file:" + path).code, 0)
        return [path]
    run_everything({}, {}, store)


def test_children():
    """an editor, a shell command and the command of a key get no key"""
    p = Place()
    script = p.write('env >>"$HOME/seen"; echo edited >>"$1"\n', "editor.sh")
    env = {"HOME": p.home, "TERM": "xterm", "VISUAL": "sh " + script,
           "OPENAI_API_KEY": KEY, "MY_SECRET": KEY, "PLAIN": "plain-value"}
    for words in ["config", "edit"], ["templates", "edit", "new"]:
        p.run(*words, env=env)
    t = Terminal("chat", "-m", "fake:m", env=env)
    t.until(b"> ")
    t.after(b"x \x18\x05", b"> x edited")
    t.after(b"\x15/edit\r", b"> edited")
    t.after(b"\x15!env >>\"$HOME/seen\"; env\r", b"[n]o\r\n> ")
    search("the screen", t.said)
    t.write(b"n\x04")
    equal(t.end(), 0)
    with open(os.path.join(p.home, "seen"), "rb") as source:
        seen = source.read()
    search("environments", seen)
    assert seen.count(b"PLAIN=plain-value") >= 4, seen
    search_home(p, [])


main(globals())
