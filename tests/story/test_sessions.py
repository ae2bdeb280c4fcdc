#!/usr/bin/env python3
"""test_sessions - sessions in the store: -S NAME, -c, --keep, allm sessions"""
import base64
import glob
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time

from killed import end, fresh, killed_agent, start
from program import (ALLM, CLEAN, HOME, Terminal, allm, equal, fake, file,
                     holds, main, one_sentence, scripts, text)

ASKING = fake(["tool_call", {"id": "a", "name": "ask_user",
                             "arguments": {"question": "Which colour?"}}],
              ["finish", "tool_calls"])
SLOW = fake(["text", "begun"], ["delay", 60000], ["finish", "stop"])
DEFAULT = os.path.join(HOME, ".local", "share", "allm", "sessions.db")


def show(name, env):
    run = allm("sessions", "show", name, env=env)
    equal(run.code, 0)
    return run.text


def listed(env, *words):
    run = allm("sessions", "list", "--json", *words, env=env)
    equal(run.code, 0)
    return run.json["sessions"]


def test_default():
    """the default store is created on first use, for its owner only"""
    run = allm("sessions")
    equal((run.code, run.out, os.path.exists(DEFAULT)), (0, b"", False))
    equal(allm("sessions", "--json").json, {"sessions": [], "more": False})
    one_sentence(allm("sessions", "show", "x"), 2, "no sessions yet")
    one_sentence(allm("-c", *text(), "hi"), 2, "no sessions yet")
    equal(allm("-S", "trip", "-m", "openai:m", "--dry-run", "hi").code, 0)
    equal(os.path.exists(DEFAULT), False)
    run = allm("-S", "trip", *text("One."), "hi")
    equal((run.code, run.out, run.err), (0, b"One.\n", b""))
    equal(os.stat(DEFAULT).st_mode & 0o777, 0o600)
    equal(os.stat(os.path.dirname(DEFAULT)).st_mode & 0o777, 0o700)
    run = allm("-S", "trip", *text("Two."), "and now?")
    equal((run.code, run.out), (0, b"Two.\n"))
    equal(show("trip", {}), "user: hi\nassistant: One.\n"
          "user: and now?\nassistant: Two.\n")
    folder = os.path.join(HOME, "data")
    equal(allm("-S", "a", *text(), "hi", env={"XDG_DATA_HOME": folder}).code,
          0)
    equal(os.path.exists(os.path.join(folder, "allm", "sessions.db")), True)


def test_without_home():
    """without a home there is a message, and --store helps"""
    one_sentence(allm("-S", "a", *text(), "hi", env={"HOME": ""}), 2,
                 "--store URI")
    where = fresh()["ALLM_STORE"]
    equal(allm("-S", "a", "--store", where, *text(), "hi",
               env={"HOME": ""}).code, 0)


def test_read_only_home():
    """a home that cannot be written costs no answer without -S"""
    run = allm(*text(), "hi", env={"HOME": "/proc"})
    equal((run.code, run.out), (0, b"Hello.\n"))
    one_sentence(allm("-S", "a", *text(), "hi", env={"HOME": "/proc"}), 2,
                 "cannot create /proc/")


def test_words():
    """a word with a slash or a dot is a file; a bare file name is refused"""
    env = fresh()
    path = file("notes", "")
    one_sentence(allm("-S", "notes", *text(), "hi", env=env), 2, "./notes")
    equal(os.path.exists(env["ALLM_STORE"][7:]), False)
    os.remove(path)
    equal(allm("-S", "notes", *text(), "hi", env=env).code, 0)
    file("notes", "")           # a session of that name comes first
    equal(allm("-S", "notes", *text(), "more", env=env).code, 0)
    os.remove(path)
    equal(allm("-S", "./x", *text(), "hi", env=env).code, 0)
    equal(json.load(open(os.path.join(HOME, "x"), encoding="utf-8"))
          ["__type__"], "ALLM.Session")
    path = env["ALLM_STORE"][7:]
    one_sentence(allm("-S", path, *text(), "hi", env=env), 2, "--store",
                 "sqlite:" + path)
    one_sentence(allm("-S", "", *text(), "hi", env=env), 2, "-S needs")
    one_sentence(allm("-S", "a b", *text(), "hi", env=env), 2, "name",
                 "a blank")
    one_sentence(allm("-S", "x" * 129, *text(), "hi", env=env), 2, "name")
    one_sentence(allm("-S", "a", "-c", *text(), "hi", env=env), 2,
                 "exclude each other")


def test_continue():
    """-c continues the newest session, also from a pipe; --keep begins one"""
    env = fresh()
    run = allm("--keep", *text("One."), "hi", env=env)
    equal((run.code, run.out), (0, b"One.\n"))
    name = re.fullmatch(r"session ([0-9a-f-]+)\n", run.said).group(1)
    equal(allm("-S", "other", *text(), "hi", env=env).code, 0)
    run = allm("-S", name, *text("Two."), "more", env=env)
    equal((run.code, run.out), (0, b"Two.\n"))
    run = allm("-c", *text("Three."), stdin="from a pipe", env=env)
    equal((run.code, run.out), (0, b"Three.\n"))
    equal(show(name, env).splitlines()[-2:],
          ["user: from a pipe", "assistant: Three."])
    equal(allm(*text(), "hi", env=env).code, 0)     # is not stored
    equal([s["name"] for s in listed(env)], [name, "other"])


