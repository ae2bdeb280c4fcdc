#!/usr/bin/env python3
"""test_session - allm -S FILE: conversations that continue in another run"""
import json
import os
import signal
import subprocess

from program import (ALLM, CLEAN, HOME, allm, equal, fake, file, holds, main,
                     one_sentence, text)

ASKING = fake(["tool_call", {"id": "a", "name": "ask_user",
                             "arguments": {"question": "Which colour?"}}],
              ["finish", "tool_calls"])
MANUAL = [*fake(["tool_call", {"id": "a", "name": "weather",
                               "arguments": {}}], ["finish", "tool_calls"]),
          "-o", "mode", "manual"]


def place(name):
    path = os.path.join(HOME, name)
    if os.path.exists(path):
        os.remove(path)
    return path


def load(path):
    with open(path, encoding="utf-8") as source:
        document = json.load(source)
    equal(document["__type__"], "ALLM.Session")
    return document["data"]


def messages(path):
    """Roles and texts."""
    thread = load(path)["thread"]
    thread = thread.get("data", thread)
    plain = [m.get("data", m) for m in thread["messages"]]
    return [(m["role"], m["content"]) for m in plain]


def asked(path, *words):
    """The messages that would be sent."""
    run = allm("-S", path, "-m", "openai:gpt-4.1", "--dry-run", *words)
    equal(run.code, 0)
    return [(m["role"], m["content"]) for m in run.json["body"]["messages"]]


def test_goes_on():
    """-S creates a session, then continues it"""
    path = place("a.json")
    run = allm("-S", path, *text("One."), "hi")
    equal((run.code, run.out, run.err), (0, b"One.\n", b""))
    run = allm("-S", path, *text("Two."), "and", "now?", stdin="piped\n")
    equal((run.code, run.out), (0, b"Two.\n"))
    equal(messages(path), [("user", "hi"), ("assistant", "One."),
                           ("user", "piped\n\nand now?"),
                           ("assistant", "Two.")])
    equal(os.stat(path).st_mode & 0o777, 0o600)
    equal(load(path)["status"], "completed")
    equal(os.path.exists(path + ".lock"), False)


def test_system():
    """-s is saved in the session; a second one replaces it"""
    path = place("b.json")
    allm("-S", path, "-s", "old", *text("One."), "hi")
    equal(asked(path, "more")[0], ("system", "old"))
    equal(asked(path, "-s", "new", "more"),
          [("system", "new"), ("user", "hi"), ("assistant", "One."),
           ("user", "more")])
    equal(messages(path)[0], ("system", "old"))     # that was a dry run
    allm("-S", path, "-s", "new", *text("Two."), "more")
    equal([m[0] for m in messages(path)],
          ["system", "user", "assistant", "user", "assistant"])
    equal(messages(path)[0], ("system", "new"))


def test_model():
    """the model comes from -m, or else from the session"""
    path = place("c.json")
    allm("-S", path, *text(), "hi")
    run = allm("-S", path, "-o", "adapter_opts", '{"script": [["text", "x"], '
               '["finish", "stop"]]}', "more",
               env={"ALLM_MODEL": "openai:gpt-4.1"})
    equal((run.code, run.out), (0, b"x\n"))
    equal(load(path)["metadata"]["model"], "fake:m")
    run = allm("-S", path, "--dry-run", "-m", "groq:b", "more")
    equal(run.json["body"]["model"], "b")


def test_dry_run():
    """--dry-run neither creates a session nor changes one"""
    path = place("d.json")
    equal(asked(path, "hi"), [("user", "hi")])
    equal(os.path.exists(path), False)


def test_question():
    """a question: exit code 10, a saved session; the next prompt answers"""
    path = place("e.json")
    run = allm("-S", path, *ASKING, "--ask", "paint it")
    one_sentence(run, 10, "Which colour?", path)
    equal(load(path)["status"], "awaiting_user")
    one_sentence(allm("-S", path), 2, "no prompt", "Which colour?")
    run = allm("-S", path, *text("Blue it is."), "--ask", "blue")
    equal((run.code, run.out), (0, b"Blue it is.\n"))
    equal(messages(path)[-2:], [("user", "blue"),
                                ("assistant", "Blue it is.")])
    run = allm(*ASKING, "--ask", "--json", "paint it")
    equal((run.code, run.json["exit_code"], run.json["halted_reason"]),
          (10, 10, "ask_user"))
    one_sentence(allm(*ASKING, "--ask", "paint it"), 10, "-S FILE")


