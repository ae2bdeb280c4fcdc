#!/usr/bin/env python3
"""test_approval - which calls of tools run: rules, questions, sessions"""
import base64
import json
import os
import subprocess
import time

import mcp_server
from mcp_server import PNG
from program import (ALLM, CLEAN, HOME, equal, holds, main, need, one_sentence,
                     scripts)
from test_http import KEY, Server
from test_terminal import Tmux
from tools_place import DONE, Place, call, calling, is_asked

WRITE = call("write_file", {"path": "new.txt", "content": "hello\n"})


def is_written(place):
    return os.path.exists(os.path.join(place.path, "site", "new.txt"))


def write(*more):
    return calling(WRITE, *more)


def test_default():
    """reading the root runs; writing halts with exit code 10 and a command"""
    p = Place()
    p.write("site/a.txt", "one\n")
    run = p.run("-T", "code", *calling(call("read_file", {"path": "a.txt"})),
                "hi")
    equal((run.code, run.text), (0, "done.\n"))
    run = p.run("-T", "code", *write(), "hi")
    equal(run.code, 10)
    holds(run.said, "write_file wants to change files in", "--approve",
          "-S NAME")
    assert not is_written(p)


def test_rules():
    """--approve TOOL=auto, the setting approve.TOOL and --yes allow calls"""
    for settings, flags in (({}, ["--approve", "write_file=auto"]),
                            ({}, ["--approve", "write_*=auto"]),
                            ({}, ["--yes"]),
                            ({"approve": {"write_file": "auto"}}, [])):
        p = Place(**settings)
        run = p.run("-T", "code", *flags, *write(), "hi")
        equal((run.code, run.text), (0, "done.\n"))
        assert is_written(p), (settings, flags)


def test_deny():
    """a rule that denies wins, and the model is told"""
    p = Place(approve={"write_file": "deny"})
    run = p.run("-T", "code", "--approve", "write_file=auto", "--events",
                *write(), "hi")
    equal(run.code, 0)
    assert not is_written(p)
    results = [line["content"] for line in run.lines
               if line["type"] == "tool_result_encoded"]
    holds(results[0], "denied")


def test_bad_flags():
    """wrong rules are refused; so is --yes without the sandbox"""
    p = Place()
    one_sentence(p.run("-T", "code", "--approve", "x=maybe", *write(), "hi"),
                 2, "x=maybe", "TOOL=auto")
    run = p.run("-T", "code", "--yes", "--sandbox", "off", *write(), "hi")
    equal(run.code, 2)
    holds(run.said, "--yes")
    one_sentence(p.run("-T", "code", "--approve", "all", *write()), 2,
                 "-S NAME")
    one_sentence(p.run("-T", "code", "--deny", "all", "-S", "s", *write(),
                       "hi"), 2, "no prompt")


def halted(p, session, *calls, after=1):
    """A session whose calls wait."""
    run = p.run("-S", session, "-T", "code", *calling(*calls or [WRITE],
                                                      after=after), "hi")
    equal(run.code, 10)
    holds(run.said, f"allm -S {session} -T code --approve all", "id c1")
    return run


def test_resume():
    """another process allows the call, which runs once; stored and in a file"""
    for session in ("s", "./s.session"):
        p = Place()
        halted(p, session)
        assert not is_written(p)
        run = p.run("-S", session, "hello", *scripts(DONE))
        equal(run.code, 10)
        holds(run.said, "--approve all")
        run = p.run("-S", session, "-T", "code", "--approve", "all",
                    *scripts(DONE))
        equal((run.code, run.text), (0, "done.\n"))
        assert is_written(p)
        run = p.run("-S", session, "--approve", "all", *scripts(DONE))
        one_sentence(run, 2, "no call of")
        equal(p.run("-S", session, *scripts(DONE), "more").code, 0)


def test_images():
    """images in results reach the model after another process has decided"""
    for session in ("s", "./s.session"):
        p = Place()
        with open(os.path.join(p.work, "dot.png"), "wb") as out:
            out.write(base64.b64decode(PNG))
        servers = {"mcpServers": {"story": {"command": "/usr/bin/python3",
                                            "args": [mcp_server.__file__]}}}
        words = ("-S", session, "-T", "read", "--mcp-config",
                 p.write("servers.json", json.dumps(servers)))
        run = p.run(*words, *calling(call("read_file", {"path": "dot.png"}),
                                     call("story__draw", None, 2)), "hi")
        equal(run.code, 10)
        run = p.run(*words, "--approve", "all", *scripts(DONE))
        equal((run.code, run.text), (0, "done.\n"))
        with Server() as server:
            equal(p.run(*server.words(), "-S", session, "more",
                        env={"GROQ_API_KEY": KEY}).code, 0)
            sent = json.dumps(server.asked[0][2]["messages"])
        equal(sent.count("data:image/png;base64," + PNG), 2)