def test_model():
    """the model is kept with the answer; -s is kept, too"""
    env = fresh()
    equal(allm("-S", "a", "-m", "openai:gpt-4.1", "hi", env=env).code, 4)
    equal(listed(env), [])          # a missing key leaves nothing behind
    equal(allm("-S", "a", "-s", "Be brief.", *text(), "hi", env=env).code, 0)
    run = allm("-S", "a", "-o", "adapter_opts",
               '{"script": [["text", "x"], ["finish", "stop"]]}', "more",
               env=env)
    equal((run.code, run.out), (0, b"x\n"))
    equal(listed(env)[0]["model"], "fake:m")
    run = allm("-S", "a", "-m", "openai:gpt-4.1", "--dry-run", "and?",
               env=env)
    equal([m["role"] for m in run.json["body"]["messages"]],
          ["system", "user", "assistant", "user", "assistant", "user"])


def test_question():
    """a question is exit code 10; the next prompt answers"""
    env = fresh()
    run = allm("-S", "a", *ASKING, "--ask", "paint it", env=env)
    one_sentence(run, 10, "Which colour?", "allm -S a")
    equal((listed(env)[0]["status"], listed(env)[0]["waits"]),
          ("awaiting_user", "user"))
    holds(allm("sessions", "show", "a", env=env).said, "allm -S a")
    one_sentence(allm("sessions", "rm", "a", env=env), 10,
                 "a waits for an answer", "sessions abandon a")
    allm("sessions", "fork", "a", "b", env=env)
    run = allm("-S", "a", *text("Blue it is."), "--ask", "blue", env=env)
    equal((run.code, run.out), (0, b"Blue it is.\n"))
    equal(allm("sessions", "abandon", "b", env=env).code, 0)
    equal((listed(env)[0]["status"], listed(env)[0]["waits"],
           listed(env)[0]["model"]), ("idle", None, "fake:m"))
    equal(allm("sessions", "rm", "b", env=env).code, 0)


def test_failed():
    """a session whose answer failed can continue"""
    env = fresh()
    run = allm("-S", "a", *fake(["text", "par"], ["error", "rate_limited"]),
               "hi", env=env)
    equal((run.code, run.out, listed(env)[0]["status"]),
          (3, b"par\n", "error"))
    run = allm("-S", "a", *text("Two."), "more", env=env)
    equal((run.code, run.out), (0, b"Two.\n"))
    holds(run.said, "the last answer failed")


def test_locked():
    """a session in use is exit code 11, and names its holder"""
    env = fresh()
    child = start("-S", "a", *SLOW, "hi", env=env)
    one_sentence(allm("-S", "a", *text(), "hi", env=env), 11, "is held by")
    one_sentence(allm("sessions", "rm", "a", env=env), 11, "is held by")
    equal(listed(env)[0]["holder"].endswith(f":{child.pid}"), True)
    equal(end(child, signal.SIGINT), 130)
    run = allm("-S", "a", *text("Two."), "again", env=env)
    equal((run.code, run.out), (0, b"Two.\n"))


def test_refused_commit():
    """a step that the store refuses is reported, by ask and by chat"""
    env = fresh()
    equal(allm("-S", "a", *text("One."), "hi", env=env).code, 0)
    with sqlite3.connect(env["ALLM_STORE"][7:]) as db:
        db.execute("CREATE TRIGGER refuse BEFORE INSERT ON allm_record BEGIN"
                   " SELECT RAISE(ABORT, 'no'); END")
    one_sentence(allm("-S", "a", *text("Two."), "more", env=env), 11,
                 "restore the store")
    run = allm("chat", "-S", "a", *text("Two."), stdin="more\n", env=env)
    equal((run.code, run.out), (11, b""))
    holds(run.said, "restore the store")
    equal(show("a", env), "user: hi\nassistant: One.\n")


