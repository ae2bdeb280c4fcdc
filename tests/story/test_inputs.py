#!/usr/bin/env python3
"""test_inputs - files, streams and disks that are not as they should be"""
import json
import os
import subprocess
import sys
import tempfile

from program import (ALLM, CLEAN, HOME, SOURCE, Skip, allm, equal, file, holds,
                     main, one_sentence, text)

sys.path.insert(0, os.path.join(SOURCE, "tests", "batch"))
from server import Server           # noqa: E402

LIMIT = 64 * 1024 * 1024


def shell(script, *args, env=None, stdin=b""):
    """Run a line of a shell in which "$@" is the program with arguments."""
    return subprocess.run(["sh", "-c", script, "sh", ALLM, *args],
                          env={**CLEAN, **(env or {})}, input=stdin, cwd=HOME,
                          capture_output=True, timeout=60, check=False)


# ------------------------------------------------------------------ files


def test_files():
    """a file that cannot be used is named, with -f, -a, -s and --schema"""
    long = os.path.join(HOME, "long.txt")
    with open(long, "wb") as out:
        out.truncate(100_000_000)
    closed = file("closed.txt", "x")
    os.chmod(closed, 0)
    binary = file("binary.dat", b"\xff\xfe\0\1")
    for flags in ["-f"], ["-a"]:
        one_sentence(allm(*text(), *flags, HOME, "hi"), 2, HOME, "directory")
        one_sentence(allm(*text(), *flags, long, "hi"), 2, long, "64 MiB",
                     "--max-input")
        one_sentence(allm(*text(), *flags, binary, "hi"), 2, binary, "UTF-8")
        one_sentence(allm(*text(), *flags, "/dev/zero", "hi"), 2, "/dev/zero")
        if os.geteuid():
            one_sentence(allm(*text(), *flags, closed, "hi"), 2, closed,
                         "Permission denied")
    for flag, value in (("-s", "@" + HOME), ("--schema", HOME),
                        ("--schema", binary), ("-s", "@" + binary),
                        ("--config", HOME), ("--config", binary),
                        ("--replay", HOME)):
        run = allm(*text(), flag, value, "hi")
        equal((flag, value, run.code, run.out), (flag, value, 2, b""))
        holds(run.said, value.lstrip("@"))
    os.unlink(long)


def test_line_ends():
    """CRLF and a byte order mark are text: in files, rows and settings"""
    run = allm("-m", "openai:gpt-4.1", "--dry-run", "-f",
               file("crlf.txt", b"\xef\xbb\xbfone\r\ntwo\r\n"), "hi")
    equal(run.code, 0)
    holds(run.json["body"]["messages"][-1]["content"], "one\r\ntwo\r\n")
    config = file("crlf.json", b"\xef\xbb\xbf{\r\n  // usage\r\n"
                  b"  \"usage\": true,\r\n}\r\n")
    equal(allm("config", "get", "usage", env={"ALLM_CONFIG": config}).text,
          "true\n")
    run = allm("batch", *text("x"), stdin=b'\xef\xbb\xbf{"id": "a", "prompt":'
               b' "a"}\r\n{"id": "b", "prompt": "b"}\r\n')
    equal(sorted(row["id"] for row in run.lines), ["a", "b"])


# ---------------------------------------------------------------- streams


def test_closed_streams():
    """each of the three streams may be closed, and files stay intact"""
    db = os.path.join(HOME, "closed.db")
    words = [*text(), "-u", "-S", "s", "--store", "sqlite:" + db, "hi"]
    for script, code, out in (('exec "$@" <&-', 0, b"Hello.\n"),
                              ('exec "$@" 2>&-', 0, b"Hello.\n"),
                              ('exec "$@" <&- 2>&-', 0, b"Hello.\n"),
                              ('exec "$@" >&-', 1, b""),
                              ('exec "$@" <&- >&- 2>&-', 1, b"")):
        run = shell(script, *words)
        equal((script, run.returncode, run.stdout), (script, code, out))
        equal(allm("sessions", "show", "s", "--store", "sqlite:" + db).code, 0)
    run = shell('exec "$@" >&-', "batch", *text(), stdin=b'{"prompt": "a"}\n')
    equal(run.returncode, 1)
    holds(run.stderr.decode(), "standard output")


def test_endless_input():
    """input that never ends: a note says what to do; too much is refused"""
    run = subprocess.Popen([ALLM, *text(), "hi"], stdin=subprocess.PIPE,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           env=CLEAN)
    holds(run.stderr.readline().decode(), "standard input", "</dev/null")
    run.stdin.close()
    equal((run.stdout.read(), run.wait(timeout=20)), (b"Hello.\n", 0))
    with open("/dev/zero", "rb") as endless:
        run = subprocess.run([ALLM, *text(), "hi"], stdin=endless, env=CLEAN,
                             capture_output=True, check=False, timeout=60)
    equal((run.returncode, run.stdout), (2, b""))
    holds(run.stderr.decode(), "larger than 64 MiB")


