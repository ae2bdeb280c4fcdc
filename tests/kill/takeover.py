#!/usr/bin/env python3
"""takeover - workers that are killed, stopped and cut off from their server

usage: takeover.py WORKER STORE [--some]

  STORE    the URI of an empty store, as with_store replaces it
  --some   20 sessions in place of 200

Three workers run all sessions.  Every second one of them is killed and another
one starts; one is stopped for longer than its lease lasts, and wakes later;
the server crashes and starts again.  At the end every session has ended, every
write happened exactly once or was settled, and the store is in order.
"""
import collections
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

WRITES = 3          # of each session
STOPPED_S = 5       # the lease of a worker lasts 2 seconds
LIMIT_S = 240


class Workers:
    """Three processes, and one that may be stopped."""

    def __init__(self, command, chance):
        self.command = command
        self.chance = chance
        self.running = [self.start() for _ in range(3)]
        self.stopped = None
        self.kills = 0

    def start(self):
        return subprocess.Popen(self.command, stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE)

    def check(self):
        for worker in self.running:
            if worker.poll() is not None:
                raise SystemExit("takeover: a worker has ended: "
                                 f"{worker.stderr.read().decode()}")

    def kill_one(self):
        place = self.chance.randrange(len(self.running))
        self.running[place].kill()
        self.running[place].wait()
        self.running[place] = self.start()
        self.kills += 1

    def stop_one(self):
        """Another worker takes its place; it wakes later."""
        self.stopped = self.running[0]
        self.stopped.send_signal(signal.SIGSTOP)
        self.running[0] = self.start()

    def wake(self):
        self.running.append(self.stopped)
        self.stopped.send_signal(signal.SIGCONT)

    def end(self):
        for worker in {*self.running, self.stopped} - {None}:
            worker.kill()
            worker.wait()


def look(command):
    """How many sessions have ended, and the report of verify."""
    done = subprocess.run(command, capture_output=True, text=True,
                          check=False)
    if done.returncode:             # the server is down at the moment
        return 0, {"ok": False, "why": done.stderr}
    count, report = done.stdout.splitlines()
    return int(count.split()[1]), json.loads(report.split(" ", 1)[1])


def run(worker, store, notes, sessions, chance):
    subprocess.run([worker, store, notes, "send", str(sessions)], check=True)
    workers = Workers([worker, store, notes, "work",
                       "300" if sessions > 100 else "50"], chance)
    try:
        return run_until_done(workers, worker, store, notes, sessions)
    finally:
        workers.end()


def run_until_done(workers, worker, store, notes, sessions):
    begin = time.monotonic()
    for second in range(LIMIT_S):
        time.sleep(1)
        workers.check()
        done, report = look([worker, store, notes, "look"])
        if done == sessions and second > STOPPED_S + 2:
            break
        if second == 1:
            workers.stop_one()
        elif second == 1 + STOPPED_S:
            workers.wake()
        elif second % 6 == 3 and store.startswith("postgresql"):
            os.kill(int(os.environ["WITH_STORE"]), signal.SIGUSR1)
        else:
            workers.kill_one()
    print(f"# {workers.kills} kills in {time.monotonic() - begin:.0f} s")
    return done, report


def check(notes, sessions, done, report):
    with open(notes, encoding="utf-8") as source:
        lines = [line.split() for line in source]
    wrote = collections.Counter(k for word, k in lines if word == "wrote")
    settled = {k for word, k in lines if word == "settled"}
    twice = {k for k, n in wrote.items() if n > 1}
    assert done == sessions, f"{done} of {sessions} sessions have ended"
    assert report["ok"], report
    assert len(wrote) == WRITES * sessions, len(wrote)
    assert twice <= settled, twice - settled
    print(f"# {len(settled)} calls were settled")


def main():
    worker, store = sys.argv[1:3]
    seed = int(os.environ.get("ALLM_SEED", "0")) or random.randrange(10**9)
    print(f"# ALLM_SEED={seed}")
    sessions = 20 if "--some" in sys.argv else 200
    with tempfile.TemporaryDirectory(prefix="allm-takeover-") as folder:
        notes = os.path.join(folder, "notes")
        done, report = run(worker, store, notes, sessions,
                           random.Random(seed))
        check(notes, sessions, done, report)
    print(f"{sessions} passed, 0 failed")


if __name__ == "__main__":
    main()