def test_lost():
    """a session that another holder has taken meanwhile: exit code 11"""
    env = fresh()
    child = subprocess.Popen(
        [ALLM, "-S", "a", *fake(["text", "begun"], ["delay", 1000],
                                ["finish", "stop"]), "hi"],
        env={**CLEAN, **env}, cwd=HOME, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    equal(os.read(child.stdout.fileno(), 100), b"begun")
    with sqlite3.connect(env["ALLM_STORE"][7:]) as db:
        db.execute("UPDATE allm_session SET epoch = 2, holder = 'there:7'")
    said = child.communicate(timeout=30)[1].decode()
    equal(child.returncode, 11)
    holds(said, "there:7", "; allm sessions says")


def test_killed():
    """kill -9 before an answer: the next prompt drops it, with a note"""
    env = fresh()
    equal(allm("-S", "a", *text("One."), "hi", env=env).code, 0)
    equal(end(start("-S", "a", *SLOW, "lost", env=env), signal.SIGKILL), -9)
    equal(listed(env)[0]["broken_off"], True)
    holds(allm("sessions", env=env).text, "broken off")
    run = allm("-S", "a", *text("Two."), "again", env=env)
    equal((run.code, run.out), (0, b"Two.\n"))
    holds(run.said, "broke off before an answer")
    equal(show("a", env), "user: hi\nassistant: One.\n"
          "user: again\nassistant: Two.\n")


def test_killed_and_resumed():
    """or sessions resume continues it: the same prompt is sent again"""
    env = fresh()
    equal(end(start("-S", "a", *SLOW, "kept", env=env), signal.SIGKILL), -9)
    run = allm("sessions", "resume", "a", *text("Done."), env=env)
    equal((run.code, run.out), (0, b"Done.\n"))
    equal(show("a", env), "user: kept\nassistant: Done.\n")
    one_sentence(allm("sessions", "resume", "a", *text(), env=env), 1,
                 "no operation")
    equal(end(start("-S", "a", *SLOW, "lost", env=env), signal.SIGKILL), -9)
    equal(allm("sessions", "abandon", "a", env=env).code, 0)
    equal(show("a", env), "user: kept\nassistant: Done.\n")
    equal(end(start("-S", "b", *SLOW, "kept", env=env), signal.SIGKILL), -9)
    begin = time.monotonic()
    run = allm("sessions", "resume", "b", "--json", *text("Done."), env=env)
    timing = run.json["timing"]
    assert timing["total_ms"] <= 1000 * (time.monotonic() - begin), timing
    assert timing["first_ms"] is not None, timing
    equal(allm("sessions", "rm", "b", env=env).code, 0)
    equal(end(start("-S", "a", *SLOW, "lost", env=env), signal.SIGKILL), -9)
    one_sentence(allm("sessions", "rm", "a", env=env), 10, "abandon a")
    equal(allm("sessions", "cancel", "a", env=env).code, 0)
    equal(listed(env)[0]["broken_off"], False)


def test_settle():
    """a write that began is unknown: exit code 10 until somebody settles it"""
    for how in (("--happened", "noted"), ("--not",), ("--again",)):
        env = killed_agent()
        run = allm("-S", "chat", *text(), "hi", env=env)
        equal((run.code, run.out), (10, b""))
        holds(run.said, "a (note)", "allm sessions settle chat a",
              "allm sessions resume chat", "allm sessions abandon chat")
        equal(run.said.count("\n") <= 4, True)
        run = allm("sessions", "resume", "chat", *text(), env=env)
        equal((run.code, run.out), (10, b""))
        one_sentence(allm("sessions", "settle", "chat", "a", env=env), 2,
                     "--happened TEXT")
        one_sentence(allm("sessions", "settle", "chat", "zz", "--not",
                          env=env), 2, '"zz" is not', "a (note)")
        equal(allm("sessions", "settle", "chat", "a", *how, env=env).code, 0)
        one_sentence(allm("sessions", "settle", "chat", "a", "--not",
                          env=env), 2, "chat has no unknown call")
        if how == ("--again",):         # this program has no such tool
            continue
        run = allm("sessions", "resume", "chat", *text("So be it."), env=env)
        equal((run.code, run.out), (0, b"So be it.\n"))
        holds(show("chat", env), "calls note", "tool a: " +
              ("noted" if how[0] == "--happened" else "This call did not"))


def slow_tool(words):
    """A tool that only reads, and runs these commands."""
    folder = os.path.join(HOME, "tools")
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "look")
    with open(path, "w", encoding="utf-8") as out:
        out.write("#!/bin/sh\n" + words + "\n")
    os.chmod(path, 0o755)
    with open(path + ".json", "w", encoding="utf-8") as out:
        json.dump({"name": "look", "description": "Looks.",
                   "effect": "pure", "timeout": 100}, out)
    return path


def await_tool(path):
    """Wait until it runs.  Before, a process that is about to become its warden
    may still share the lock of the session."""
    begins = b"/bin/sh\0" + path.encode() + b"\0"
    limit = time.monotonic() + 60
    while True:
        assert time.monotonic() < limit, path
        for name in glob.glob("/proc/[0-9]*/cmdline"):
            try:
                with open(name, "rb") as words:
                    if words.read().startswith(begins):
                        return
            except OSError:
                pass            # it has ended


def killed_while_looking(env):
    """Kill a call whose tool has begun; returns the tool."""
    path = slow_tool("sleep 100")
    child = start("-S", "a", "--tool", path, "--yes", *fake(
        ["text", "begun"], ["tool_call", {"id": "c", "name": "look",
                                          "arguments": {}}],
        ["finish", "tool_calls"]), "hi", env=env)
    types = []
    limit = time.monotonic() + 60
    while "intent" not in types:
        assert time.monotonic() < limit, types
        types = [r["type"] for r in
                 allm("sessions", "show", "a", "--journal", env=env).lines]
    await_tool(path)
    equal(end(child, signal.SIGKILL), -9)
    return path