def test_64_mb():
    """a prompt of 64 MiB works, one byte more is refused"""
    equal(allm(*text(), stdin=b"x" * LIMIT).out, b"Hello.\n")
    one_sentence(allm(*text(), stdin=b"x" * (LIMIT + 1)), 2, "64 MiB",
                 "--max-input")
    with Server() as server:
        row = b'{"id": "a", "prompt": "%s"}\n'
        run = allm("batch", "-m", "vllm:m",
                   stdin=row % (b"x" * LIMIT) + row.replace(b'"a"', b'"b"') %
                   b"short", env=server.env)
    equal(run.code, 1)
    got = {row["id"]: row for row in run.lines}
    equal((got["@0"]["exit_code"], got["b"]["text"]), (2, "SHORT"))
    holds(got["@0"]["error"]["message"], "64 MB")


# ------------------------------------------------------------------ homes


def test_no_home():
    """without a home, or in one that cannot be written, an answer comes"""
    for home in "", "/proc":
        env = {"HOME": home, "ALLM_KEEP": "true"}
        run = allm(*text(), "hi", env=env)
        equal((home, run.code, run.text), (home, 0, "Hello.\n"))
        holds(run.said, "the session is not kept")
        for words in (["config", "set", "usage", "true"],
                      ["aliases", "set", "a", "fake:m"],
                      [*text(), "--save", "t", "hi"],
                      [*text(), "-S", "s", "hi"]):
            run = allm(*words, env={"HOME": home})
            equal((home, words, run.code, run.out), (home, words, 2, b""))
            assert run.said.startswith("allm: "), run.said


def on_full_disk(script, env=None):
    """Run a script of a shell in a folder on a full disk; its lines."""
    folder = tempfile.mkdtemp(dir=HOME)
    begin = (f"mount -t tmpfs -o size=64k none {folder} && cd {folder} &&"
             "export HOME=$PWD || exit 77\n"
             "mkdir -p .config/allm; echo '{\"retry\": 2}' >"
             ".config/allm/config.json\n"
             "dd if=/dev/zero of=fill bs=1k 2>/dev/null\n")
    run = subprocess.run(["unshare", "-rm", "sh", "-c", begin + script, "sh",
                          ALLM, *text()], env={**CLEAN, **(env or {}), "PATH":
                                               CLEAN["PATH"] +
                                               ":/usr/sbin:/sbin"},
                         capture_output=True, timeout=60, check=False)
    if run.returncode == 77 or b"unshare" in run.stderr:
        raise Skip("a small file system cannot be mounted")
    return run.stdout.decode().splitlines(), run.stderr.decode()


def test_full_disk():
    """a full disk costs no answer; the message names the file"""
    out, said = on_full_disk(
        'ALLM_KEEP=true "$@" hi </dev/null; echo $?\n'
        '"$@" -S ./s.json hi </dev/null; echo $?\n'
        '"$@" --record tape hi </dev/null; echo $?\n'
        '"$@" --trace lines hi </dev/null; echo $?\n'
        '"$1" config set usage true; echo $?; cat .config/allm/config.json\n'
        'echo secret | "$1" keys set openai; echo $?\n'
        'a=$1; shift; echo \'{"prompt": "a"}\' >/dev/shm/in.$$ ||exit 77\n'
        '"$a" batch "$@" /dev/shm/in.$$ -O out.jsonl; echo $?\n'
        '"$a" batch -q "$@" /dev/shm/in.$$ --summary sum.json >/dev/null\n'
        'echo $?; rm /dev/shm/in.$$\n')
    equal(out, ["Hello.", "0", "Hello.", "11", "Hello.", "1", "Hello.", "1",
                "2", '{"retry": 2}', "2", "2", "2"])
    holds(said, "the session is not kept", "./s.json", "tape", "trace lines",
          "config.json: No space left", "keys.json", "out.jsonl", "sum.json")


def test_full_disk_resumes():
    """a batch that stopped at a full disk continues when there is room"""
    rows = "".join(json.dumps({"id": i, "prompt": f"p{i}"}) + "\n"
                   for i in range(40))
    words = f"batch -q -m vllm:m -j 1 {file('forty.jsonl', rows)} -O out"
    with Server() as server:
        out, said = on_full_disk(
            "truncate -s 57000 fill\n"      # room for a page
            f'"$1" {words}; echo $?; rm fill\n"$1" {words}; echo $?; cat out',
            server.env)
        holds(said, "No space left", "again to continue")
        equal(out[0], "2")
        equal(out[1], "0")
        equal([json.loads(line)["id"] for line in out[2:]],
              [str(i) for i in range(40)])
        equal(sum(server.asked.values()), 41)   # one row did not fit


# ------------------------------------------------------------------ batch


def test_refusals():
    """a provider that refuses for a while: the rows wait, and all succeed"""
    left = [10]

    def script(prompt, count):
        left[0] -= 1
        return 429 if left[0] > 0 else None
    with Server(script=script) as server:
        run = allm("batch", "-m", "vllm:m", "--retry", "40", stdin="".join(
            json.dumps({"prompt": f"p{i}"}) + "\n" for i in range(8)),
            env=server.env, timeout=120)
    equal((run.code, len(run.lines)), (0, 8))


def test_binary_rows():
    """binary data and an image as rows: each line that is no JSON is a row"""
    run = allm("batch", *text(), stdin=b"\x89PNG\r\n\x1a\n\0\0\xff\n\0\0\n")
    equal((run.code, {row["exit_code"] for row in run.lines}), (1, {2}))
    run = allm("embed", "-m", "fake:m", "-", stdin=b"\x89PNG\r\n\x1a\n\0")
    equal((run.code, run.lines[0]["exit_code"]), (1, 2))


if __name__ == "__main__":
    main(globals())
