#!/usr/bin/env python3
"""test_work - allm send and allm work: sessions that a worker runs"""
import json
import os
import select
import signal
import subprocess
import tempfile
import time

from database import Database
from program import (ALLM, CLEAN, HOME, allm, equal, fake, file, holds, main,
                     one_sentence, scripts, text)

SLOW = fake(["text", "begun"], ["delay", 60000], ["finish", "stop"])


def fresh():
    return {"ALLM_STORE": "sqlite:" + os.path.join(
        tempfile.mkdtemp(dir=HOME), "s.db")}


def answers(words, *before):
    """A model that gives the same answer to 50 calls."""
    return scripts(*[[*before, ["text", words], ["finish", "stop"]]] * 50)


def send(name, *words, env, queue="q"):
    equal(allm("send", name, "--queue", queue, *words, env=env).code, 0)


def work(*args, env):
    return allm("work", "--queue", "q", "--once", *args, env=env)


class Worker:
    """allm work in the background."""

    def __init__(self, *args, env):
        self.child = subprocess.Popen(
            [ALLM, "work", "--queue", "q", *args], env={**CLEAN, **env},
            cwd=HOME, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE)
        self.said = b""

    def until(self, words, seconds=60):
        limit = time.monotonic() + seconds
        while words not in self.said:
            left = limit - time.monotonic()
            assert left > 0, (words, self.said)
            if select.select([self.child.stderr], [], [], left)[0]:
                self.said += os.read(self.child.stderr.fileno(), 4096)

    def end(self, number):
        self.child.send_signal(number)
        out, err = self.child.communicate(timeout=60)
        equal(out, b"")
        self.said += err
        return self.child.returncode


def sessions(env):
    return {s["name"]: s for s in
            allm("sessions", "--json", env=env).json["sessions"]}


def until_held(name, env):
    """Wait until a worker runs the session."""
    limit = time.monotonic() + 60
    while not sessions(env).get(name, {}).get("holder"):
        assert time.monotonic() < limit, sessions(env)


def show(name, env):
    return allm("sessions", "show", name, env=env).text


def test_once():
    """messages that were sent are answered; several become one operation"""
    env = fresh()
    send("a", "one", env=env)
    send("a", "two", env=env)
    send("b", "three", env=env)
    send("other", "x", env=env, queue="another")
    run = work(*answers("Hello."), env=env)
    equal((run.code, run.out), (0, b""))
    holds(run.said, "a: completed\n", "b: completed\n")
    equal(show("a", env), "user: one\nuser: two\nassistant: Hello.\n")
    equal(show("b", env), "user: three\nassistant: Hello.\n")
    equal(work(*text(), env=env).said, "")
    send("a", "again", env=env)
    equal(work("-q", "-o", "adapter_opts",
               '{"script": [["text", "Yes."], ["finish", "stop"]]}',
               env=env).err, b"")        # the session knows its model
    equal(show("a", env).splitlines()[-1], "assistant: Yes.")


def test_send():
    """send reads standard input, and rejects what cannot be sent"""
    env = fresh()
    run = allm("send", "a", "and", "this", stdin="piped\n", env=env)
    equal((run.code, run.out), (0, b""))
    holds(run.said, "the message waits", "allm sessions resume a", "--queue")
    equal(allm("send", "b", "--queue", "q", "hi", env=env).err, b"")
    run = allm("sessions", "resume", "a", *text(), env=env)
    equal((run.code, run.out), (0, b"Hello.\n"))
    equal(show("a", env), "user: piped\n\nand this\nassistant: Hello.\n")
    equal(allm("send", "a", "more", env=env).err, b"")
    one_sentence(allm("send", env=env), 2, "usage: allm send")
    one_sentence(allm("send", "a", env=env), 2, "no prompt")
    one_sentence(allm("send", "a b", "hi", env=env), 2, "name")
    equal(allm("send", "n", "-a", file("note.txt", "line\n"), "hi",
               env=env).code, 0)