def test_resume_with_tools():
    """resume runs a tool that only reads again, if the flags name it"""
    env = fresh()
    killed_while_looking(env)
    path = slow_tool("echo seen")
    run = allm("sessions", "resume", "a", "--tool", path, "--yes",
               *text("Done."), env=env)
    equal((run.code, run.out), (0, b"Done.\n"))
    holds(show("a", env), "tool c: seen")
    one_sentence(allm("sessions", "--tool", path, env=env), 2,
                 "list does not use --tool")


def test_resume_with_an_image():
    """an image that a tool returned before kill -9 is sent after it"""
    env = fresh()
    dot = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(64)).decode()
    place = os.path.join(HOME, "dot.png")
    with open(place, "wb") as out:
        out.write(base64.b64decode(dot))
    path = slow_tool("sleep 100")
    calls = [["tool_call", {"id": "i", "name": "read_file",
                            "arguments": {"path": "dot.png"}}],
             ["tool_call", {"id": "c", "name": "look", "arguments": {}}]]
    child = start("-S", "a", "-T", "read", "--tool", path, "--yes",
                  *fake(["text", "begun"], *calls, ["finish", "tool_calls"]),
                  "hi", env=env)
    limit = time.monotonic() + 60
    journal = ""
    while dot not in journal or journal.count('"intent"') < 2:
        assert time.monotonic() < limit, journal
        journal = allm("sessions", "show", "a", "--journal", env=env).text
    await_tool(path)
    equal(end(child, signal.SIGKILL), -9)
    os.unlink(place)            # it is not read again
    path = slow_tool("echo seen")
    run = allm("sessions", "resume", "a", "-T", "read", "--tool", path,
               "--yes", *text("Done."), env=env)
    equal((run.code, run.out), (0, b"Done.\n"))
    shown = allm("sessions", "show", "a", "--json", env=env).json
    found = [m for m in shown["thread"]["messages"]
             if m["tool_call_id"] == "i"]
    equal([part["type"] for part in found[0]["content"]], ["text", "image"])
    holds(json.dumps(found), dot)


def test_chat_with_tools():
    """a chat that continues what was broken off has its tools"""
    env = fresh()
    killed_while_looking(env)
    path = slow_tool("echo seen")
    t = Terminal("chat", "-S", "a", "--tool", path, "--yes", *text("Done."),
                 env={**env, "TERM": "dumb"})
    t.until(b"[d]rop it\r\n> ")
    t.write(b"c\r")
    t.until(b"Done.")
    t.write(b"\x04")
    equal(t.end(), 0)
    holds(show("a", env), "tool c: seen")


def test_resume_without_tools():
    """a call of a tool that is not there is unknown, and can be settled"""
    env = fresh()
    killed_while_looking(env)
    run = allm("sessions", "resume", "a", *text("Done."), env=env)
    equal((run.code, run.out), (10, b""))
    holds(run.said, "c (look)")
    equal(allm("sessions", "settle", "a", "c", "--not", env=env).code, 0)
    run = allm("sessions", "resume", "a", *text("Done."), env=env)
    equal((run.code, run.out), (0, b"Done.\n"))


def test_abandon_unknown():
    """abandoning keeps a list of the calls that had begun"""
    env = killed_agent()
    equal(allm("sessions", "abandon", "chat", env=env).code, 0)
    got = allm("sessions", "show", "chat", "--json", env=env).json
    equal([c["name"] for c in got["metadata"]["interrupted_tool_calls"]],
          ["note"])
    one_sentence(allm("sessions", "abandon", "chat", env=env), 1,
                 "no operation")


def test_cancel():
    """sessions cancel stops what another process runs: exit code 1"""
    env = fresh()
    child = start("-S", "a", *SLOW, "hi", env=env)
    equal(allm("sessions", "cancel", "a", env=env).code, 0)
    child.communicate(timeout=30)
    equal(child.returncode, 1)
    equal(listed(env)[0]["broken_off"], False)
    one_sentence(allm("sessions", "cancel", "nobody", env=env), 2, "nobody")