def test_tools():
    """calls that only a program can run: exit code 10, then and later"""
    path = place("f.json")
    run = allm("-S", path, *MANUAL, "hi")
    equal((run.code, load(path)["status"]), (10, "awaiting_tools"))
    before = open(path, "rb").read()
    one_sentence(allm("-S", path, *text(), "go on"), 10, "weather")
    equal(open(path, "rb").read(), before)


def test_failed():
    """a response that fails before its first word changes no session"""
    path = place("g.json")
    equal(allm("-S", path, *fake(["preflight_error", "rate_limited"]),
               "hi").code, 3)
    equal(os.path.exists(path), False)
    allm("-S", path, *text("One."), "hi")
    before = open(path, "rb").read()
    equal(allm("-S", path, *fake(["preflight_error", "network_error"]),
               "more").code, 3)
    equal(open(path, "rb").read(), before)


def test_failed_later():
    """one that fails later is saved, and the user can continue"""
    path = place("h.json")
    allm("-S", path, *text("One."), "hi")
    run = allm("-S", path, *fake(["text", "par"], ["error", "rate_limited"]),
               "more")
    equal((run.code, run.out), (3, b"par\n"))
    equal(load(path)["status"], "error")
    run = allm("-S", path, *text("Three."), "more")
    equal((run.code, run.out), (0, b"Three.\n"))
    holds(run.said, "the last answer failed")
    equal(load(path)["status"], "completed")
    equal(messages(path), [("user", "hi"), ("assistant", "One."),
                           ("user", "more"), ("assistant", "par"),
                           ("user", "more"), ("assistant", "Three.")])
    path = place("h2.json")     # no text has arrived: the prompt is dropped
    equal(allm("-S", path, *fake(["error", "rate_limited"]), "hi").code, 3)
    equal(load(path)["status"], "error")
    equal(asked(path, "again"), [("user", "again")])