def test_many():
    """ten sessions run at the same time, with -j 10, in one process"""
    env = fresh()
    for i in range(10):
        send(f"s{i}", "hi", env=env)
    begin = time.monotonic()
    run = work("-j", "10", *answers("x", ["delay", 1000]), env=env)
    equal(run.code, 0)
    assert time.monotonic() - begin < 8, "one after the other"
    equal({s["status"] for s in sessions(env).values()}, {"completed"})
    one_sentence(work("-j", "999", env=env), 2, "-j")
    one_sentence(work("-j", "0", env=env), 2, "--jobs")
    for flag in ("--grace", "--lease"):
        one_sentence(work(flag, "soon", env=env), 2, flag, "soon")
    one_sentence(work("--lease", "0", env=env), 2, "--lease")


def test_term():
    """SIGTERM: sessions that end within --grace end, others are released"""
    env = fresh()
    send("a", "hi", env=env)
    worker = Worker("--grace", "30", *fake(["delay", 1500], ["text", "x"],
                                           ["finish", "stop"]), env=env)
    until_held("a", env)
    equal(worker.end(signal.SIGTERM), 143)
    holds(worker.said.decode(), "a: completed")
    send("a", "more", env=env)
    worker = Worker("--grace", "0.1", *SLOW, env=env)
    until_held("a", env)
    equal(worker.end(signal.SIGTERM), 143)
    holds(worker.said.decode(), "a: released")
    equal(sessions(env)["a"]["broken_off"], True)
    equal(work(*text("Done."), env=env).code, 0)
    equal(show("a", env).splitlines()[-2:],
          ["user: more", "assistant: Done."])


def test_killed():
    """kill -9 of a worker: the next one continues at once"""
    env = fresh()
    send("a", "hi", env=env)
    worker = Worker(*SLOW, env=env)
    until_held("a", env)
    equal(worker.end(signal.SIGKILL), -9)
    equal(sessions(env)["a"]["broken_off"], True)
    run = work(*text("Done."), env=env)
    equal((run.code, run.said), (0, "a: completed\n"))
    equal(show("a", env), "user: hi\nassistant: Done.\n")


def test_killed_and_sent():
    """--once also answers what was sent to a session that it continues"""
    env = fresh()
    send("a", "one", env=env)
    worker = Worker(*SLOW, env=env)
    until_held("a", env)
    equal(worker.end(signal.SIGKILL), -9)
    send("a", "two", env=env)
    run = work(*answers("Done."), env=env)
    equal((run.code, run.said), (0, "a: completed\n" * 2))
    equal(show("a", env), "user: one\nassistant: Done.\n"
          "user: two\nassistant: Done.\n")


def test_wait():
    """a worker waits for messages, and answers them when they are sent"""
    env = fresh()
    worker = Worker(*answers("Hello."), env=env)
    for i in range(3):
        send(f"s{i}", "hi", env=env)
        worker.until(f"s{i}: completed".encode())
    equal(worker.end(signal.SIGINT), 130)


def test_human():
    """a session that waits for a person is left alone"""
    env = fresh()
    send("a", "paint it", env=env)
    asking = fake(["tool_call", {"id": "a", "name": "ask_user",
                                 "arguments": {"question": "Which?"}}],
                  ["finish", "tool_calls"])
    equal(work("--ask", *asking, env=env).code, 0)
    equal(sessions(env)["a"]["waits"], "user")
    equal(work(*text(), env=env).said, "")
    run = allm("-S", "a", *text("Blue."), "blue", env=env)
    equal((run.code, run.out), (0, b"Blue.\n"))