def test_list():
    """list: newest first, as a table or JSON, by status, with a limit"""
    env = fresh()
    for name in ("a", "b", "c"):
        equal(allm("-S", name, *text(), "What is\n" + name + "?",
                   env=env).code, 0)
    allm("-S", "q", *ASKING, "--ask", "hi", env=env)
    equal([s["name"] for s in listed(env)], ["q", "c", "b", "a"])
    equal(list(listed(env)[0]), [
        "name", "uid", "status", "waits", "broken_off", "holder", "model",
        "messages", "created", "changed", "title"])
    equal(list(allm("sessions", "--json", env=env).json),
          ["sessions", "more"])
    equal([s["name"] for s in listed(env, "--status", "completed")],
          ["c", "b", "a"])
    one_sentence(allm("sessions", "--status", "done", env=env), 2,
                 "awaiting_user")
    run = allm("sessions", "-n", "2", env=env)
    equal([line.split()[0] for line in run.text.splitlines()], ["q", "c"])
    holds(run.text, "awaiting_user", "fake:m")
    holds(run.said, "more")
    one_sentence(allm("sessions", "lsit", env=env), 2, '"list"')
    allm("-S", "c", *text("Two."), "more", env=env)
    equal(allm("sessions", "follow", "c", "--from", "0", env=env).out,
          b"Hello.\n")
    one_sentence(allm("sessions", "show", env=env), 2, "usage: allm sessions")
    one_sentence(allm("sessions", "settle", "a", env=env), 2,
                 "settle NAME CALL --happened TEXT | --not | --again")
    one_sentence(allm("sessions", "show", "a", "--not", env=env), 2,
                 "show does not use --not")
    one_sentence(allm("sessions", "show", "zz", env=env), 2, '"zz"')


def test_search():
    """list WORD...: all words in one message, in any case"""
    env = fresh()
    allm("-S", "a", *text("Lisbon is warm."), "Where to go?", env=env)
    allm("-S", "b", *text("Oslo is cold."), "where is it WARM?", env=env)
    equal([s["name"] for s in listed(env, "warm")], ["b", "a"])
    equal([s["name"] for s in listed(env, "warm", "lisbon")], ["a"])
    equal([s["name"] for s in listed(env, "oslo", "where")], [])
    holds(allm("sessions", "list", "oslo", "where", env=env).said,
          "no session has these words in one message")
    holds(allm("sessions", "cold", env=env).text, "b ")
    broken = {"id": "a", "name": "go", "raw_arguments": '{"to": "Riga'}
    allm("-S", "c", *fake(["tool_call", broken], ["finish", "stop"]), "hi",
         env=env)
    equal([s["name"] for s in listed(env, "riga")], ["c"])
    allm("-S", "berlin", *text("No."), "hello", env=env)
    equal([s["name"] for s in listed(env, "BERL")], [])
    env = killed_agent()
    equal([s["name"] for s in listed(env, "nothing like it")], [])


def test_show():
    """show: records, JSON, and the conversation as of a record"""
    env = fresh()
    allm("-S", "a", *text("One."), "hi", env=env)
    allm("-S", "a", *text("Two."), "more", env=env)
    lines = allm("sessions", "show", "a", "--journal", env=env).lines
    equal([r["seq"] for r in lines], list(range(1, len(lines) + 1)))
    equal(lines[0]["type"], "created")
    first = next(r["seq"] for r in lines if r["type"] == "end")
    run = allm("sessions", "show", "a", "--at", str(first), env=env)
    equal((run.code, run.text), (0, "user: hi\nassistant: One.\n"))
    one_sentence(allm("sessions", "show", "a", "--at", "999", env=env), 2,
                 "999")
    got = allm("sessions", "show", "a", "--json", env=env).json
    equal((got["id"], len(got["thread"]["messages"])), ("a", 4))
    allm("-S", "a", "-s", "New.", *text("Three."), "again", env=env)
    equal(allm("sessions", "show", "a", "--at", str(first), env=env).text,
          "user: hi\nassistant: One.\n")
    got = allm("sessions", "show", "a", "--at", "2", "--json", env=env).json
    equal((got["id"], got["status"], len(got["thread"]["messages"])),
          ("a", "idle", 1))
    equal(allm("sessions", "fork", "a", "b", "--at", str(first),
               env=env).code, 0)
    equal(show("b", env), "user: hi\nassistant: One.\n")
    one_sentence(allm("sessions", "fork", "a", "b", env=env), 2, "already")
    one_sentence(allm("sessions", "fork", "a", "c", "--at", "2", env=env), 2,
                 "record 2 is of type begin", "created, change, turn or end")
    one_sentence(allm("sessions", "fork", "a", "c", "--at", "99", env=env), 2,
                 "no record 99")
    one_sentence(allm("sessions", "fork", "a", "", env=env), 2, "has 0")
    one_sentence(allm("sessions", "fork", "a", "b c", env=env), 2, "a blank")
    one_sentence(allm("sessions", "fork", "a", "x" * 129, env=env), 2,
                 "has 129")
    equal([s["name"] for s in listed(env)], ["b", "a"])