def test_interrupted():
    """Ctrl-C keeps the session, and saves the text as a draft"""
    path = place("i.json")
    allm("-S", path, *text("One."), "hi")
    child = subprocess.Popen(
        [ALLM, "-S", path, *fake(["text", "begun"], ["delay", 60000],
                                 ["finish", "stop"]), "more"],
        env=CLEAN, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
    equal(os.read(child.stdout.fileno(), 100), b"begun")
    one_sentence(allm("-S", path, *text(), "me, too"), 11, "in use")
    child.send_signal(signal.SIGINT)
    child.communicate(timeout=20)
    equal(child.returncode, 130)
    equal(messages(path), [("user", "hi"), ("assistant", "One.")])
    equal(load(path)["metadata"]["cancelled_input"], "more")
    equal(allm("-S", path, *text("Two."), "again").out, b"Two.\n")
    equal(os.path.exists(path + ".lock"), False)


def test_killed():
    """a killed program leaves the session unchanged and usable"""
    path = place("k.json")
    allm("-S", path, *text("One."), "hi")
    before = open(path, "rb").read()
    child = subprocess.Popen(
        [ALLM, "-S", path, *fake(["text", "begun"], ["delay", 60000],
                                 ["finish", "stop"]), "more"],
        env=CLEAN, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
    equal(os.read(child.stdout.fileno(), 100), b"begun")
    child.kill()
    child.communicate(timeout=20)
    equal(open(path, "rb").read(), before)
    equal(allm("-S", path, *text("Two."), "more").out, b"Two.\n")


def test_large():
    """a session can have a message of 10 MB"""
    path = place("l.json")
    equal(allm("-S", path, *text("One."), stdin=b"x" * 10_000_000).code, 0)
    equal(allm("-S", path, *text("Two."), "more").out, b"Two.\n")
    equal([len(m[1]) for m in messages(path)], [10_000_000, 4, 4, 4])


def test_broken_pipe():
    """output pipe closed: the session is unchanged, and not locked"""
    path = place("p.json")
    allm("-S", path, *text("One."), "hi")
    ours, theirs = os.pipe()
    os.close(ours)
    done = subprocess.run([ALLM, "-S", path, *text("x" * 100000), "more"],
                          env=CLEAN, stdout=theirs, stderr=subprocess.PIPE,
                          stdin=subprocess.DEVNULL, check=False)
    os.close(theirs)
    equal((done.returncode, done.stderr), (141, b""))
    equal(messages(path)[:2], [("user", "hi"), ("assistant", "One.")])
    equal(allm("-S", path, *text("Two."), "more").code, 0)


def test_damaged():
    """a file that is not a session: exit code 11, and unchanged"""
    good = place("good.json")
    allm("-S", good, *text(), "hi")
    whole = open(good, "rb").read()
    rows = [
        ("cut.json", whole[:-20], "damaged"),
        ("empty.json", b"", "damaged"),
        ("text.json", b"hello", "damaged"),
        ("binary.json", b"\x7fELF\0\xff", "damaged"),
        ("other.json", b'{"a": 1}', ""),
        ("thread.json", b'{"__type__": "ALLM.Thread", "data": {"messages": '
         b'[]}}', "something else"),
        ("version.json", whole.replace(b"ALLM.Session", b"ALLM.Session9"),
         "something else"),
        ("newer.json", b'{"version": 99, "session": {}}', ""),
        ("status.json", whole.replace(b'"completed"', b'"sleeping"'),
         "status"),
    ]
    for name, content, word in rows:
        path = file(name, content)
        one_sentence(allm("-S", path, *text(), "hi"), 11, name, word)
        one_sentence(allm("chat", "-S", path, *text()), 11, name, word)
        one_sentence(allm("-S", path), 11, name, word)
        said = allm("-S", path, "hi").said
        assert "allm_" not in said and "`" not in said, said
        equal(open(path, "rb").read(), content)
        equal(os.path.exists(path + ".lock"), False)


def test_bad_places():
    """a file that cannot be read or written: exit code 11, one sentence"""
    one_sentence(allm("-S", os.path.join(HOME, "none", "s.json"), *text(),
                      "hi"), 11, "none/s.json")
    one_sentence(allm("-S", HOME, *text(), "hi"), 11, HOME)
    one_sentence(allm("-S", "", *text(), "hi"), 2, "-S needs")
    if os.path.exists("/proc/self/status"):
        one_sentence(allm("-S", "/proc/self/none", *text(), "hi"), 11,
                     "/proc/self/none")


def test_other_names():
    """a symbolic link stays one; a pipe is rejected without blocking"""
    path, link, pipe = place("real.json"), place("link.json"), place("pipe")
    os.symlink("real.json", link)
    for answer in ("One.", "Two."):
        equal(allm("-S", link, *text(answer), "hi").code, 0)
    equal((os.path.islink(link), len(messages(path))), (True, 4))
    os.mkfifo(pipe)
    one_sentence(allm("-S", pipe, *text(), "hi", timeout=10), 11,
                 "not a regular file")
    equal(os.path.exists(pipe + ".lock"), False)


def test_json():
    """--json and --events work with a session, too"""
    path = place("j.json")
    equal(allm("-S", path, *text("One."), "--json", "hi").json["text"], "One.")
    lines = allm("-S", path, *text("Two."), "--events", "more").lines
    equal(lines[-1]["type"], "chat_completed")
    equal(len(messages(path)), 4)


def test_no_folder():
    """a session in a missing folder: what failed, why, what to do"""
    one_sentence(allm("-m", "fake:m", "-S", "/nowhere/x.session", "hi"), 11,
                 "cannot be locked: there is no such file or folder; check its "
                 "folder and the permissions")


if __name__ == "__main__":
    main(globals())
