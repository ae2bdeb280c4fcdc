#!/usr/bin/env python3
"""kill - a batch that is killed at random times and resumed

usage: tests/batch/kill.py ALLM [ROWS [KILLS [SEED]]]

The server delays, refuses and breaks off.  In the end every id has an answer,
and no id was requested again once its row was in OUT.
"""
import json
import os
import random
import subprocess
import sys
import tempfile

from server import Server


def done_ids(path):
    """The prompts of all rows with an answer, as far as they are complete."""
    if not os.path.exists(path):
        return {}
    with open(path, "rb") as out:
        whole = out.read().rpartition(b"\n")[0]
    rows = [json.loads(line) for line in whole.splitlines()]
    return {row["id"]: row for row in rows if row["ok"]}


def kill_and_resume(count, kills, seed, folder, allm, env):
    chance = random.Random(seed)
    folder = tempfile.mkdtemp(dir=folder)
    source, out = (os.path.join(folder, name) for name in ("in", "out"))
    with open(source, "w", encoding="utf-8") as lines:
        for i in range(count):
            lines.write(json.dumps({"id": f"{i}", "prompt": f"p{i}"}) + "\n")
    command = [allm, "batch", "-q", "-m", "vllm:m", "-j", "32", "--retry",
               "20", source, "-O", out]
    with Server(delay=0.002, refuse=0.02, cut=0.02, seed=seed) as server:
        fixed = {}          # prompt -> requests when its row was there
        for turn in range(kills + 1):
            run = subprocess.Popen(command, env={**env, **server.env})
            before = len(done_ids(out))
            target = before + chance.randrange(
                1, 2 * max(1, (count - before) // (kills + 1 - turn)))
            while turn < kills and run.poll() is None and \
                    sum(server.answered.values()) < target + turn:
                try:
                    run.wait(timeout=chance.random() / 50)
                except subprocess.TimeoutExpired:
                    pass
            if turn < kills:
                run.kill()
            code = run.wait()
            for name in done_ids(out):
                prompt = f"p{name}"
                if prompt in fixed:
                    assert server.asked[prompt] == fixed[prompt], \
                        f"{prompt} was requested again"
                fixed[prompt] = server.asked[prompt]
        assert code == 0, f"exit code {code}"
        done = done_ids(out)
        assert len(done) == count, f"{count - len(done)} rows are lost"
        for name, row in done.items():
            assert row["text"] == f"P{name}", row
    return sum(server.asked.values())


def main():
    allm, *numbers = sys.argv[1:]
    count, kills, seed = [*map(int, numbers), 100000, 30, 1][:3] \
        if not numbers else [*map(int, numbers), 30, 1][:3]
    with tempfile.TemporaryDirectory() as folder:
        asked = kill_and_resume(count, kills, seed, folder, allm,
                                {"PATH": os.environ["PATH"]})
    print(f"{count} rows, {kills} kills, {asked} requests: none lost")
    print("1 passed, 0 failed")


if __name__ == "__main__":
    main()
