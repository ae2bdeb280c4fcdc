#!/usr/bin/env python3
"""test_embed - allm embed against a real loopback server"""
import json
import os
import struct
import subprocess
import sys
import tempfile

from program import (ALLM, CLEAN, HOME, SOURCE, allm, equal, file, holds,
                     main, one_sentence)

sys.path.insert(0, os.path.join(SOURCE, "tests", "batch"))
from server import Server           # noqa: E402

MODEL = ["embed", "-m", "vllm:m"]


def lines(count):
    return "".join(json.dumps({"id": f"r{i}", "text": f"word {i}"}) + "\n"
                   for i in range(count))


def new(name="out"):
    return os.path.join(tempfile.mkdtemp(dir=HOME), name)


def rows(path):
    with open(path, encoding="utf-8") as out:
        return [json.loads(line) for line in out]


def vector(text, dims=4):
    """What the server makes of a text, as floats of four bytes."""
    numbers = [len(text), text.encode()[0] / 3, *[0.5] * (dims - 2)]
    return list(struct.unpack(f"<{dims}f", struct.pack(f"<{dims}f",
                                                       *numbers)))


def floats(path, dims=4, skip=0):
    with open(path, "rb") as file_:
        data = file_.read()[skip:]
    return [list(struct.unpack(f"<{dims}f", data[i:i + 4 * dims]))
            for i in range(0, len(data), 4 * dims)]


def close(got, wanted):
    assert len(got) == len(wanted), (got, wanted)
    for a, b in zip(got, wanted):
        assert abs(a - b) <= 1e-6 * abs(b), (got, wanted)


# ------------------------------------------------------------------ input


def test_texts():
    """each argument is a text; a file or standard input is one, too"""
    with Server() as server:
        run = allm(*MODEL, "a red fox", "dog", env=server.env)
        equal((run.code, run.err), (0, b""))
        equal([row["id"] for row in run.lines], ["@0", "@10"])
        close(run.lines[0]["embedding"], vector("a red fox"))
        row = run.lines[1]
        close(row["embedding"], vector("dog"))
        equal(list(row), ["id", "ok", "embedding", "model", "usage", "cost",
                          "ms", "attempts", "exit_code", "sum"])
        equal((row["ok"], row["model"], row["attempts"], row["exit_code"]),
              (True, "vllm:m", 1, 0))
        path = file("whole.txt", "two\nlines\n")
        for words, stdin in ([path], ""), (["-"], "two\nlines\n"), \
                ([], "two\nlines\n"):
            run = allm(*MODEL, *words, stdin=stdin, env=server.env)
            equal((run.code, len(run.lines)), (0, 1))
            close(run.lines[0]["embedding"], vector("two\nlines"))


def test_lines():
    """--lines and --jsonl: a row for each line"""
    with Server() as server:
        run = allm(*MODEL, "--lines", stdin="one\r\n\nthree\n",
                   env=server.env)
        equal([(row["id"], row["embedding"][0]) for row in run.lines],
              [("@0", 3), ("@6", 5)])
        run = allm(*MODEL, "--jsonl", stdin=lines(2) + json.dumps(
            {"custom_id": "b", "body": {"model": "vllm:m", "input": "four"}})
            + "\n", env=server.env)
        equal({row["id"]: row["embedding"][0] for row in run.lines},
              {"r0": 6, "r1": 6, "b": 4})
    one_sentence(allm(*MODEL, "--lines", "--jsonl"), 2, "exclude each other")
    one_sentence(allm(*MODEL, "--lines", "a", "b"), 2, "one input")
    one_sentence(allm(*MODEL, "--lines", "/nowhere"), 2, "/nowhere")
    one_sentence(allm(*MODEL, "a", ""), 2, "is empty")


def test_bad_lines():
    """a line that cannot be used gives a row with exit code 2"""
    with Server() as server:
        run = allm(*MODEL, "--jsonl", stdin=b'{"id": "a", "text": "a"}\n{\n'
                   b'{"id": "b"}\n{"id": "c", "text": ""}\n'
                   b'{"id": "d", "text": "\xff"}\n{"id": "e", "text": "e", '
                   b'"model": "vllm:other"}\n{"id": "z", "text": "z"}\n',
                   env=server.env)
    equal(run.code, 1)
    equal({row["id"]: row["exit_code"] for row in run.lines},
          {"a": 0, "@25": 2, "b": 2, "c": 2, "@63": 2, "e": 2, "z": 0})