def test_reach_grown():
    """what was approved is a reach: a call that needs more now is denied"""
    about = {"name": "greet", "description": "Greets."}
    for session in ("s", "./s.session"):
        p = Place()
        secret = p.write("secret.txt", "treasure\n")
        p.tool(text="#!/bin/sh\ncat %s\n" % secret)
        needs = [p.write("a.txt", "x\n")]
        describe = "home/config/tools/greet.json"
        p.write(describe, json.dumps({**about, "needs": {"read": needs}}))
        words = ("-S", session, "-T", "greet")
        equal(p.run(*words, *calling(call("greet")), "hi").code, 10)
        p.write(describe, json.dumps({**about,
                                      "needs": {"read": [*needs, secret]}}))
        run = p.run(*words, "--approve", "all", "--events", *scripts(DONE))
        result = [line["content"] for line in run.lines
                  if line["type"] == "tool_result_encoded"][0]
        holds(result, "denied", "has grown", secret)


def test_refuse():
    """another process denies the call, and the model sees why"""
    p = Place()
    halted(p, "s")
    run = p.run("-S", "s", "-T", "code", "--deny", "c1", "--why", "not there",
                "--events", *scripts(DONE))
    equal(run.code, 0)
    assert not is_written(p)
    holds(p.run("sessions", "show", "s").text, "not there")


def test_one_by_one():
    """calls are decided by their ids; the others still wait"""
    p = Place()
    other = call("append_to_file", {"path": "b.txt", "content": "x\n"}, 2)
    halted(p, "s", WRITE, other)
    run = p.run("-S", "s", "-T", "code", "--approve", "c1", *scripts(DONE))
    equal(run.code, 10)
    holds(run.said, "1 call waits", "id c2")
    one_sentence(p.run("-S", "s", "-T", "code", "--approve", "c7",
                       *scripts(DONE)), 2, "c7")
    run = p.run("-S", "s", "-T", "code", "--deny", "c2", *scripts(DONE))
    equal((run.code, run.text), (0, "done.\n"))
    assert is_written(p)
    assert not os.path.exists(os.path.join(p.path, "site", "b.txt"))


def test_long_id():
    """calls whose ids are long are decided, too"""
    p = Place()
    long = ["tool_call", {**WRITE[1], "id": "c" * 300}]
    equal(p.run("-S", "s", "-T", "code", *calling(long), "hi").code, 10)
    run = p.run("-S", "s", "-T", "code", "--approve", "all", *scripts(DONE))
    equal((run.code, run.text), (0, "done.\n"))
    assert is_written(p)


def test_rules_without_reach():
    """a rule with an empty reach allows nothing more than the default"""
    p = Place()
    p.write("home/config/approvals.json", json.dumps(
        [{"tool": "a", "reach": [], "verdict": "auto"},
         {"tool": "b", "verdict": "auto"}]), 0o600)
    first, second = p.run("tools", "rules").text.splitlines()[:2]
    holds(first, "nothing beyond the default")
    holds(second, "whatever it accesses")


def test_document():
    """--json lists the calls that wait"""
    p = Place()
    run = p.run("-S", "s", "-T", "code", "--json", *write(), "hi")
    equal(run.code, 10)
    waiting = run.json["approvals"]
    equal([(c["id"], c["name"]) for c in waiting], [("c1", "write_file")])
    holds(waiting[0]["reach"][0], "write ")


def test_denied():
    """--json lists the calls that a rule or the user denied, and why"""
    p = Place(approve={"write_file": "deny"})
    run = p.run("-T", "code", "--json", *write(call("read_file", {
        "path": "none.txt"}, 2)), "hi")
    equal(run.code, 0)
    got = run.json
    equal([(c["name"], c["ok"]) for c in got["tool_calls"]],
          [("write_file", False), ("read_file", False)])
    equal([(c["id"], c["name"]) for c in got["denied"]],
          [("c1", "write_file")])
    holds(got["denied"][0]["why"], "a rule (user) denies this call")
    p = Place()
    halted(p, "s")
    run = p.run("-S", "s", "-T", "code", "--deny", "c1", "--why", "not there",
                "--json", *scripts(DONE))
    equal(run.code, 0)
    equal([(c["id"], c["name"]) for c in run.json["denied"]],
          [("c1", "write_file")])
    holds(run.json["denied"][0]["why"], "not there")