def test_failing():
    """a session that cannot begin is reported once, and stays due"""
    env = fresh()
    send("a", "hi", env=env)
    run = work("-m", "openai:gpt-4.1", env=env)
    equal((run.code, run.said.count("\n")), (4, 1))
    equal(work(*text(), env=env).code, 0)
    equal(sessions(env)["a"]["status"], "completed")
    send("a", "more", env=env)      # an error ends the operation
    equal(work(*fake(["text", "par"], ["error", "rate_limited"]),
               env=env).code, 3)
    equal(sessions(env)["a"]["status"], "error")
    equal(work(*text(), env=env).said, "")
    send("a", "again", env=env)
    equal(work(*text("Well."), env=env).code, 0)
    equal(show("a", env).splitlines()[-1], "assistant: Well.")


def test_own_provider():
    """a worker uses a provider of the settings as every call does"""
    script = [["text", "Yes."], ["finish", "stop"]]
    env = {**fresh(), "ALLM_CONFIG": file("own.json", json.dumps(
        {"providers": {"corp": {"like": "fake"}},
         "options": {"corp:*": {"adapter_opts": {"script": script}}}}))}
    send("a", "hi", env=env)
    equal(work("-m", "corp:x", env=env).code, 0)
    equal(show("a", env).splitlines()[-1], "assistant: Yes.")
    send("a", "again", env=env)
    equal(work(env=env).code, 0)
    env["ALLM_CONFIG"] = file("away.json", json.dumps(
        {"providers": {"corp": {"like": "openai", "key": "k",
                                "base_url": "http://127.0.0.1:9"}}}))
    send("a", "more", env=env)
    holds(work(env=env).said, "127.0.0.1:9")


def test_all_failing():
    """--once ends also when none of its -j sessions can begin"""
    env = fresh()
    send("a", "hi", env=env)
    send("b", "hi", env=env)
    run = work("-m", "openai:gpt-4.1", "-j", "1", env=env)
    equal((run.code, run.said.count("\n")), (4, 1))


def test_three_workers():
    """three workers, one killed: all sessions end, each answered once"""
    env = fresh()
    count = 30
    for i in range(count):
        send(f"s{i}", "hi", env=env)
    slow = answers("x", ["delay", 50])
    workers = [Worker("-j", "2", *slow, env=env) for i in range(3)]
    workers[0].until(b"completed")
    equal(workers[0].end(signal.SIGKILL), -9)
    limit = time.monotonic() + 120
    while [s["status"] for s in sessions(env).values()] != \
            ["completed"] * count:
        assert time.monotonic() < limit, sessions(env)
    for worker in workers[1:]:
        equal(worker.end(signal.SIGTERM), 143)
    for i in range(count):
        equal(show(f"s{i}", env), "user: hi\nassistant: x\n")