def test_requests():
    """a request has as many texts as the provider accepts"""
    bodies = []
    with Server(bodies=bodies) as server:
        run = allm(*MODEL, "--jsonl", file("many.jsonl", lines(5000)),
                   "--ordered", "--dims", "6", "-o", "user", "me",
                   env=server.env)
    equal(run.code, 0)
    equal([row["id"] for row in run.lines], [f"r{i}" for i in range(5000)])
    equal(sorted(len(body["input"]) for body in bodies), [904, 2048, 2048])
    equal((bodies[0]["dimensions"], bodies[0]["user"]), (6, "me"))
    equal(len(run.lines[0]["embedding"]), 6)
    equal(sum(row["usage"]["input_tokens"] for row in run.lines), 15000)
    long = json.dumps({"text": "x" * 250_000}) + "\n"
    bodies.clear()
    with Server(bodies=bodies) as server:
        allm(*MODEL, "--jsonl", file("long.jsonl", long * 4), env=server.env)
    equal([len(body["input"]) for body in bodies], [2, 2])


def test_rejected():
    """a text that the provider rejects fails alone"""
    with Server(script=lambda prompt, n: 400 if "word 7" in prompt
                else None) as server:
        run = allm(*MODEL, "--jsonl", stdin=lines(20), env=server.env)
    equal(run.code, 1)
    got = {row["id"]: row["exit_code"] for row in run.lines}
    equal(got, {f"r{i}": 5 if i == 7 else 0 for i in range(20)})


# ----------------------------------------------------------------- output


def test_resume():
    """what OUT has is not requested again, also with other shards"""
    out, source = new(), file("e.jsonl", lines(60))
    with Server() as server:
        equal(allm(*MODEL, "--jsonl", source, "-O", out, "--shard", "1/2",
                   env=server.env).code, 0)
        done = len(rows(out))
        assert 20 < done < 40, done
        with open(out, "ab") as torn:
            torn.write(b'{"id":"r59","ok":tr')
        run = allm(*MODEL, "--jsonl", source, "-O", out, env=server.env)
        equal(run.code, 0)
        equal(sorted(row["id"] for row in rows(out)),
              sorted(f"r{i}" for i in range(60)))
        equal(max(server.asked.values()), 1)
        run = allm(*MODEL, "--jsonl", source, "-O", out, "--dims", "8",
                   env=server.env)
        one_sentence(run, 2, '"r0"', "--changed ask")


def test_f32():
    """--format f32: vectors in OUT, rows and ids beside it, resumable"""
    out, source = new(), file("f.jsonl", lines(50))
    words = [*MODEL, "--jsonl", "--format", "f32", "-O", out]
    with Server() as server:
        equal(allm(*words, stdin=lines(20), env=server.env).code, 0)
        with open(out, "ab") as torn:
            torn.write(b"\1" * 23)      # a vector whose row was not written
        run = allm(*words, source, env=server.env)
        equal(run.code, 0)
        equal(max(server.asked.values()), 1)
        with open(out + ".json", encoding="utf-8") as names:
            about = json.load(names)
        equal((about["dims"], about["model"], about["count"]),
              (4, "vllm:m", 50))
        got = floats(out)
        equal((len(got), sorted(about["ids"])),
              (50, sorted(f"r{i}" for i in range(50))))
        for name, numbers in zip(about["ids"], got):
            equal(numbers, vector(f"word {name[1:]}"))
        equal([row["dims"] for row in rows(out + ".jsonl")], [4] * 50)
        run = allm(*words, "--dims", "8", "--changed", "ask", source,
                   env=server.env)
        equal(run.code, 2)
        holds(run.said, "vectors of 4 dimensions, the model makes 8")
        equal(len(floats(out)), 50)
    os.truncate(out, 100)
    one_sentence(allm(*words, source), 2, "vectors are missing")
    one_sentence(allm(*MODEL, "--format", "f32", "x"), 2, "needs -O")
    other = file("other.bin", "something else")
    one_sentence(allm(*MODEL, "--format", "f32", "-O", other, "x"), 2,
                 "name another file")
    with open(other, encoding="utf-8") as same:
        equal(same.read(), "something else")


def test_npy():
    """--format npy: NumPy's format"""
    out = new("v.npy")
    with Server() as server:
        for count in 3, 5:
            equal(allm(*MODEL, "--jsonl", "--ordered", "--format", "npy",
                       "-O", out, stdin=lines(count), env=server.env).code, 0)
            with open(out, "rb") as file_:
                head = file_.read(128)
            equal(head[:10], b"\x93NUMPY\x01\x00v\x00")
            equal(head[10:].decode().rstrip(), "{'descr': '<f4', "
                  f"'fortran_order': False, 'shape': ({count}, 4), }}")
            equal(floats(out, skip=128),
                  [vector(f"word {i}") for i in range(count)])


