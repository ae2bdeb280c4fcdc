"""program - run the real program and check what it does

A test is a function whose docstring is a statement that must be true.  Each
script ends with main(globals()).
"""
import fcntl
import json
import os
import pty
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

BUILD = os.path.abspath(os.environ.get("BUILD_DIR", "build/main"))
SOURCE = os.path.abspath(os.environ.get("SOURCE_DIR", "."))
ALLM = os.path.join(BUILD, "allm")
FIXTURES = os.path.join(SOURCE, "tests", "fixture")
# Nothing is inherited from the machine: no keys, URLs, model or .env file.
HOME = tempfile.mkdtemp(prefix="allm-story-")
# What the program runs under, such as "valgrind -q --error-exitcode=99".
PREFIX = os.environ.get("STORY_PREFIX", "").split()
CLEAN = {"PATH": os.environ.get("PATH", ""), "HOME": HOME, "TERM": "dumb"}
# Nor is an ignored signal, as when the tests run under nohup.
signal.signal(signal.SIGHUP, signal.SIG_DFL)


class Run:
    """The output and the exit code of a run."""

    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    @property
    def text(self):
        return self.out.decode()

    @property
    def said(self):
        return self.err.decode()

    @property
    def json(self):
        return json.loads(self.out)

    @property
    def lines(self):
        return [json.loads(line) for line in self.out.splitlines()]


def allm(*args, stdin=b"", env=None, timeout=60, cwd=None, before=None):
    """Run the program.  stdin None: it is closed.  before: a function that the
    process calls first."""
    command = [*PREFIX, ALLM, *args]
    if stdin is None:
        command = ["sh", "-c", 'exec "$@" <&-', "sh", *command]
        stdin = b""
    if isinstance(stdin, str):
        stdin = stdin.encode()
    done = subprocess.run(command, input=stdin, env={**CLEAN, **(env or {})},
                          capture_output=True, timeout=timeout,
                          cwd=cwd or HOME, check=False, preexec_fn=before)
    return Run(done.returncode, done.stdout, done.stderr)


class Skip(Exception):
    """Raised if this machine lacks something that a test needs."""


def need(*programs):
    for name in programs:
        if not shutil.which(name):
            raise Skip(f"{name} is not installed")


class Terminal:
    """A program in a new terminal."""

    def __init__(self, *args, env=None, columns=80, nonblocking=False,
                 program=ALLM, cwd=HOME, rows=24):
        self.ours, theirs = pty.openpty()
        os.set_blocking(theirs, not nonblocking)
        fcntl.ioctl(theirs, termios.TIOCSWINSZ,
                    struct.pack("HHHH", rows, columns, 0, 0))
        self.child = subprocess.Popen(
            [program, *args], stdin=theirs, stdout=theirs, stderr=theirs,
            env={**CLEAN, **(env or {})}, cwd=cwd, start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        os.close(theirs)
        self.said = b""

    def until(self, words, seconds=20):
        """Read until this text has come, or this function returns true (None:
        until the end)."""
        limit = time.monotonic() + seconds
        while words is None or not (words(self.said) if callable(words)
                                    else words in self.said):
            left = limit - time.monotonic()
            assert left > 0, (words, self.said)
            if not select.select([self.ours], [], [], left)[0]:
                continue
            try:
                piece = os.read(self.ours, 4096)
            except OSError:
                piece = b""
            if not piece:
                assert words is None, (words, self.said)
                break
            self.said += piece
        return self.said

    def after(self, words, then, seconds=20):
        """Write these bytes, and return what comes then, up to `then`."""
        self.said = b""
        self.write(words)
        return self.until(then, seconds)

    def write(self, words):
        """Write all bytes and read meanwhile, so that neither side blocks."""
        while words:
            ready = select.select([self.ours], [self.ours], [], 20)
            assert ready[0] or ready[1], "the program does not read"
            if ready[0]:
                self.said += os.read(self.ours, 4096)
            if ready[1]:
                words = words[os.write(self.ours, words[:1000]):]

    def end(self):
        self.until(None)
        os.close(self.ours)
        return self.child.wait(timeout=20)


def fake(*entries, **more):
    """The arguments that select the Fake with this script."""
    return ["-m", "fake:m", "-o", "adapter_opts",
            json.dumps({"script": list(entries), **more})]


def scripts(*all_of_them):
    """The same, with a script for each call."""
    return ["-m", "fake:m", "-o", "adapter_opts",
            json.dumps({"scripts": list(all_of_them)})]


def text(words="Hello."):
    return fake(["text", words], ["usage", {"input_tokens": 3,
                                            "output_tokens": 2}],
                ["finish", "stop"])


def equal(got, wanted):
    assert got == wanted, f"wanted {wanted!r}\ngot {got!r}"


def holds(text, *words):
    for word in words:
        assert word in text, f"wanted {word!r} in\n{text}"


def one_sentence(run, code, *words):
    """It failed with one clear message, and printed nothing else."""
    equal(run.code, code)
    equal(run.out, b"")
    assert run.said.startswith("allm: "), run.said
    equal(run.said.count("\n"), 1)
    holds(run.said, *words)
    assert "allm_" not in run.said, "words for programmers: " + run.said


def file(name, content):
    """A file in the folder of this run."""
    path = os.path.join(HOME, name)
    with open(path, "wb") as out:
        out.write(content if isinstance(content, bytes) else content.encode())
    return path


def main(names):
    passed = failed = skipped = 0
    for name, test in list(names.items()):
        if not name.startswith("test_") or not callable(test):
            continue
        why = (test.__doc__ or name).strip().splitlines()[0]
        try:
            test()
            passed += 1
            print(f"ok - {why}")
        except Skip as lack:
            skipped += 1
            print(f"ok - {why} # SKIP {lack}")
        except Exception as fault:   # even if a program hangs
            failed += 1
            print(f"not ok - {why}")
            for line in f"{type(fault).__name__}: {fault}".splitlines()[:40]:
                print(f"#   {line}")
    subprocess.run(["rm", "-rf", HOME], check=False)
    print(f"{passed} passed, {failed} failed" +
          (f", {skipped} skipped" if skipped else ""))
    sys.exit(failed != 0)
