#!/usr/bin/env python3
"""test_awake.py - bench/awake.c keeps every core awake, and always ends"""
import os
import select
import subprocess
import sys
import tempfile

ROOT = os.environ.get("SOURCE_DIR", ".")
PATIENCE_MS = 60000     # on a busy machine, what is idle has to wait to end
CORES = len(os.sched_getaffinity(0))


def begin(program):
    """A process that spins on every core, and its children."""
    process = subprocess.Popen([program], stdin=subprocess.PIPE, text=True,
                               stdout=subprocess.PIPE)
    count = int(process.stdout.readline())
    path = "/proc/%d/task/%d/children" % (process.pid, process.pid)
    with open(path) as f:
        children = [int(word) for word in f.read().split()]
    return process, count, children


def ended(children):
    """Have all of them ended, at last?"""
    for child in children:
        waiting = select.poll()
        waiting.register(child, select.POLLIN)
        if not waiting.poll(PATIENCE_MS):
            return False
        os.close(child)
    return True


def ends(program, how):
    """It spins on all cores, and nothing is left once it has ended."""
    process, count, children = begin(program)
    idle = all(os.sched_getscheduler(c) == os.SCHED_IDLE for c in children)
    watched = [os.pidfd_open(c) for c in children]
    how(process)
    process.wait()
    process.stdout.close()
    return ended(watched) and idle and count == len(children) == CORES


def close(process):
    process.stdin.close()


def kill(process):
    process.kill()
    process.stdin.close()


CASES = [
    ("it ends with its standard input", lambda p: ends(p, close)),
    ("nothing is left if it is killed", lambda p: ends(p, kill)),
    ("it ends as its command does", lambda p: subprocess.run(
        [p, "sh", "-c", "exit 7"]).returncode == 7),
    ("a command that is missing", lambda p: subprocess.run(
        [p, "/nonexistent"], stderr=subprocess.DEVNULL).returncode == 127),
]


def main():
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "awake")
        compiler = os.environ.get("CC", "cc").split()
        subprocess.run(compiler + ["-O1", "-std=c11", "-o", program,
                                   os.path.join(ROOT, "bench", "awake.c")],
                       check=True)
        for number, (why, check) in enumerate(CASES, 1):
            good = check(program)
            failed += not good
            print("%s %d - %s" % ("ok" if good else "not ok", number, why))
    print("1..%d" % len(CASES))
    print("%d passed, %d failed" % (len(CASES) - failed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
