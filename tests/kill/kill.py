#!/usr/bin/env python3
"""kill - kill a chat at every commit, sync and write, then continue it

usage: kill.py AGENT STORE [--some]

  STORE    the URI of an empty store, as with_store replaces it; "sqlite": each
           run has a file of its own
  --some   a twentieth of the kill points, chosen by ALLM_SEED

In every run: a new process ends the chat; no recorded result is lost; no write
happens twice, unless somebody decided so; the session, the steps and the usage
are those of the run that nobody killed, or differ only by the settled call.
"""
import itertools
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HOWS = ("truth", "happened", "not", "again")


class Run:
    """One session, one file of writes, and the processes that use them."""

    count = 0
    crashed = False             # the server, in any of them

    def __init__(self, place, how):
        self.agent, self.store = place
        self.how = how
        Run.count += 1
        self.name = f"chat{Run.count}"
        self.folder = tempfile.mkdtemp(prefix="allm-kill-")
        if self.store == "sqlite":
            self.store = "sqlite:" + os.path.join(self.folder, "s.db")
        self.notes = os.path.join(self.folder, "notes")
        self.out = []
        self.crashes = False        # the server does

    def start(self, death=None):
        """Run the agent; True: it was killed, or has lost its server."""
        command = [self.agent, self.store, self.name, self.notes, self.how]
        done = subprocess.run(command + ([death] if death else []),
                              capture_output=True, text=True, timeout=120,
                              check=False)
        self.crashes = self.crashes or (death or "")[:1] == "r"
        Run.crashed = Run.crashed or self.crashes
        lost = "store_unreachable" in done.stderr
        if lost and Run.crashed and not self.crashes:
            time.sleep(0.1)         # the server of an earlier run is not back
            return self.start(death)
        self.out += done.stdout.splitlines()
        if lost and self.crashes:
            time.sleep(0.1)
            return True
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

    def session(self):
        """The session at the end, without its name."""
        return re.sub(r'"id":"chat\d+"', '"id":"chat"',
                      self.word("session")[-1])

    def end(self):
        shutil.rmtree(self.folder)


def written(lines):
    """The arguments of the writes; their keys differ from run to run."""
    return sorted(line.split(" ", 1)[1] for line in lines)


def count_commits(place):
    """How many commits a whole run makes."""
    for n in itertools.count(1):
        run = Run(place, "truth")
        killed = run.start(f"c{n}-")
        run.end()
        if not killed:
            return n - 1
    return 0


def whole(place):
    run = Run(place, "truth")
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
        assert run.session() == good.session()
        for result in results(run):
            assert result in results(good), result
        return
    assert twice <= (len(settled) if how == "again" else 0), lines
    thread = json.loads(run.word("session")[0])["data"]["thread"]["data"]
    expected = json.loads(good.word("session")[0])["data"]["thread"]["data"]
    assert len(thread["messages"]) == len(expected["messages"])
    if how == "not":
        return
    assert run.session() == good.session()


def kill_at(place, good, how, death):
    """False: there was no such point.  The number of commits varies, because
    results of tools that end at the same time share one."""
    run = Run(place, how)
    try:
        reached = run.start(death)
        killed = reached
        while killed:
            killed = run.start()
        check(run, good, how)
        return reached or death[0] == "r"
    except AssertionError as error:
        raise SystemExit(f"kill: {how}, {death}: {error}") from error
    finally:
        run.end()


def points(place, good):
    """Every kill point; a sync of the store's own may not be there."""
    commits = count_commits(place)
    syncs = int(good.word("syncs")[0])
    units = [("c", commits), ("t", 6), ("s", syncs)]
    deaths = [f"{unit}{n}{side}" for unit, most in units
              for n in range(1, most + 1) for side in "-+"]
    todo = list(itertools.product(HOWS, deaths))
    if place[1].startswith("postgresql"):   # and the crashes of the server
        todo += [("truth", f"r{n}{side}") for n in range(1, commits + 1)
                 for side in "-+"]
    return todo


def has_store(place):
    """Was the library built with this database?"""
    run = Run(place, "truth")
    command = [place[0], run.store, run.name, run.notes, "truth"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    run.end()
    return "unsupported_store" not in done.stderr


def main():
    place = sys.argv[1], sys.argv[2]
    if not has_store(place):
        print("0 passed, 0 failed, 1 skipped")
        return
    good = whole(place)
    todo = points(place, good)
    if "--some" in sys.argv:
        seed = int(os.environ.get("ALLM_SEED", "0")) or random.randrange(10**9)
        print(f"# ALLM_SEED={seed}")
        todo = random.Random(seed).sample(todo, len(todo) // 20)
    done = sum(kill_at(place, good, how, death) for how, death in todo)
    if done < len(todo) * 3 / 4:
        raise SystemExit(f"kill: only {done} of {len(todo)} points are there")
    print(f"# {done} kill points on {sys.argv[2].split(':')[0]}")
    print(f"{done} passed, 0 failed")


if __name__ == "__main__":
    main()