def ask(p, *args):
    """A call that asks on a terminal."""
    t = p.terminal("-T", "code", *(args or write()), "hi")
    t.until(is_asked)
    return t


def test_terminal_yes():
    """on a terminal the user is asked; yes is for this call"""
    p = Place()
    t = p.terminal("-T", "code", *write(), "hi")
    said = t.until(is_asked).decode()
    holds(said, "? write_file wants to change files in", "new.txt",
          "[y]es once, [s]ession, [a]lways, [n]o, [e]xplain no, [d]")
    t.after(b"y", b"done.")
    equal(t.end(), 0)
    assert is_written(p)


def test_terminal_no():
    """no denies the call; an explanation reaches the model"""
    p = Place()
    t = ask(p)
    said = t.after(b"n", b"done.")
    equal(t.end(), 0)
    assert b'* write_file "new.txt" denied' in said, said
    assert not is_written(p)
    t = p.terminal("-S", "s", "-T", "code", *write(), "hi")
    t.until(is_asked)
    t.after(b"e", b"why not?")
    t.after(b"wrong folder\r", b"done.")
    equal(t.end(), 0)
    holds(p.run("sessions", "show", "s").text, "wrong folder")


def test_terminal_type_ahead():
    """keys that were pressed before the question do not count"""
    p = Place()
    slow = scripts([["delay", 700], WRITE, ["finish", "tool_calls"]], DONE)
    t = p.terminal("-T", "code", *slow, "hi")
    t.write(b"yyyy")
    t.until(is_asked)
    t.after(b"n", b"done.")
    equal(t.end(), 0)
    assert not is_written(p)


def test_terminal_details():
    """details show all arguments, and the question comes again"""
    p = Place()
    long = "\n".join(f"line {i}" for i in range(40)) + " end-of-it"
    t = ask(p, *calling(call("write_file", {"path": "new.txt",
                                            "content": long})))
    assert b"end-of-it" not in t.said
    t.after(b"d", b"end-of-it")
    t.until(is_asked)
    t.after(b"y", b"done.")
    equal(t.end(), 0)
    assert is_written(p)


def test_terminal_session():
    """session allows the same reach for the rest of the run"""
    p = Place()
    twice = scripts([WRITE, ["finish", "tool_calls"]],
                    [call("write_file", {"path": "b.txt", "content": "x"}, 2),
                     ["finish", "tool_calls"]], DONE)
    t = ask(p, *twice)
    said = t.after(b"s", b"done.")
    equal(t.end(), 0)
    assert b"wants to" not in said, said
    assert os.path.exists(os.path.join(p.path, "site", "b.txt"))


def test_terminal_always():
    """always is stored in approvals.json; tools rules lists and removes it"""
    p = Place()
    t = ask(p)
    t.after(b"a", b"done.")
    equal(t.end(), 0)
    path = os.path.join(p.home, "config", "approvals.json")
    equal(os.stat(path).st_mode & 0o777, 0o600)
    holds(p.read("home/config/approvals.json"), "write_file")
    equal(p.run("-T", "code", *write(), "hi").code, 0)
    rules = p.run("tools", "rules").text
    holds(rules, "write_file", "auto", "write ")
    rule = [r for r in p.run("tools", "rules", "--json").json if "index" in r]
    equal(len(rule), 1)
    equal(p.run("tools", "rules", "rm", str(rule[0]["index"])).code, 0)
    equal(p.run("-T", "code", *write(), "hi").code, 10)
    one_sentence(p.run("tools", "rules", "rm", "7"), 2, "7")
    one_sentence(p.run("tools", "rules", "rm", "x"), 2, "number")


def test_terminal_leave():
    """Ctrl-C leaves the question: exit code 10, and the session waits"""
    p = Place()
    t = p.terminal("-S", "s", "-T", "code", *write(), "hi")
    t.until(is_asked)
    t.after(b"\x03", b"--approve all")
    equal(t.end(), 10)
    run = p.run("-S", "s", "-T", "code", "--approve", "all", *scripts(DONE))
    equal((run.code, run.text), (0, "done.\n"))
    assert is_written(p)