def test_export():
    """export then import gives the same document, except for its id"""
    env = fresh()
    allm("-S", "a", "-s", "Brief.", *text("One."), "hi", env=env)
    out = allm("sessions", "export", "a", env=env)
    path = file("exported.json", out.out)
    equal(allm("sessions", "import", "b", path, env=env).code, 0)
    one, two = out.json, allm("sessions", "export", "b", env=env).json
    equal((one["data"].pop("id"), two["data"].pop("id")), ("a", "b"))
    equal(one, two)
    equal(allm("-S", path, *text("Two."), "more").code, 0)
    one_sentence(allm("sessions", "import", "b", path, env=env), 2, "already")
    equal(allm("sessions", "import", "c", "-", stdin=out.out, env=env).code,
          0)
    one_sentence(allm("sessions", "import", "d", file("no", "{}"), env=env),
                 11, "not a session")
    one_sentence(allm("sessions", "import", "d", "/nowhere", env=env), 2,
                 "/nowhere")
    equal(allm("sessions", "export", "a", "--markdown", env=env).text,
          "## System\n\nBrief.\n\n## User\n\nhi\n\n## Assistant\n\nOne.\n\n")
    run = allm("sessions", "export", "a", "--journal", env=env)
    equal(run.lines[0]["type"], "created")


def test_import_of_unknown_members():
    """import keeps all members of a document, those that are not known, too"""
    env = fresh()
    allm("-S", "a", *text("One."), "hi", env=env)
    whole = allm("sessions", "export", "a", env=env).json
    data = whole["data"]
    odd = {"$blob": "x", "$plain": {"$blob": [None, "y" * 5000]}}
    thread = data["thread"]["data"]
    for place in (data, thread, thread["messages"][0]["data"],
                  data["metadata"], data["context"], thread["metadata"]):
        place["odd"] = odd
    equal(allm("sessions", "import", "b", "-", stdin=json.dumps(whole),
               env=env).code, 0)
    data["id"] = "b"
    equal(allm("sessions", "export", "b", env=env).json, whole)
    equal(allm("sessions", "fork", "b", "c", env=env).code, 0)
    data["id"] = "c"
    equal(allm("sessions", "export", "c", env=env).json, whole)
    equal(allm("sessions", "verify", env=env).code, 0)
    equal(allm("-S", "b", *text("Two."), "more", env=env).code, 0)
    after = allm("sessions", "export", "b", env=env).json["data"]
    equal((after["odd"], after["thread"]["data"]["odd"]), (odd, odd))


def test_export_broken_off():
    """an operation that was broken off is not part of an exported session"""
    env = killed_agent()
    out = allm("sessions", "export", "chat", env=env)
    path = file("broken.json", out.out)
    equal(allm("sessions", "import", "b", path, env=env).code, 0)
    one, two = out.json, allm("sessions", "export", "b", env=env).json
    equal((one["data"].pop("id"), two["data"].pop("id")), ("chat", "b"))
    equal(one, two)
    run = allm("-S", "b", *text("Two."), "more", env=env)
    equal((run.code, run.out), (0, b"Two.\n"))
    shown = allm("sessions", "show", "chat", "--json", env=env).json
    whole = {"__type__": "ALLM.Session", "data": {
        **one["data"], "id": "c", "metadata": shown["metadata"]}}
    equal("broken_off" in whole["data"]["metadata"], True)
    equal(allm("sessions", "import", "c", "-", stdin=json.dumps(whole),
               env=env).code, 0)
    equal(allm("-S", "c", *text("Two."), "more", env=env).code, 0)
    equal(allm("sessions", "rm", "b", "c", env=env).code, 0)


def test_remove():
    """rm leaves no byte behind; prune removes what is old"""
    env = fresh()
    secret = "xyzzy-in-the-prompt"
    for name in ("a", "b", "c"):
        allm("-S", name, *text(), secret + name, env=env)
    equal(allm("sessions", "rm", "a", "zz", "b", env=env).code, 2)
    equal([s["name"] for s in listed(env)], ["c"])
    for path in glob.glob(env["ALLM_STORE"][7:] + "*"):
        with open(path, "rb") as source:
            seen = source.read()
        assert (secret + "a").encode() not in seen, path
    one_sentence(allm("sessions", "prune", env=env), 2, "--older")
    one_sentence(allm("sessions", "prune", "--older", "soon", env=env), 2,
                 "--older")
    equal(allm("sessions", "prune", "--older", "1d", env=env).out, b"")
    run = allm("sessions", "prune", "--older", "0.001", "--dry-run", env=env)
    equal((run.text, run.said), ("c\n", "1 session would be removed\n"))
    equal(allm("sessions", "prune", "--older", "0.001", env=env).out, b"c\n")
    equal(listed(env), [])


def test_prune_journal():
    """prune --journal keeps the conversation, and says what is gone"""
    env = fresh()
    allm("-S", "a", *text("One."), "hi", env=env)
    allm("-S", "a", *text("Two."), "more", env=env)
    before = allm("sessions", "export", "a", env=env).text
    run = allm("sessions", "prune", "--older", "0.001", "--journal",
               "--dry-run", env=env)
    equal((run.text, run.said), ("a\n", "1 journal would be removed\n"))
    run = allm("sessions", "prune", "--older", "0.001", "--journal", env=env)
    equal((run.text, run.said), ("a\n", "1 journal shortened\n"))
    equal(allm("sessions", "export", "a", env=env).text, before)
    equal(allm("sessions", "verify", env=env).code, 0)
    one_sentence(allm("sessions", "show", "a", "--at", "2", env=env), 2,
                 "pruned")
    one_sentence(allm("sessions", "fork", "a", "b", "--at", "2", env=env), 2,
                 "pruned")
    equal(allm("-S", "a", *text("Three."), "again", env=env).code, 0)
    equal(allm("sessions", "verify", env=env).code, 0)


