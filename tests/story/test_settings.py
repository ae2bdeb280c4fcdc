#!/usr/bin/env python3
"""test_settings - every setting changes something that can be observed

CASES has a value and a call for each setting that has a variable.  The call is
made without the setting, with its variable, and with a file; the results of the
last two must be the same, and differ from the first.
"""
import json
import os
import socket
import subprocess
import sys
import tempfile

from program import (ALLM, CLEAN, HOME, SOURCE, Terminal, allm, equal, fake,
                     file, main, text)

sys.path.insert(0, os.path.join(SOURCE, "tests", "batch"))
from server import Server           # noqa: E402

SETTINGS = allm("_rows").json["settings"]
# Of calls with external tools; output.links needs OSC 8.
LATER = {"sandbox", "tools.root", "max_turns", "output.links"}
MARKDOWN = "some **strong** words " * 5
CATALOG = file("priced.json", json.dumps({"models": [
    {"provider": "vllm", "id": "m", "limits": {"output": 1000},
     "pricing": {"input": 10, "output": 1000}}]}))
TEMPLATE = file("t.md", "Say: $input")


def body(*args, **more):
    """The request that would be sent."""
    run = allm("-m", "openai:gpt-5", "--dry-run", *args, **more)
    equal(run.code, 0)
    return run.json["body"]


def screen(*args, env=None):
    t = Terminal(*args, env={"TERM": "xterm", **(env or {})})
    code = t.end()
    return code, t.said.decode()


def answer(env, *more):
    """What a terminal shows of an answer in Markdown."""
    return screen(*text(MARKDOWN), *more, "hi", env=env)


def attempts(env):
    """How often a server that refuses is asked."""
    with Server(script=lambda *a: 503) as server:
        allm("-m", "vllm:m", "hi", env={**server.env, **env})
    return sum(server.asked.values())


def slow(env):
    """The exit code, if an answer takes a second."""
    with Server(script=lambda *a: 1.0) as server:
        return allm("-m", "vllm:m", "--retry", "1", "hi",
                    env={**server.env, **env}).code


def kept(env):
    """Is there a session after the call?"""
    home = tempfile.mkdtemp(dir=HOME)
    allm(*text(), "hi", env={"HOME": home, **env})
    run = allm("sessions", "list", "--json", env={"HOME": home, **env})
    return len(json.loads(run.out)["sessions"])


def stored(env):
    path = os.path.join(HOME, "own.db")
    if os.path.exists(path):
        os.unlink(path)
    allm(*text(), "-S", "s", "hi", env={"HOME": tempfile.mkdtemp(dir=HOME),
                                        **env})
    return os.path.exists(path)


def writes(env):
    """How many writes an answer of three parts takes."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    parts = [["text", word] for word in ("one\n", "two\n", "three\n")]
    subprocess.run([ALLM, *fake(*parts, ["finish", "stop"]), "hi"],
                   stdout=theirs, stdin=subprocess.DEVNULL,
                   env={**CLEAN, **env}, check=False)
    theirs.close()
    count = 0
    while ours.recv(1000):
        count += 1
    ours.close()
    return count


def jobs(env):
    with Server(delay=0.02) as server:
        allm("batch", "-m", "vllm:m", stdin='{"prompt": "a"}\n' * 40,
             env={**server.env, **env})
    return server.most


def history(env):
    """Does a chat on a terminal write its lines down?"""
    home = tempfile.mkdtemp(dir=HOME)
    t = Terminal("chat", *text(), env={"TERM": "xterm", "HOME": home, **env})
    t.until(b"> ")
    t.write(b"hello\r")
    t.until(b"Hello.")
    t.write(b"\x04")
    t.end()
    return os.path.exists(os.path.join(home, ".local/state/allm/history"))


def editor(env):
    """What happens to a configuration that is edited?"""
    home = tempfile.mkdtemp(dir=HOME)
    run = allm("config", "edit", env={"HOME": home, "EDITOR": "false", **env})
    return run.code


CASES = {
    "model": ("ollama:other", lambda env: allm("--dry-run", "hi", env={
        "OPENAI_API_KEY": "k", **env}).text),
    "system": ("Be brief.", lambda env: body("hi", env=env)),
    "template": (TEMPLATE, lambda env: body("hi", env=env)),
    "stream": (False, writes),
    "keep": (True, kept),
    "usage": (True, lambda env: bool(allm(*text(), "hi", env=env).err)),
    "reasoning": ("low", lambda env: body("hi", env=env)),
    "store": (f"sqlite:{HOME}/own.db", stored),
    "timeout": ("0.2s", slow),
    "max_cost": (0.5, lambda env: allm("-m", "vllm:m", "hi", env={
        "ALLM_CATALOG": CATALOG, **env}).code),
    "retry": (2, attempts),
    "output.markdown": ("off", answer),
    "output.color": ("off", answer),
    "output.width": (30, answer),
    "output.reasoning": ("hide", lambda env: allm(
        "-v", *fake(["reasoning", "thought"], ["text", "a"],
                    ["finish", "stop"]), "hi", env=env).said.count(
                        "thought")),
    "batch.jobs": (3, jobs),
    "chat.history": (False, history),
    "chat.editor": ("true", editor),
}


def test_every_setting():
    """each setting with a variable changes what is observed"""
    wrong = []
    for row in SETTINGS:
        key = row["key"]
        if "variable" not in row or key in LATER:
            continue
        assert key in CASES, f"{key} has no case"
        value, observe = CASES[key]
        word = value if isinstance(value, str) else json.dumps(value)
        without = observe({})
        by_variable = observe({row["variable"]: word})
        nested = value
        for part in reversed(key.split(".")):
            nested = {part: nested}
        by_file = observe({"ALLM_CONFIG": file("one.json",
                                               json.dumps(nested))})
        if by_variable == without or by_file != by_variable:
            wrong.append((key, without, by_variable, by_file))
    equal(wrong, [])


if __name__ == "__main__":
    main(globals())
