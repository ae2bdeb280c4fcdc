#!/usr/bin/env python3
"""kill - kill a chat at every commit and every write, then continue it

usage: kill.py AGENT [--some]

  --some   a tenth of the kill points, chosen by ALLM_SEED

In every run: a new process ends the chat; no recorded result is lost; no write
happens twice, unless somebody decided so; the session, the steps and the usage
are those of the run that nobody killed, or differ only by the settled call.
"""
import itertools
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile

HOWS = ("truth", "happened", "not", "again")


class Run:
    """One store, one file of writes, and the processes that use them."""

    def __init__(self, agent, how):
        self.agent = agent
        self.how = how
        self.folder = tempfile.mkdtemp(prefix="allm-kill-")
        self.store = "sqlite:" + os.path.join(self.folder, "s.db")
        self.notes = os.path.join(self.folder, "notes")
        self.out = []

    def start(self, death=None):
        """Run the agent; True: it was killed."""
        command = [self.agent, self.store, self.notes, self.how]
        done = subprocess.run(command + ([death] if death else []),
                              capture_output=True, text=True, timeout=120,
                              check=False)
        self.out += done.stdout.splitlines()
        if done.returncode not in (0, -signal.SIGKILL):
            raise AssertionError(f"exit {done.returncode}: {done.stderr}")
        return done.returncode != 0

    def lines(self):
        if not os.path.exists(self.notes):
            return []
        with open(self.notes, encoding="utf-8") as source:
            return [line.rstrip("\n") for line in source]

    def word(self, word):
        """The rest of the lines that begin with this word."""
        return [line[len(word) + 1:] for line in self.out
                if line.startswith(word + " ")]

    def end(self):
        shutil.rmtree(self.folder)


def written(lines):
    """The arguments of the writes; their keys differ from run to run."""
    return sorted(line.split(" ", 1)[1] for line in lines)


def count_commits(agent):
    """How many commits a whole run makes."""
    for n in itertools.count(1):
        run = Run(agent, "truth")
        killed = run.start(f"{n}-")
        run.end()
        if not killed:
            return n - 1
    return 0


def whole(agent):
    run = Run(agent, "truth")
    assert not run.start()
    verified(run)
    run.end_lines = written(run.lines())
    run.end()
    assert len(run.end_lines) == 6, run.end_lines
    return run


def verified(run):
    report = json.loads(run.word("verify")[-1])
    assert report["ok"], report


def results(run):
    return [json.loads(line) for line in
            run.word("reply") + run.word("continue")]


def check(run, good, how):
    """The end of a run that was killed and continued."""
    verified(run)
    settled = run.word("settled")
    lines = written(run.lines())
    twice = len(lines) - len(set(lines))
    if how == "truth" or not settled:
        assert lines == good.end_lines, (lines, good.end_lines)
        assert run.word("session") == good.word("session")
        for result in results(run):
            assert result in results(good), result
        return
    assert twice <= (len(settled) if how == "again" else 0), lines
    thread = json.loads(run.word("session")[0])["data"]["thread"]["data"]
    expected = json.loads(good.word("session")[0])["data"]["thread"]["data"]
    assert len(thread["messages"]) == len(expected["messages"])
    if how == "not":
        return
    assert run.word("session") == good.word("session")


def kill_at(agent, good, how, death):
    """False: there is no such point."""
    run = Run(agent, how)
    try:
        if not run.start(death):
            return False
        assert not run.start()
        check(run, good, how)
        return True
    except AssertionError as error:
        raise SystemExit(f"kill: {how}, {death}: {error}") from error
    finally:
        run.end()


def points(commits):
    for unit, most in (("", commits), ("t", 6)):
        for n in range(1, most + 1):
            for side in "-+":
                yield f"{unit}{n}{side}"


def has_sqlite(agent):
    """Was the library built with SQLite?"""
    run = Run(agent, "truth")
    command = [agent, run.store, run.notes, "truth"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    run.end()
    return "unsupported_store" not in done.stderr


def main():
    agent = sys.argv[1]
    if not has_sqlite(agent):
        print("0 passed, 0 failed, 1 skipped")
        return
    good = whole(agent)
    todo = list(itertools.product(HOWS, points(count_commits(agent))))
    if "--some" in sys.argv:
        seed = int(os.environ.get("ALLM_SEED", "0")) or random.randrange(10**9)
        print(f"# ALLM_SEED={seed}")
        todo = random.Random(seed).sample(todo, len(todo) // 10)
    done = sum(kill_at(agent, good, how, death) for how, death in todo)
    print(f"# {done} kill points")
    print(f"{done} passed, 0 failed")


if __name__ == "__main__":
    main()
