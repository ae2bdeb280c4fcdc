#!/usr/bin/env python3
"""refuse - a batch whose provider answers 429 for a while, then works

usage: tests/batch/refuse.py ALLM [SECONDS]

Nothing says when it will work again, so the program has to find out: with few
requests, and without giving up the rows of a batch.  A batch of a single row
gives up after --retry attempts: the row is transient, and the next run asks
again.
"""
import json
import os
import subprocess
import sys
import tempfile
import time

from server import Server


def refuse_for(seconds):
    """A server that refuses until this time has passed since the first
    request."""
    began = []

    def script(prompt, count):
        began.append(time.monotonic())
        return 429 if began[-1] - began[0] < seconds else None
    return Server(script=script)


def run(allm, env, count, retry, out):
    lines = "".join(json.dumps({"id": f"{i}", "prompt": f"p{i}"}) + "\n"
                    for i in range(count))
    done = subprocess.run([allm, "batch", "-q", "-m", "vllm:m", "--retry",
                           str(retry), "-O", out], input=lines.encode(),
                          env=env, check=False)
    with open(out, encoding="utf-8") as source:
        return done.returncode, [json.loads(line) for line in source]


def refuse_and_answer(seconds, folder, allm, env, retry=5):
    """All rows of a batch get their answers.  Returns the refusals."""
    out = os.path.join(tempfile.mkdtemp(dir=folder), "out")
    with refuse_for(seconds) as server:
        code, rows = run(allm, {**env, **server.env}, 40, retry, out)
    assert code == 0, code
    assert sorted(int(row["id"]) for row in rows) == list(range(40)), rows
    assert all(row["ok"] for row in rows), rows
    sent = sum(row["attempts"] for row in rows)
    assert sent == sum(server.asked.values()) == 40 + server.statuses[429]
    assert server.statuses[429] <= 16 + 8 + 4 + 2 + 8, server.statuses
    return server.statuses[429]


def refuse_and_resume(seconds, folder, allm, env, retry=5):
    """A row that is refused too often is transient: run it again."""
    out = os.path.join(tempfile.mkdtemp(dir=folder), "out")
    with refuse_for(seconds) as server:
        env = {**env, **server.env}
        code, rows = run(allm, env, 1, retry, out)
        assert (code, rows[-1]["exit_code"], rows[-1]["attempts"]) == \
            (3, 3, retry + 1), (code, rows)
        assert rows[-1]["error"]["reason"] == "rate_limited", rows
        while code == 3:
            code, rows = run(allm, env, 1, retry, out)
        assert (code, rows[-1]["ok"]) == (0, True), (code, rows)


if __name__ == "__main__":
    program = os.path.abspath(sys.argv[1])
    length = float(sys.argv[2]) if len(sys.argv) > 2 else 60
    with tempfile.TemporaryDirectory() as home:
        clean = {"HOME": home, "PATH": os.environ["PATH"]}
        refused = refuse_and_answer(length, home, program, clean)
        print(f"40 rows, refused for {length:g} s: all answered, "
              f"{refused} refusals")
        refuse_and_resume(length, home, program, clean)
        print(f"1 row, refused for {length:g} s: answered by a later run")