def is_prompt(screen):
    return screen.endswith(b"\x1b[2C") and \
        screen.rfind(b"?2004l") <= screen.rfind(b"?2004h")


def test_chat():
    """a chat asks; /approve decides later, /tools and /mcp list"""
    p = Place()
    t = p.terminal("chat", "-T", "code", *write())
    t.until(is_prompt)
    t.after(b"/tools\r", b"multi_edit")
    t.until(is_prompt)
    t.after(b"/mcp\r", b"no servers")
    t.until(is_prompt)
    t.after(b"/approve\r", b"no call waits")
    t.until(is_prompt)
    t.after(b"hi\r", is_asked)
    t.after(b"\x03", b"/approve decides")
    t.until(is_prompt)
    t.after(b"/approve\r", is_asked)
    t.after(b"y", b"done.")
    t.until(is_prompt)
    t.write(b"\x04")
    equal(t.end(), 0)
    assert is_written(p)


def test_chat_adds_tools():
    """/tools NAMES adds tools to a chat that runs, also the first ones"""
    p = Place()
    t = p.terminal("chat", *write())
    t.until(is_prompt)
    t.after(b"/tools\r", b"no tools")
    t.until(is_prompt)
    t.after(b"/tools cod\r", b"did you mean")
    t.until(is_prompt)
    t.after(b"/tools read_file\r", b"read_file")
    t.until(is_prompt)
    t.after(b"/tools code\r", b"multi_edit")
    t.until(is_prompt)
    t.after(b"hi\r", is_asked)
    t.after(b"\x03", b"/approve decides")
    t.until(is_prompt)
    t.after(b"/approve\r", is_asked)
    t.after(b"y", b"done.")
    t.until(is_prompt)
    t.write(b"\x04")
    equal(t.end(), 0)
    assert is_written(p)


def test_chat_words():
    """/approve all and /approve deny decide without a question"""
    for words, wanted in (("/approve all", True),
                          ("/approve deny all not now", False)):
        p = Place()
        run = p.run("chat", "-S", "s", "-T", "code", *write(),
                    stdin=f"hi\n{words}\n")
        holds(run.said, "--approve all")
        equal((run.code, run.text), (0, "done.\n"))
        equal(is_written(p), wanted)


def waits(place):
    """What the only session of the store waits for."""
    row, = place.run("sessions", "list", "--json").json["sessions"]
    return row["status"], row["waits"]


def test_work():
    """a worker leaves the call; the decision makes the session due again"""
    for flag, words in (["--approve", "c1"], "assistant: done."), \
            (["--deny", "all", "--why", "not there"], "not there"):
        p = Place()
        equal(p.run("send", "s", "--queue", "q", "hi").code, 0)
        flags = ["--queue", "q", "--once", "-T", "code"]
        p.run("work", *flags, *write())
        equal(waits(p), ("awaiting_tools", "tools"))
        holds(p.run("sessions", "list").text, "s  awaiting_tools  tools")
        equal(p.run("work", *flags, *scripts(DONE)).code, 0)
        equal(waits(p), ("awaiting_tools", "tools"))
        run = p.run("-S", "s", *flag)
        equal((run.code, run.text), (0, ""))
        holds(run.said, "the decision is stored", "allm work")
        assert not is_written(p)
        equal(p.run("work", *flags, *scripts(DONE)).code, 0)
        equal(waits(p), ("completed", None))
        equal(is_written(p), "--approve" in flag)
        holds(p.run("sessions", "show", "s").text, words)


def test_decide_twice():
    """a decision without the tool is stored; with the tool the call runs"""
    p = Place()
    halted(p, "s")
    holds(p.run("-S", "s", "--approve", "all").said, "decision is stored")
    run = p.run("-S", "s", "-T", "code", "--approve", "all", *scripts(DONE))
    equal((run.code, run.text), (0, "done.\n"))
    assert is_written(p)


def test_approve_and_deny():
    """what is approved and denied at once is denied"""
    p = Place()
    halted(p, "s")
    run = p.run("-S", "s", "-T", "code", "--approve", "c1", "--deny", "c1",
                *scripts(DONE))
    equal((run.code, run.text), (0, "done.\n"))
    assert not is_written(p)