def test_full_disk():
    """a full disk stops the run; it can be resumed"""
    out = new()
    limit = ["sh", "-c", 'ulimit -f 1; exec "$@"', "sh"]
    with Server() as server:
        env = {**CLEAN, **server.env}
        words = [ALLM, *MODEL, "--jsonl", "--format", "f32", "--dims", "100",
                 "-O", out]
        run = subprocess.run([*limit, *words], input=lines(9).encode(),
                             env=env, capture_output=True, check=False)
        equal(run.returncode, 2)
        holds(run.stderr.decode(), "cannot write to", "again to continue")
        run = subprocess.run(words, input=lines(9).encode(), env=env,
                             capture_output=True, check=False)
        equal(run.returncode, 0)
    equal([(len(v), v[0]) for v in floats(out, 100)], [(100, 6)] * 9)


def test_killed():
    """killed and resumed, each text has its vector, and none has two"""
    out, source = new(), file("many.jsonl", lines(9000))
    words = [ALLM, *MODEL, "-q", "--jsonl", "--format", "f32", "-j", "1",
             source, "-O", out]
    with Server() as server:
        for part in 1, 3000, 7000:
            run = subprocess.Popen(words, env={**CLEAN, **server.env})
            server.wait_for(part)
            run.kill()
            run.wait()
        equal(subprocess.run(words, env={**CLEAN, **server.env},
                             check=False).returncode, 0)
    with open(out + ".json", encoding="utf-8") as names:
        ids = json.load(names)["ids"]
    equal((len(ids), set(ids)), (9000, {f"r{i}" for i in range(9000)}))
    for name, numbers in zip(ids, floats(out)):
        equal(numbers, vector(f"word {name[1:]}"))


# ------------------------------------------------------------------ model


def test_similar():
    """--similar prints the rows that are most like a text"""
    out = new("v.jsonl")
    texts = "".join(json.dumps({"id": t, "text": t}) + "\n" for t in (
        "a red fox", "a brown dog", "the stock market", "a red fox runs"))
    fake = ["embed", "-m", "fake:m"]
    equal(allm(*fake, "--jsonl", "-O", out, stdin=texts).code, 0)
    run = allm(*fake, "--similar", "a red fox", "-O", out, "-n", "2")
    equal(run.code, 0)
    equal([line.split(" ", 1)[1] for line in run.text.splitlines()],
          ["a red fox", "a red fox runs"])
    assert run.text.startswith("1.0000 "), run.text
    equal(len(allm(*fake, "--similar", "x", "-O", out).text.splitlines()), 4)
    one_sentence(allm(*fake, "--similar", "x"), 2, "needs -O")
    one_sentence(allm(*fake, "--similar", "", "-O", out), 2, "not empty")
    one_sentence(allm(*fake, "--similar", "x", "-O", out, "y"), 2, '"y"')
    one_sentence(allm(*fake, "--similar", "x", "-O", "/nowhere"), 2,
                 "/nowhere")
    one_sentence(allm(*fake, "--similar", "x", "-O", file("none", "")), 2,
                 "no rows")
    one_sentence(allm(*fake, "--similar", "x", "-O", out, "--dims", "7"), 2,
                 "other dimensions")


def test_models():
    """no key: exit code 4; no embeddings: 5; a transient failure: 3"""
    equal(allm("embed", "x").code, 4)
    one_sentence(allm("embed", "-m", "anthropic:claude-sonnet-4-5", "x",
                      env={"ANTHROPIC_API_KEY": "k"}), 5, "anthropic",
                 "no embeddings")
    with Server(script=lambda *a: 503) as server:
        run = allm(*MODEL, "--retry", "1", "x", env=server.env)
    equal((run.code, run.lines[0]["exit_code"], run.lines[0]["attempts"]),
          (3, 3, 2))
    for words in (["-"], ["--lines"]):
        run = allm(*MODEL, *words, stdin="")
        equal((run.code, run.out, run.err), (0, b"", b""))


def test_locked():
    """of two processes on one OUT, one ends with exit code 11"""
    out = new()
    with Server(script=lambda *a: "never") as server:
        first = subprocess.Popen([ALLM, *MODEL, "-O", out, "x"],
                                 env={**CLEAN, **server.env})
        server.wait_for(1)
        one_sentence(allm(*MODEL, "-O", out, "x", env=server.env), 11,
                     "locked")
        first.kill()
        first.wait()


if __name__ == "__main__":
    main(globals())