def test_follow():
    """sessions follow prints what another process runs, as it happens"""
    env = fresh()
    slow = fake(["text", "begun "], ["delay", 1500], ["text", "done"],
                ["finish", "stop"])
    send("a", "hi", env=env)
    worker = Worker(*slow, env=env)
    until_held("a", env)
    run = allm("sessions", "follow", "a", env=env)
    equal((run.code, run.out), (0, b"begun done\n"))
    worker.end(signal.SIGTERM)
    lines = allm("sessions", "follow", "a", "--from", "0", "--events",
                 env=env).lines
    equal(lines[0]["type"], "session_changed")
    middle = lines[len(lines) // 2]["cursor"]
    rest = allm("sessions", "follow", "a", "--from", middle, "--events",
                env=env).lines
    equal([e["cursor"] for e in rest],
          [e["cursor"] for e in lines[len(lines) // 2 + 1:]])
    one_sentence(allm("sessions", "follow", "a", "--from", "x", env=env), 2,
                 "cursor")
    one_sentence(allm("sessions", "follow", "nobody", env=env), 2, "nobody")
    for gone in ("99", "99.1", "2.99"):
        one_sentence(allm("sessions", "follow", "a", "--from", gone, env=env),
                     1, gone, 'continue from "')


def test_send_wait():
    """send --wait prints the answer; a question is exit code 10"""
    env = fresh()
    worker = Worker("--ask", *scripts(
        [["text", "One."], ["finish", "stop"]],
        [["tool_call", {"id": "a", "name": "ask_user",
                        "arguments": {"question": "Which?"}}],
         ["finish", "tool_calls"]]), env=env)
    run = allm("send", "a", "--queue", "q", "--wait", "hi", env=env)
    equal((run.code, run.out, run.err), (0, b"One.\n", b""))
    run = allm("send", "a", "--wait", "paint", env=env)
    one_sentence(run, 10, "Which?", "allm -S a")
    worker.end(signal.SIGTERM)


def test_send_wait_cancelled():
    """send --wait of a call that somebody cancels is exit code 1"""
    env = fresh()
    worker = Worker(*SLOW, env=env)
    child = subprocess.Popen([ALLM, "send", "a", "--queue", "q", "--wait",
                              "hi"], env={**CLEAN, **env}, cwd=HOME,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    equal(os.read(child.stdout.fileno(), 100), b"begun")
    equal(allm("sessions", "cancel", "a", env=env).code, 0)
    err = child.communicate(timeout=60)[1]
    equal((child.returncode, err), (1, b"allm: the call was cancelled\n"))
    worker.end(signal.SIGTERM)


def test_send_wait_approval():
    """send --wait of a call that somebody must approve is exit code 10"""
    env = fresh()
    path = file("put", "#!/bin/sh\necho ok\n")
    os.chmod(path, 0o755)
    file("put.json", '{"name": "put", "description": "Puts."}')
    worker = Worker("--tool", path, "--approve", "put=ask", *fake(
        ["tool_call", {"id": "c", "name": "put", "arguments": {}}],
        ["finish", "tool_calls"]), env=env)
    run = allm("send", "a", "--queue", "q", "--wait", "hi", env=env)
    equal((run.code, run.out), (10, b""))
    holds(run.said, "put")
    worker.end(signal.SIGTERM)


def test_send_wait_pruned():
    """send --wait follows a session whose journal was pruned, too"""
    env = fresh()
    for words in ("one", "two"):
        send("a", words, env=env)
        equal(work(*text(), env=env).code, 0)
    equal(allm("sessions", "prune", "--older", "0.001", "--journal",
               env=env).out, b"a\n")
    worker = Worker(*text("Three."), env=env)
    run = allm("send", "a", "--wait", "more", env=env)
    equal((run.code, run.out, run.err), (0, b"Three.\n", b""))
    worker.end(signal.SIGTERM)


def test_postgres():
    """the same on PostgreSQL: sessions, send, work, kill -9, resume"""
    database = Database()
    env = {"ALLM_STORE": database.uri}
    try:
        run = allm("-S", "a", *text("One."), "hi", env=env)
        equal((run.code, run.out, run.err), (0, b"One.\n", b""))
        send("a", "more", env=env)
        equal(work(*text("Two."), env=env).code, 0)
        equal(show("a", env), "user: hi\nassistant: One.\n"
              "user: more\nassistant: Two.\n")
        send("a", "third", env=env)
        worker = Worker("--lease", "1", *SLOW, env=env)
        until_held("a", env)
        equal(worker.end(signal.SIGKILL), -9)
        worker = Worker(*text("Three."), env=env)
        worker.until(b"a: completed")
        equal(worker.end(signal.SIGTERM), 143)
        equal(show("a", env).splitlines()[-1], "assistant: Three.")
        equal(allm("sessions", "verify", env=env).code, 0)
        schema = allm("sessions", "schema", env=env).text
        holds(schema, "bigint")
        holds(allm("doctor", env=env).text, "postgresql://")
        database.stop()
        equal(allm("-S", "a", *text(), "hi", env=env).code, 3)
        equal(allm("sessions", "schema", env=env).text, schema)
        database.start()
        equal(allm("sessions", "rm", "a", env=env).code, 0)
        equal(sessions(env), {})
    finally:
        database.remove()


if __name__ == "__main__":
    main(globals())