def test_first_call_fails():
    """a new session whose first call fails is not kept"""
    env = fresh()
    failing = ("-m", "fake:m", "-o", "script",
               '[["error", {"reason": "network"}]]')
    assert allm("-S", "a", *failing, "hi", env=env).code != 0
    equal(listed(env), [])
    allm("-S", "b", *text(), "hi", env=env)
    assert allm("-S", "b", *failing, "hi", env=env).code != 0
    equal([s["name"] for s in listed(env)], ["b"])


def test_verify():
    """verify finds a changed byte; only that session is affected"""
    env = fresh()
    allm("-S", "a", *text("One."), "hi", env=env)
    allm("-S", "b", *text("Findable."), "hi", env=env)
    run = allm("sessions", "verify", env=env)
    equal((run.code, run.text[:14]), (0, "ok: 2 sessions"))
    path = env["ALLM_STORE"][7:]
    with open(path, "rb") as source:
        content = source.read()
    assert b"Findable" in content
    with open(path, "wb") as out:
        out.write(content.replace(b"Findable", b"Findoble"))
    run = allm("sessions", "verify", env=env)
    equal(run.code, 11)
    holds(run.text, "b, record", "damaged")
    run = allm("sessions", "verify", "a", env=env)
    equal((run.code, run.text[:15]), (0, "ok: 1 session, "))
    equal(allm("sessions", "verify", "b", "--json", env=env).json["ok"],
          False)
    equal(allm("-S", "a", *text("Two."), "more", env=env).code, 0)
    one_sentence(allm("-S", "b", *text(), "more", env=env), 11, "b")


def test_unreadable():
    """a state, or a message that was sent, that is no JSON is damage"""
    env = fresh()
    equal(allm("-S", "a", *text("One."), "hi", env=env).code, 0)
    for state in ("{", "[]", "null"):
        with sqlite3.connect(env["ALLM_STORE"][7:]) as db:
            db.execute("UPDATE allm_session SET state = ?", (state,))
        for words in (("sessions", "show", "a"), ("-S", "a", *text(), "hi")):
            one_sentence(allm(*words, env=env), 11,
                         'the state of the session "a" cannot be read')
    env = fresh()
    equal(allm("-S", "a", *text("One."), "hi", env=env).code, 0)
    equal(allm("send", "a", "more", env=env).code, 0)
    with sqlite3.connect(env["ALLM_STORE"][7:]) as db:
        db.execute("UPDATE allm_inbox SET body = '{'")
    one_sentence(allm("sessions", "resume", "a", *text(), env=env), 11,
                 'a sent message of the session "a" cannot be read')


def test_verify_history():
    """verify also checks what only the history of a session refers to"""
    env = fresh()
    path = env["ALLM_STORE"][7:]
    allm("-S", "a", *text("y" * 5000), "hi", env=env)
    equal(allm("-S", "a", "-s", "Brief.", *text("One."), "more",
               env=env).code, 0)
    equal(allm("sessions", "verify", env=env).code, 0)
    removed = "WHERE until IS NOT NULL"
    damages = (f"DELETE FROM allm_message {removed}",
               f"UPDATE allm_message SET until = 1 {removed}",
               f"UPDATE allm_message SET since = since - 1 {removed}",
               "UPDATE allm_message SET since = since - 1",
               f"UPDATE allm_message SET body = body || ' ' {removed}",
               "DELETE FROM allm_blob", "UPDATE allm_blob SET bytes = 'x'",
               "UPDATE allm_record SET type = 'taken' WHERE seq = 3",
               "UPDATE allm_session SET status = 'idle'")
    for i, sql in enumerate(damages):
        copy = f"{path}.{i}"
        shutil.copy(path, copy)
        with sqlite3.connect(copy) as db:
            equal((sql, db.execute(sql).rowcount > 0), (sql, True))
        run = allm("sessions", "verify", "--store", "sqlite:" + copy)
        assert run.code == 11 and b"a, record" in run.out, (sql, run.out)


def test_bad_stores():
    """a store that cannot be used is a message and an exit code"""
    for uri, code, word in (
            ("mysql://x", 2, "postgresql://"),
            ("sqlite:", 2, "sqlite:"),
            ("sqlite:" + file("junk.db", "junk" * 100), 11, "junk.db"),
            ("sqlite:/nowhere/s.db", 3, "/nowhere"),
            ("postgresql://u:hunter2@127.0.0.1:1/x", 3, "")):
        run = allm("-S", "a", "--store", uri, *text(), "hi")
        one_sentence(run, code, word)
        assert "hunter2" not in run.said, run.said


