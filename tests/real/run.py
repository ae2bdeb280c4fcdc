#!/usr/bin/env python3
"""run - the program and the library against a real llama.cpp server

usage: run.py MODEL.gguf

Starts the server on loopback, shows the program talking to it, runs the checks
of each dialect, and stops the server.  The last line counts the checks.
"""
import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.environ.get("BUILD_DIR", "build/main")
ALLM = os.path.join(BUILD, "allm")
CHECKS = os.path.join(BUILD, "tests", "real_checks")
COUNT = re.compile(r"^(\d+) passed, (\d+) failed$", re.M)

# /v1/messages of this server ignores a schema (docs/providers.md).
DIALECTS = {
    "llamacpp": [],
    "llamacpp_responses": [],
    "llamacpp_anthropic": ["text", "usage", "length", "second turn",
                           "forced tool", "20 streams"],
}


class Server:
    """A llama.cpp server; `purpose` is chat or embed."""

    def __init__(self, model, purpose):
        self.log = open(os.path.join(BUILD, f"real-{purpose}.log"), "wb")
        self.process = subprocess.Popen(
            [sys.executable, os.path.join(HERE, "serve.py"), model, purpose],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log)
        self.address = ""
        for line in self.process.stdout:
            if line.startswith(b"address "):
                self.address = line.decode().split()[1]
                break
        if not self.address:
            sys.exit(f"the server did not start; see {self.log.name}")

    def get(self, path):
        with urllib.request.urlopen(self.address + path, timeout=60) as reply:
            return json.load(reply)

    def busy(self):
        """How many of its slots are generating."""
        return sum(slot["is_processing"] for slot in self.get("/slots"))

    def stop(self):
        self.process.stdin.close()
        self.process.wait(timeout=60)
        self.log.close()


def allm(server, *words, **more):
    return subprocess.Popen(
        [ALLM, "-m", "llamacpp:smollm2", *words], stdin=subprocess.DEVNULL,
        env={**os.environ, "LLAMACPP_BASE_URL": server.address + "/v1"}, **more)


def show(server):
    """The program talks to the server, for the person who watches."""
    words = ["-u", "-o", "max_tokens", "200", "Which colour is the sky?"]
    print("$ allm -m llamacpp:smollm2", *words[:-1], f'"{words[-1]}"',
          flush=True)
    code = allm(server, *words).wait(timeout=300)
    print(flush=True)
    return code == 0


def interrupt(server):
    """Ctrl-C ends the program, and the server stops generating."""
    run = allm(server, "-o", "max_tokens", "2000",
               "Count from one to one thousand, in words.",
               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    run.stdout.read(1)
    if server.busy() != 1:
        return False
    run.send_signal(signal.SIGINT)
    run.stdout.read()
    ended = run.wait(timeout=30)
    limit = time.monotonic() + 30
    while server.busy() and time.monotonic() < limit:
        time.sleep(0.05)
    return ended == 130 and server.busy() == 0


def lists(server):
    """`allm models -m llamacpp:` lists what the server offers."""
    run = subprocess.run(
        [ALLM, "models", "-m", "llamacpp:"], stdout=subprocess.PIPE,
        env={**os.environ, "LLAMACPP_BASE_URL": server.address + "/v1"},
        check=False, timeout=60)
    return b"smollm2" in run.stdout


class Tally:
    def __init__(self):
        self.passed = self.failed = 0

    def add(self, ok, what):
        print("ok -" if ok else "not ok -", what, flush=True)
        self.passed += bool(ok)
        self.failed += not ok

    def checks(self, *words):
        """Run the checks of a dialect; a crash is a failure, too."""
        done = subprocess.run([CHECKS, *words], stdout=subprocess.PIPE,
                              text=True, check=False, timeout=1200)
        count = COUNT.search(done.stdout)
        print(COUNT.sub("", done.stdout).rstrip(), flush=True)
        if not count:
            self.add(False, f"{words[0]}: the checks ended with"
                            f" {done.returncode}")
            return
        self.passed += int(count[1])
        self.failed += int(count[2])


def main():
    model = sys.argv[1]
    tally = Tally()
    server = Server(model, "chat")
    try:
        tally.add(show(server), "the program talks to the server")
        for dialect, checks in DIALECTS.items():
            tally.checks(dialect, server.address + "/v1", "smollm2", *checks)
        tally.add(interrupt(server), "Ctrl-C frees the slot")
        tally.add(lists(server), "the program lists the server's models")
    finally:
        server.stop()
    server = Server(model, "embed")
    try:
        tally.checks("llamacpp", server.address + "/v1", "smollm2",
                     "embeddings")
    finally:
        server.stop()
    print(f"{tally.passed} passed, {tally.failed} failed")
    sys.exit(tally.failed != 0)


main()
