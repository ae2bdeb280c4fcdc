#!/usr/bin/env python3
"""test_schedulers - batches in many processes: GNU parallel and Slurm"""
import json
import os
import subprocess
import sys
import tempfile

from program import (ALLM, CLEAN, HOME, SOURCE, Skip, equal, file, main, need)

sys.path.insert(0, os.path.join(SOURCE, "tests", "batch"))
from server import Server           # noqa: E402

ROWS = 60


def need_parallel():
    """moreutils has another program with this name."""
    need("parallel")
    done = subprocess.run(["parallel", "--version"], capture_output=True,
                          check=False, env=CLEAN)
    if not done.stdout.startswith(b"GNU parallel"):
        raise Skip("parallel is not GNU parallel")


def source():
    return file("many.jsonl", "".join(
        json.dumps({"id": f"r{i}", "prompt": f"word {i}"}) + "\n"
        for i in range(ROWS)))


def shell(line, server, folder):
    """Run a line of the manual, in which allm is the program of the build."""
    path = os.path.join(folder, "bin")
    os.makedirs(path, exist_ok=True)
    os.symlink(ALLM, os.path.join(path, "allm"))
    env = {**CLEAN, **server.env, "ALLM_MODEL": "vllm:m", "SHELL": "/bin/sh",
           "PATH": path + ":" + CLEAN["PATH"]}
    done = subprocess.run(["sh", "-c", line], cwd=folder, env=env, timeout=120,
                          capture_output=True, check=False)
    assert done.returncode == 0, (done.returncode, done.stderr)


def check_rows(folder, server, files):
    """Every id was answered once, in so many files."""
    names = [name for name in os.listdir(folder) if name.startswith("out")]
    equal(len(names), files)
    rows = []
    for name in names:
        with open(os.path.join(folder, name), encoding="utf-8") as out:
            rows += [json.loads(line) for line in out]
    equal(sorted(row["id"] for row in rows),
          sorted(f"r{i}" for i in range(ROWS)))
    equal((all(row["ok"] for row in rows), sum(server.asked.values())),
          (True, ROWS))


def test_parallel_shards():
    """GNU parallel runs a process for each shard of a file"""
    need_parallel()
    folder = tempfile.mkdtemp(dir=HOME)
    with Server() as server:
        shell("export ALLM_SHARDS=8\n"
              "seq 8 | parallel -N0 -j 8 \"allm batch --shard auto "
              f"{source()} -O out-%s.jsonl\"", server, folder)
        check_rows(folder, server, 8)


def test_parallel_pipe():
    """a batch is a filter for GNU parallel --pipe"""
    need_parallel()
    folder = tempfile.mkdtemp(dir=HOME)
    with Server() as server:
        shell("parallel --pipe --block 500 allm batch - "
              f"<{source()} >out.jsonl", server, folder)
        check_rows(folder, server, 1)


if __name__ == "__main__":
    main(globals())