def test_decided():
    """decided calls that have not run: what runs them is named, and nothing
    else uses the decision up"""
    for session in ("s", "./s.session"):
        p = Place()
        halted(p, session)
        p.run("-S", session, "--approve", "all")
        for words in (("more",), ("chat",)):
            run = p.run("-S", session, "-T", "code", *scripts(DONE), *words) \
                if words == ("more",) else \
                p.run("chat", "-S", session, "-T", "code", *scripts(DONE),
                      stdin=b"")
            holds(run.said, "decided", f"allm -S {session} -T code --approve")
        if session == "s":
            one_sentence(p.run("sessions", "resume", "s", *scripts(DONE)), 2,
                         "write_file", "-T")
        run = p.run("chat", "-S", session, "-T", "code", *scripts(DONE),
                    stdin=b"/approve\n")
        equal((run.code, run.text), (0, "done.\n"))
        assert is_written(p)


def test_work_lacks():
    """a worker without the tool leaves an approved call to others"""
    p = Place()
    flags = ["--queue", "q", "--once"]
    equal(p.run("send", "s", "--queue", "q", "hi").code, 0)
    p.run("work", *flags, "-T", "code", *write())
    equal(p.run("-S", "s", "--approve", "all").code, 0)
    one_sentence(p.run("work", *flags, *scripts(DONE)), 2, "write_file", "-T")
    assert not is_written(p)
    equal(p.run("work", *flags, "-T", "code", *scripts(DONE)).code, 0)
    assert is_written(p)


def test_used_up():
    """a call of a file that was killed needs a new decision"""
    p = Place()
    waiting = call("bash", {"command": "touch begun; exec sleep 100",
                            "write": True, "timeout": 100})
    halted(p, "./s.session", waiting)
    flags = ["-S", "./s.session", "-T", "code"]
    child = subprocess.Popen([ALLM, *flags, "--approve", "all",
                              *scripts(DONE)], env={**CLEAN, **p.env},
                             cwd=p.work, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    while not os.path.exists(os.path.join(p.work, "begun")):
        assert child.poll() is None
        time.sleep(.01)
    child.kill()
    child.communicate(timeout=30)
    os.remove(os.path.join(p.work, "begun"))
    run = p.run(*flags, *scripts(DONE), "more")
    equal(run.code, 10)
    holds(run.said, "1 call waits")
    assert not os.path.exists(os.path.join(p.work, "begun"))


def test_batch():
    """a row whose call needs approval, or has no end, fails; others go on"""
    p = Place()
    rows = '{"id": "a", "prompt": "hi"}\n{"id": "b", "prompt": "ho"}\n'
    asked = [WRITE, ["finish", "tool_calls"]]
    for flags, code in ([], 10), (["--max-turns", "1", "--yes"], 8):
        run = p.run("batch", "-j", "1", "-T", "code", *flags,
                    *scripts(asked, DONE), stdin=rows)
        equal([(r["id"], r["ok"], r["exit_code"]) for r in run.lines],
              [("a", False, code), ("b", True, 0)])
        equal(run.code, 1)
        holds(run.lines[0]["error"]["message"],
              "--approve" if code == 10 else "--max-turns")
        equal(is_written(p), code == 8)


def test_project():
    """a project's rules and sandbox count only when it is trusted"""
    p = Place()
    p.write("site/.allm.json", json.dumps({"approve": {"write_file": "auto"},
                                           "tools": {"default": ["code"]}}))
    run = p.run("-T", "code", *write(), "hi")
    equal(run.code, 10)
    holds(run.said, "2 settings of ./.allm.json wait")
    p.trust()
    run = p.run(*write(), "hi")
    equal((run.code, run.text), (0, "done.\n"))
    assert is_written(p)


def test_tmux():
    """in tmux the question is drawn over the line of the call, and answered"""
    need("tmux")
    path = os.path.join(HOME, "tmux.txt")
    new = call("write_file", {"path": "tmux.txt", "content": "\x1b[2Jx\n"})
    with Tmux("-T", "code", *calling(new), "hi") as t:
        screen = t.until(r"^> $")
        holds(screen, "? write_file wants to change files in " + HOME,
              '  |   "path": "tmux.txt",', "\\u001B[2Jx",
              "  [y]es once, [s]ession, [a]lways, [n]o, [e]xplain no, "
              "[d]etails")
        t.keys("y")
        screen = t.until(r"^ended 0\.$")
        holds(screen, "> y", '* write_file "tmux.txt"', "done.")
    assert os.path.exists(path)


main(globals())