def test_schema():
    """schema prints the SQL of the tables, also without a store"""
    env = fresh()
    run = allm("sessions", "schema", env=env)
    equal((run.code, run.err), (0, b""))
    holds(run.text, "CREATE TABLE", "allm_record")
    equal(os.path.exists(env["ALLM_STORE"][7:]), False)
    equal(allm("sessions", "schema", env={"HOME": ""}).text, run.text)
    one_sentence(allm("sessions", "schema", "--store", "mysql://x"), 2,
                 "postgresql://")


def test_doctor():
    """doctor says which store is used, and whether it works"""
    env = fresh()
    holds(allm("doctor", env=env).text, "store", env["ALLM_STORE"],
          "not there yet")
    allm("-S", "a", *text(), "hi", env=env)
    assert "not there yet" not in allm("doctor", env=env).text
    bad = {"ALLM_STORE": "sqlite:" + file("junk2.db", "junk" * 100)}
    holds(allm("doctor", env=bad).text, "does not work")
    run = allm("doctor", env={"ALLM_STORE":
                              "postgresql://u:hunter2@127.0.0.1:1/x"})
    holds(run.text, "postgresql://u:***@127.0.0.1:1/x")
    assert "hunter2" not in run.text + run.said
    run = allm("doctor", env={"ALLM_STORE": "host=h password=hunter2"})
    holds(run.text, "not the URI of a store")
    assert "hunter2" not in run.text + run.said


def test_chat():
    """chat continues a stored session, and keeps a new one"""
    env = fresh()
    run = allm("chat", "-S", "a", *scripts(
        [["text", "One."], ["finish", "stop"]],
        [["text", "Two."], ["finish", "stop"]]), stdin="hi\nmore\n", env=env)
    equal((run.code, run.out), (0, b"One.\nTwo.\n"))
    run = allm("chat", "-c", *text("Three."), stdin="and?\n", env=env)
    equal((run.code, run.out), (0, b"Three.\n"))
    equal(listed(env)[0]["messages"], 6)


def test_settings():
    """the settings store and keep, and ALLM_HOME, say where sessions are"""
    home = tempfile.mkdtemp(dir=HOME)
    uri = "sqlite:" + os.path.join(home, "mine.db")
    os.makedirs(os.path.join(home, ".config", "allm"))
    with open(os.path.join(home, ".config", "allm", "config.json"), "w",
              encoding="utf-8") as out:
        json.dump({"store": uri, "keep": True}, out)
    env = {"HOME": home}
    run = allm(*text(), "hi", env=env, cwd=home)
    equal((run.code, run.out), (0, b"Hello.\n"))
    holds(run.said, "session 20")
    equal(allm(*text(), "-n", "hi", env=env, cwd=home).err, b"")
    equal(len(listed(env)), 1)
    equal(len(listed({"ALLM_STORE": uri})), 1)
    where = tempfile.mkdtemp(dir=HOME)
    equal(allm("-S", "a", *text(), "hi", env={"ALLM_HOME": where}).code, 0)
    assert glob.glob(where + "/**/sessions.db", recursive=True), where


def test_completion():
    """names of sessions are completed, files after a slash or a dot"""
    env = fresh()
    equal(allm("_complete", "-S", "", env=env).out, b"")
    for name in ("trip", "train", "other"):
        allm("-S", name, *text(), "hi", env=env)
    run = allm("_complete", "-S", "tr", env=env)
    equal(sorted(run.text.splitlines()), ["train", "trip"])
    equal(allm("_complete", "sessions", "show", "o", env=env).out, b"other\n")
    equal(allm("_complete", "-S", "./", env=env).out, b":file\n")


def test_many_processes():
    """32 processes may begin sessions in a new store at the same time"""
    env = fresh()
    children = [subprocess.Popen([ALLM, "-S", f"s{i}", *text(), "hi"],
                                 env={**CLEAN, **env}, cwd=HOME,
                                 stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE) for i in range(32)]
    for child in children:
        out, err = child.communicate(timeout=120)
        equal((child.returncode, out, err), (0, b"Hello.\n", b""))
    equal(len(listed(env)), 32)


def test_own_provider():
    """an operation that was broken off goes on with the user's own provider"""
    def with_script(*entries):
        return {**env, "ALLM_CONFIG": file("own.json", json.dumps(
            {"providers": {"corp": {"like": "fake"}}, "model": "fake:m",
             "options": {"corp:*": {"adapter_opts": {"script": entries}}}}))}
    env = fresh()
    yes = [["text", "Yes."], ["finish", "stop"]]
    equal(allm("-S", "a", "-m", "corp:x", "hi", env=with_script(*yes)).code, 0)
    equal(end(start("-S", "a", "more", env=with_script(
        ["text", "begun"], ["delay", 60000])), signal.SIGKILL), -signal.SIGKILL)
    equal(allm("sessions", "resume", "a", env=with_script(*yes)).text, "Yes.\n")


if __name__ == "__main__":
    main(globals())
