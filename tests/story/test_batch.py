#!/usr/bin/env python3
"""test_batch - allm batch against a real loopback server"""
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

from program import (ALLM, CLEAN, HOME, SOURCE, Terminal, allm, equal, fake,
                     file, holds, main, one_sentence, text)

sys.path.insert(0, os.path.join(SOURCE, "tests", "batch"))
from kill import kill_and_resume    # noqa: E402
from refuse import refuse_and_answer, refuse_and_resume    # noqa: E402
from server import Server           # noqa: E402

MODEL = ["batch", "-m", "vllm:m"]


def lines(*rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


def prompts(count):
    return lines(*({"id": f"r{i}", "prompt": f"word {i}"}
                   for i in range(count)))


def new(name="out.jsonl"):
    return os.path.join(tempfile.mkdtemp(dir=HOME), name)


def rows(path):
    with open(path, encoding="utf-8") as out:
        return [json.loads(line) for line in out]


# ------------------------------------------------------------------ input


def test_forms():
    """each form of a line becomes a request"""
    seen = []

    def script(prompt, count):
        seen.append(prompt)
    with Server(script=script) as server:
        run = allm(*MODEL, "-s", "brief", stdin=lines(
            {"prompt": "a"}, {"id": "b", "prompt": "b", "system": "x"},
            {"id": 7, "messages": [{"role": "user", "content": "c"}]},
            {"custom_id": "d", "method": "POST", "url": "/v1/chat/completions",
             "body": {"model": "vllm:m", "max_tokens": 5, "messages": [
                 {"role": "user", "content": "d"}]}},
            {"id": "e", "prompt": "e", "model": "vllm:other"}),
            env=server.env)
    equal(run.code, 0)
    got = {row["id"]: row for row in run.lines}
    equal(sorted(got), ["7", "@0", "b", "d", "e"])
    equal([got[i]["text"] for i in ("@0", "b", "7", "d", "e")],
          ["A", "B", "C", "D", "E"])
    equal(got["e"]["model"], "vllm:other")
    equal(sorted(seen), ["a", "b", "c", "d", "e"])
    row = got["@0"]
    equal(list(row), ["id", "ok", "text", "model", "finish_reason", "usage",
                      "cost", "ms", "attempts", "exit_code", "sum"])
    equal((row["ok"], row["finish_reason"], row["attempts"], row["exit_code"],
           len(row["sum"])), (True, "stop", 1, 0, 16))


def test_openai_bodies():
    """the bodies of OpenAI's batches are accepted unchanged"""
    seen = []

    def line(name, **body):
        return {"custom_id": name, "method": "POST", "url": "/v1/x",
                "body": {"model": "m", **body}}
    user, hello = {"role": "user", "content": "hi"}, {"type": "function",
                                                      "name": "f"}
    call = {"id": "t", "type": "function",
            "function": {"name": "f", "arguments": '{"a": 1}'}}
    tool = {"type": "function", "function": {
        "name": "f", "description": "d", "strict": True,
        "parameters": {"type": "object", "properties": {}}}}
    image = {"type": "image_url",
             "image_url": {"url": "https://x.y/z.png", "detail": "low"}}
    data = {"type": "image_url",
            "image_url": {"url": "data:image/png;base64,aGk=",
                          "detail": "auto"}}
    text = {"type": "text", "text": "what?"}
    chat = [{"role": "developer", "content": "brief"}, user,
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "t", "content": "r"},
            {"role": "user", "content": [image, data, text]}]
    with Server(bodies=seen) as server:
        run = allm(*MODEL, "-q", "-j", "1", stdin=lines(
            line("a", messages=chat, tools=[tool], tool_choice={
                "type": "function", "function": {"name": "f"}}),
            line("b", instructions="brief", input="hi"),
            line("c", input=[{"role": "user", "content": [
                {"type": "input_text", "text": "hi"}]}], tools=[hello]),
            line("d", prompt="hi", max_tokens=3)), env=server.env)
    equal((run.code, [row["id"] for row in run.lines]), (0, list("abcd")))
    equal(seen[0]["messages"], [{"role": "system", "content": "brief"},
                                *chat[1:]])
    equal((seen[0]["tools"], seen[0]["tool_choice"]),
          ([tool], {"type": "function", "function": {"name": "f"}}))
    equal([body["messages"] for body in seen[1:]],
          [[{"role": "system", "content": "brief"}, user], [user], [user]])
    equal(seen[2]["tools"][0]["function"]["name"], "f")
    equal(seen[3]["max_tokens"], 3)
    assert not {"input", "prompt", "instructions"} & {*seen[1], *seen[3]}
    audio = {"role": "user", "content": [{"type": "input_audio"}]}
    run = allm(*MODEL, "-q", stdin=lines(line("a", messages=[audio])))
    equal((run.code, run.json["exit_code"]), (1, 5))
    equal(run.json["error"]["errors"],
          [[["messages", 0, "content"], "invalid_part_type"]])
    other = {**line("a", input="hi"), "url": "/v1/embeddings"}
    run = allm(*MODEL, "-q", stdin=lines(other))
    equal(run.code, 1)
    holds(run.json["error"]["message"], "allm embed")


def test_tool_calls():
    """a row has the calls that the model makes"""
    call = {"id": "c1", "name": "f", "arguments": {"a": 1}}
    line = {"custom_id": "a", "body": {
        "messages": [{"role": "user", "content": "hi"}],
        "tools": [{"type": "function", "function": {"name": "f"}}]}}
    for more in [], ["--openai"]:
        run = allm("batch", *fake(["tool_call", call],
                                  ["finish", "tool_calls"]), *more,
                   stdin=lines(line))
        row = run.json
        equal((run.code, row["exit_code"]), (0, 0))
        if more:
            choice = row["response"]["body"]["choices"][0]
            equal(choice["finish_reason"], "tool_calls")
            equal(choice["message"]["tool_calls"], [
                {"id": "c1", "type": "function",
                 "function": {"name": "f", "arguments": '{"a":1}'}}])
        else:
            equal(row["tool_calls"], [call])


def test_lines():
    """with --lines each line is a prompt, and offsets are ids"""
    with Server() as server:
        run = allm(*MODEL, "--lines", stdin="one\r\n\ntwo\nthree",
                   env=server.env)
    equal({row["id"]: row["text"] for row in run.lines},
          {"@0": "ONE", "@6": "TWO", "@10": "THREE"})


def test_schema():
    """with --schema a row has a value"""
    schema = file("any.json", '{"type": "object"}')
    for word in schema, "a int":
        run = allm("batch", *text('{"a": 1}'), "--schema", word,
                   stdin=lines({"id": "x", "prompt": "hi"}))
        equal((run.code, run.lines[0]["value"]), (0, {"a": 1}))
        assert "text" not in run.lines[0]


def test_flags():
    """the flags of a call apply to each row"""
    bodies = []
    with Server(bodies=bodies) as server:
        run = allm("batch", "-m", "vllm:m", "--base-url",
                   server.env["VLLM_BASE_URL"], "-s",
                   "@" + file("s.txt", "brief\n"), "--max-tokens", "7", "-o",
                   "seed", "3", "-H", "X-Test: yes", "-u",
                   stdin=lines({"id": "a", "prompt": "a",
                                "options": {"seed": 4}}))
    equal(run.code, 0)
    equal([bodies[0][key] for key in ("max_tokens", "seed")], [7, 4])
    equal(bodies[0]["messages"][0], {"role": "system", "content": "brief"})
    equal(bodies[0]["headers"]["x-test"], "yes")
    holds(run.said, "1 done, 0 failed", "3 tokens in, 2 out", "cost unknown")
    one_sentence(allm(*MODEL, "--key", "sk-" + "a" * 40), 2, "name of a key")


def test_settings():
    """settings apply to a batch: models, limits, providers"""
    with Server(delay=0.01) as server:
        config = file("batch.json", json.dumps({
            "aliases": {"fast": {"model": "mine:m", "system": "short",
                                 "options": {"seed": 9}}},
            "providers": {"mine": {"like": "vllm", "rpm": 600,
                                   "base_url": server.env["VLLM_BASE_URL"]}},
            "batch": {"jobs": 2}, "model": "fast"}))
        began = time.monotonic()
        run = allm("batch", "--config", config, stdin=prompts(8))
        spent = time.monotonic() - began
    equal((run.code, {row["model"] for row in run.lines}), (0, {"mine:m"}))
    equal(server.most, 2)
    assert spent > 0.5, spent       # 600 per minute: 0.1 s each


def test_more_settings():
    """retry, timeout, max_cost and reasoning apply to a batch, too"""
    bodies = []
    with Server(bodies=bodies, script=lambda *a: 503) as server:
        run = allm(*MODEL, stdin=prompts(1), env={
            **server.env, "ALLM_RETRY": "1", "ALLM_REASONING": "low"})
        equal((run.code, run.lines[0]["attempts"]), (3, 2))
        equal(bodies[0]["reasoning_effort"], "low")
        run = allm(*MODEL, stdin=prompts(1),
                   env={**server.env, "ALLM_REASONING": "wild"})
        equal(run.code, 2)
        holds(run.said, "ALLM_REASONING", "expected none, low")
        run = allm(*MODEL, stdin=prompts(1),
                   env={**server.env, "ALLM_MAX_COST": "1"})
        one_sentence(run, 2, "not known")
    with Server(script=lambda *a: 1.0) as server:
        run = allm(*MODEL, "--retry", "1", stdin=prompts(1),
                   env={**server.env, "ALLM_TIMEOUT": "0.1s"})
        equal(run.code, 3)


def test_record():
    """--record keeps the answers, --replay repeats them without a server"""
    path = new("tape.json")
    with Server() as server:
        equal(allm(*MODEL, "--record", path, stdin=prompts(3),
                   env=server.env).code, 0)
    run = allm(*MODEL, "--replay", path, stdin=prompts(3), env=server.env)
    equal((run.code, sorted(row["text"] for row in run.lines)),
          (0, ["WORD 0", "WORD 1", "WORD 2"]))


def test_extract():
    """with -x the text is the code; without code the row is not final"""
    out = new()
    code = "Here:\n```c\nint a;\n```\n\n```\nb\n```\n"
    for flag, wanted in (("-x", "int a;\n"), ("--xl", "b\n"),
                         ("--xa", "int a;\nb\n")):
        run = allm("batch", *text(code), flag, stdin=prompts(1))
        equal((run.code, run.lines[0]["text"]), (0, wanted))
    run = allm("batch", *text("no code"), "-x", "-O", out, stdin=prompts(1))
    row = rows(out)[0]
    equal((run.code, row["exit_code"], row["text"]), (3, 9, "no code"))
    holds(row["error"]["message"], "no code block")
    allm("batch", *text("no code"), "-x", "-O", out, stdin=prompts(1))
    equal(len(rows(out)), 2)        # it was asked again


def test_length():
    """an answer that reached its length is final: exit code 9, not again"""
    out = new()
    answer = fake(["text", "cut"], ["finish", "length"])
    for _ in range(2):
        allm("batch", *answer, "-O", out, stdin=prompts(1))
    equal([(row["exit_code"], row["text"]) for row in rows(out)],
          [(9, "cut")])


def test_attach():
    """attach adds files and images to the prompt of a line"""
    bodies = []
    note = file("note.txt", "a note")
    image = file("picture.txt", b"\x89PNG\r\n\x1a\n rest")
    with Server(bodies=bodies) as server:
        run = allm(*MODEL, "-j", "1", stdin=lines(
            {"id": "a", "prompt": "look", "attach": [note, image]},
            {"id": "b", "prompt": "look", "attach": note},
            {"id": "c", "prompt": "look", "attach": "/nowhere.png"},
            {"id": "d", "prompt": "look", "attach": [7]}), env=server.env)
    equal(run.code, 1)
    holds(run.said, '"ok":false say why')
    got = {row["id"]: row for row in run.lines}
    equal([got[i]["exit_code"] for i in "abcd"], [0, 0, 2, 2])
    holds(got["c"]["error"]["message"], "/nowhere.png")
    holds(got["d"]["error"]["message"], "attach")
    parts = bodies[0]["messages"][-1]["content"]
    equal([part["type"] for part in parts], ["text", "image_url", "text"])
    holds(parts[0]["text"], "a note")
    assert parts[1]["image_url"]["url"].startswith("data:image/png;base64,")


def test_template():
    """with -t the members of a line are parameters of the template"""
    bodies = []
    note = file("note.txt", "a note")
    template = file("t.md", "---\nsystem: You speak $tongue.\nextract: first\n"
                    'params: {"tongue": {"default": "English"}}\n---\n'
                    "Say $word: $input")
    with Server(bodies=bodies) as server:
        run = allm(*MODEL, "-t", template, "-p", "word", "it", "-j", "1",
                   stdin=lines({"id": "a", "prompt": "one"},
                               {"id": "b", "word": "so", "input": "two",
                                "tongue": "Latin", "attach": note},
                               {"id": "c", "word": "x"}), env=server.env)
    got = {row["id"]: row for row in run.lines}
    equal([got[i]["exit_code"] for i in "abc"], [9, 9, 2])  # no code block
    holds(got["c"]["error"]["message"], "needs a value for: input")
    sent = {json.dumps(body["messages"][-1]["content"]): body
            for body in bodies}
    first = sent['"Say it: one"']["messages"]
    equal(first[0]["content"], "You speak English.")
    other = next(body for body in bodies if "Latin" in json.dumps(body))
    holds(json.dumps(other), "Say so: two", "a note")
    with Server() as server:
        run = allm(*MODEL, "--lines", "-t", file("u.md", "Say: $input"),
                   stdin="one\n", env=server.env)
        equal(run.lines[0]["text"], "SAY: ONE")
    one_sentence(allm(*MODEL, "-p", "a", "b"), 2, "-t")
    one_sentence(allm(*MODEL, "-t", "nowhere"), 2, "nowhere")


def test_models():
    """a line may name a model, an alias, or one that does not exist"""
    with Server() as server:
        config = file("alias.json", json.dumps(
            {"aliases": {"small": "vllm:tiny"}}))
        run = allm("batch", "--config", config, "-j", "1", stdin=lines(
            {"id": "a", "prompt": "a", "model": "small"},
            {"id": "b", "prompt": "b", "model": "nobody:x"},
            {"id": "c", "prompt": "c", "model": 7},
            {"id": "d", "prompt": "d", "model": "vllm:big"}), env=server.env)
    got = {row["id"]: row for row in run.lines}
    equal((run.code, got["a"]["model"], got["d"]["model"]),
          (1, "vllm:tiny", "vllm:big"))
    equal((got["c"]["exit_code"], got["b"]["ok"]), (2, False))
    holds(got["b"]["error"]["message"], "nobody")
    run = allm("batch", stdin=prompts(3))
    equal((run.code, run.out), (4, b""))    # no model, no key
    holds(run.said, "no model is configured")


def test_bad_lines():
    """a line that cannot be used gives a row with exit code 2"""
    with Server() as server:
        run = allm(*MODEL, stdin=b'{"id": "a", "prompt": "a"}\n{"id": \n'
                   b'[1]\n{"id": "b"}\n{"id": "", "prompt": "x"}\n'
                   b'{"id": "u", "prompt": "\xff"}\n'
                   b'{"id": "m", "messages": [{"role": "nobody"}]}\n'
                   b'{"id": "z", "prompt": "z"}\n', env=server.env)
    equal(run.code, 1)
    got = {row["id"]: row for row in run.lines}
    equal(len(got), 8)
    equal((got["a"]["text"], got["z"]["text"]), ("A", "Z"))
    for row in got.values():
        if row["id"] not in "az":
            equal((row["ok"], row["exit_code"]), (False, 2))
            assert row["error"]["message"], row


def test_bad_members():
    """a member of the wrong type is not ignored"""
    for line, words in (({"prompt": 5}, '"prompt" must be a string'),
                        ({"prompt": "a", "system": 5}, '"system" must be'),
                        ({"messages": "a"}, '"messages" must be an array'),
                        ({"prompt": "a", "options": 5}, "must be an object"),
                        ({"messages": []}, "neither")):
        row = allm(*MODEL, stdin=lines(line)).lines[0]
        equal(row["exit_code"], 2)
        holds(row["error"]["message"], words)
    row = allm(*MODEL, stdin='{"prompt": "a", "prompt": "b"}').lines[0]
    assert "ALLM_" not in row["error"]["message"], row


def test_long_line():
    """a line of 10 MB works"""
    with Server() as server:
        server_side = "x" * 10_000_000
        run = allm(*MODEL, stdin=lines({"id": "a", "prompt": server_side},
                                       {"id": "b", "prompt": "b"}),
                   env=server.env)
    equal(sorted((row["id"], row["exit_code"]) for row in run.lines),
          [("a", 0), ("b", 0)])


def test_empty():
    """an empty input gives no row"""
    for stdin in b"", b"\n\n", b" \n\t \r\n  ":
        for more in [], ["--lines"]:
            run = allm(*MODEL, *more, stdin=stdin)
            equal((run.code, run.out, run.err), (0, b"", b""))


def test_equal_ids():
    """an id that comes twice is answered once"""
    with Server() as server:
        run = allm(*MODEL, stdin=lines({"id": "a", "prompt": "one"},
                                       {"id": "a", "prompt": "two"}),
                   env=server.env)
    equal((run.code, len(run.lines), sum(server.asked.values())), (1, 1, 1))
    holds(run.said, '"a"', "came before")


# ----------------------------------------------------------------- resume


def test_resume():
    """what OUT has is not requested again; a torn line is cut off"""
    out, source = new(), file("in.jsonl", prompts(40))
    with Server() as server:
        equal(allm(*MODEL, source, "-O", out, env=server.env).code, 0)
        equal(len(rows(out)), 40)
        with open(out, "rb") as whole:
            content = whole.read()
        with open(out, "wb") as torn:
            torn.write(content[:len(content) * 2 // 3])
        done = content[:len(content) * 2 // 3].count(b"\n")
        run = allm(*MODEL, source, "-O", out, env=server.env)
        equal(run.code, 0)
        holds(run.said, "incomplete last line")
        equal(sum(server.asked.values()), 40 + 40 - done)
        equal(sorted(row["id"] for row in rows(out)),
              sorted(f"r{i}" for i in range(40)))
        equal(os.stat(out).st_mode & 0o777, 0o600)


def test_resume_failures():
    """a transient failure is requested again, a final one counts again"""
    out, source = new(), file("two.jsonl", prompts(3))
    broken = {"word 0": 503, "word 1": 400}
    with Server(script=lambda prompt, n: broken.get(prompt)) as server:
        run = allm(*MODEL, "--retry", "1", source, "-O", out, env=server.env)
        equal(run.code, 3)
        equal({row["id"]: row["exit_code"] for row in rows(out)},
              {"r0": 3, "r1": 5, "r2": 0})
        equal(server.asked["word 0"], 2)
        holds(rows(out)[0]["error"]["message"], "HTTP status 400", "no")
        equal({row.get("model") for row in rows(out)}, {"vllm:m"})
        broken.clear()
        run = allm(*MODEL, source, "-O", out, env=server.env)
        equal((run.code, len(rows(out))), (1, 4))
        equal((server.asked["word 0"], server.asked["word 1"]), (3, 1))


def test_changed():
    """a line that changed is an error, unless --changed says what to do"""
    out = new()
    with Server() as server:
        def run(word, *more):
            return allm(*MODEL, "-O", out, *more, env=server.env,
                        stdin=lines({"id": "a", "prompt": word}))
        equal(run("one").code, 0)
        one_sentence(run("two"), 2, '"a"', "--changed ask")
        equal((run("two", "--changed", "keep").code, len(rows(out))), (0, 1))
        equal((run("two", "--changed", "ask").code, len(rows(out))), (0, 2))
        equal(rows(out)[-1]["text"], "TWO")


def test_damaged_sum():
    """a sum that is no number of 16 hex digits is that of another line"""
    out = new()
    with Server() as server:
        def run():
            return allm(*MODEL, "-O", out, env=server.env,
                        stdin=lines({"id": "a", "prompt": "one"}))
        equal(run().code, 0)
        with open(out, "rb") as whole:
            row = whole.read()
        digit = row[-4:-3]
        for other in (b"ghijklmnopqrstuv"[int(digit, 16):][:1], b"",
                      digit + b"0"):
            with open(out, "wb") as damaged:
                damaged.write(row[:-4] + other + row[-3:])
            one_sentence(run(), 2, '"a"', "--changed ask")
        with open(out, "wb") as damaged:
            damaged.write(row)
        equal((run().code, sum(server.asked.values())), (0, 1))


def test_tidy():
    """tidy keeps the last row of each id, in the order of the rows"""
    out = new()
    with Server() as server:
        for word, changed in ("one", "ask"), ("two", "ask"):
            equal(allm(*MODEL, "-O", out, "--changed", changed, "-j", "1",
                       stdin=lines({"id": "a", "prompt": word},
                                   {"id": "b\"", "prompt": "b"}),
                       env=server.env).code, 0)
        equal([row["id"] for row in rows(out)], ["a", 'b"', "a"])
        with open(out, "ab") as torn:
            torn.write(b'{"id":"a"')
        run = allm("batch", "tidy", out)
        equal((run.code, run.out), (0, b""))
        holds(run.said, "2 of 3 rows")
        equal([(row["id"], row["text"]) for row in rows(out)],
              [('b"', "B"), ("a", "TWO")])
        equal(os.listdir(os.path.dirname(out)), ["out.jsonl"])
        equal(allm("batch", "-q", "tidy", out).err, b"")
    one_sentence(allm("batch", "tidy", "/nowhere.jsonl"), 2, "/nowhere.jsonl")
    one_sentence(allm("batch", "tidy", file("no.txt", "text\n")), 2,
                 "not a row of a batch")


def test_openai():
    """--openai writes OpenAI's format, which can be resumed, too"""
    out, bad = new(), '{"id": "x"}\n'
    with Server(script=lambda prompt, n: 400 if prompt == "word 1" else
                None) as server:
        for _ in range(2):
            run = allm(*MODEL, "--openai", "-O", out,
                       stdin=prompts(3) + bad, env=server.env)
            equal((run.code, len(rows(out))), (1, 4))
        equal(sum(server.asked.values()), 3)
    got = {row["custom_id"]: row for row in rows(out)}
    row = got["r0"]
    equal((row["response"]["status_code"], row["error"]), (200, None))
    body = row["response"]["body"]
    equal((body["object"], body["choices"][0]["message"],
           body["choices"][0]["finish_reason"]),
          ("chat.completion", {"role": "assistant", "content": "WORD 0"},
           "stop"))
    equal(body["usage"], {"prompt_tokens": 3, "completion_tokens": 2,
                          "total_tokens": 5})
    equal((got["r1"]["response"], got["r1"]["exit_code"]), (None, 5))
    holds(got["x"]["error"]["message"], "neither")
    out = new()
    for _ in range(2):
        allm("batch", *fake(["text", "cut"], ["finish", "length"]), "--openai",
             "-O", out, stdin=prompts(1))
    equal([row["exit_code"] for row in rows(out)], [9])


def test_locked():
    """of two processes on one OUT, one ends with exit code 11"""
    out = new()
    with Server(script=lambda *a: "never") as server:
        first = subprocess.Popen([ALLM, *MODEL, "-O", out],
                                 stdin=subprocess.PIPE,
                                 env={**CLEAN, **server.env})
        first.stdin.write(prompts(1).encode())
        first.stdin.flush()
        server.wait_for(1)
        run = allm(*MODEL, "-O", out, stdin=prompts(1), env=server.env)
        one_sentence(run, 11, "locked")
        first.kill()
        first.wait()


def test_bad_files():
    """OUT that is the input, a folder, another file, or a full disk"""
    source = file("same.jsonl", prompts(2))
    one_sentence(allm(*MODEL, source, "-O", source), 2, "it is the input")
    one_sentence(allm(*MODEL, source, "-O", HOME), 2, "cannot use")
    one_sentence(allm(*MODEL, source, "-O", file("x.txt", "text\n")), 2,
                 "not a row of a batch")
    note = file("note.txt", "text")
    one_sentence(allm(*MODEL, source, "-O", note), 2, "not a row of a batch")
    one_sentence(allm(*MODEL, source, "-O", ""), 2, "needs the name")
    equal(os.path.getsize(note), 4)
    one_sentence(allm(*MODEL, "/nowhere.jsonl"), 2, "/nowhere.jsonl")
    with Server() as server:
        run = allm(*MODEL, source, "-O", "/dev/full", env=server.env)
    equal(run.code, 2)
    holds(run.said, "No space left", "again to continue")


def test_killed():
    """killed at random times and resumed, no row is lost or asked twice"""
    kill_and_resume(count=400, kills=6, seed=3, folder=HOME, allm=ALLM,
                    env=CLEAN)


# ------------------------------------------------------------------ pacing


def test_retries():
    """refusals and broken answers are repeated"""
    def script(prompt, count):
        return {1: 500, 2: "cut", 3: 429}.get(count)
    with Server(script=script) as server:
        run = allm(*MODEL, stdin=prompts(4), env=server.env)
    equal(run.code, 0)
    equal([row["attempts"] for row in run.lines], [4] * 4)


def test_refused():
    """a provider that answers 429 for a while; `make refuse-batch`: a minute"""
    refuse_and_answer(2, HOME, ALLM, CLEAN)
    refuse_and_resume(2, HOME, ALLM, CLEAN, retry=1)


def test_never():
    """a provider that never answers: transient, after --timeout"""
    with Server(script=lambda *a: "never") as server:
        run = allm(*MODEL, "--timeout", "0.2", "--retry", "1",
                   stdin=prompts(2), env=server.env)
    equal((run.code, [row["exit_code"] for row in run.lines]), (3, [3, 3]))


def test_rate():
    """of 100 requests per second at least 90 are used, with few refusals"""
    tries = []      # one is enough: a busy machine delays what is on time
    while not any(tries) and len(tries) < 3:
        with Server(rate=100) as server:
            began = time.monotonic()
            run = allm(*MODEL, "-j", "64", stdin=prompts(500), env=server.env)
            spent = time.monotonic() - began
        equal((run.code, len(run.lines)), (0, 500))
        # The first window has begun.
        tries += [server.statuses[429] < 10 and spent < 500 / 90 + 1]
    assert any(tries), (server.statuses, spent)


def test_jobs():
    """at most -j requests are in flight"""
    with Server(delay=0.05) as server:
        equal(allm(*MODEL, "-j", "5", stdin=prompts(60),
                   env=server.env).code, 0)
    equal(server.most, 5)


def test_cost():
    """--max-cost stops before the amount is exceeded"""
    catalog = file("priced.json", json.dumps({"models": [
        {"provider": "vllm", "id": "m", "limits": {"output": 100},
         "pricing": {"input": 1000000, "output": 1000000}}]}))
    out = new()
    with Server() as server:
        env = {**server.env, "ALLM_CATALOG": catalog}
        run = allm(*MODEL, "--max-cost", "300", "-j", "1", "-O", out,
                   stdin=prompts(200), env=env)
        equal(run.code, 8)
        done = rows(out)
        assert 20 < len(done) < 60, len(done)
        assert sum(row["cost"] for row in done) <= 300
        one_sentence(allm(*MODEL, "--max-cost", "1", stdin=prompts(1),
                          env=server.env), 2, "price", "not known")
        # What is reserved is free again when the answer costs less.
        run = allm(*MODEL, "--max-cost", "300", "-j", "16",
                   stdin=prompts(30), env=env)
        equal((run.code, len(run.lines)), (0, 30))


# ---------------------------------------------------------- order and shards


def test_ordered():
    """--ordered writes the rows in the order of the input"""
    with Server(delay=0.03) as server:
        run = allm(*MODEL, "--ordered", "-j", "20", stdin=prompts(150) +
                   "broken\n", env=server.env)
    equal([row["id"] for row in run.lines[:-1]],
          [f"r{i}" for i in range(150)])
    equal((run.code, run.lines[-1]["exit_code"]), (1, 2))
    # many rows wait for the first one
    with Server(script=lambda prompt, _: 0.5 if prompt == "word 0" else None
                ) as server:
        run = allm(*MODEL, "--ordered", "-j", "20", stdin=prompts(150),
                   env=server.env)
    equal([row["id"] for row in run.lines], [f"r{i}" for i in range(150)])


def test_shards():
    """shards 1 to 7 together are the whole, of a file and of a pipe"""
    content = lines(*({"prompt": "x" * random.Random(i).randrange(90)
                       + str(i)} for i in range(100)))
    source, ids = file("all.jsonl", content), []
    whole = allm(*MODEL, source, "-O", new(), "--retry", "1")
    equal(whole.code, 3)        # nobody listens: the rows are transient
    for kind in source, "-":
        ids = []
        with Server() as server:
            for i in range(1, 8):
                out = new("o-%s.jsonl")
                run = allm(*MODEL, "--shard", f"{i}/7", kind, "-O", out,
                           stdin=content, env=server.env)
                equal(run.code, 0)
                ids += [row["id"] for row in
                        rows(out.replace("%s", f"{i}-of-7"))]
        equal(len(ids), 100)
        equal(len(set(ids)), 100)
        equal(max(server.asked.values()), 1)


def test_shard_auto():
    """--shard auto reads the variables of a scheduler"""
    for env, part in (
            ({"SLURM_ARRAY_TASK_ID": "5", "SLURM_ARRAY_TASK_COUNT": "3",
              "SLURM_ARRAY_TASK_MIN": "4"}, "2-of-3"),
            ({"SLURM_PROCID": "0", "SLURM_NTASKS": "2"}, "1-of-2"),
            ({"JOB_COMPLETION_INDEX": "3", "ALLM_SHARDS": "4"}, "4-of-4"),
            ({"PARALLEL_SEQ": "2", "ALLM_SHARDS": "2"}, "2-of-2"),
            ({"SLURM_ARRAY_TASK_ID": "5", "SLURM_ARRAY_TASK_COUNT": "3",
              "SLURM_ARRAY_TASK_MIN": "1", "SLURM_ARRAY_TASK_STEP": "2"},
             "3-of-3"),
            ({"SLURM_PROCID": "0", "PARALLEL_SEQ": "3", "ALLM_SHARDS": "4"},
             "3-of-4"),
            ({"SLURM_PROCID": "0", "SLURM_NTASKS": "1", "PARALLEL_SEQ": "3",
              "ALLM_SHARDS": "4"}, "3-of-4")):
        out = new("%s.jsonl")
        equal(allm(*MODEL, "--shard", "auto", "-O", out, env=env).code, 0)
        assert os.path.exists(out.replace("%s", part)), (env, part)
    for env in ({}, {"SLURM_PROCID": "3", "SLURM_NTASKS": "2"},
                {"PARALLEL_SEQ": "1"}):
        one_sentence(allm(*MODEL, "--shard", "auto", env=env), 2, "auto")
    for bad in "0/2", "3/2", "1", "a/b", "/", "1/":
        one_sentence(allm(*MODEL, "--shard", bad), 2, "I/N")
    one_sentence(allm(*MODEL, "-j", "5000"), 2, "-j is at most 4096")


# ------------------------------------------------------------ signals, stderr


def test_interrupted():
    """Ctrl-C: rows in flight get time; twice: it stops at once"""
    with Server(script=lambda prompt, n: prompt != "word 0" and "never"
                or None) as server:
        run = subprocess.Popen([ALLM, *MODEL, "-"], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               env={**CLEAN, **server.env})
        run.stdin.write(prompts(5).encode())
        run.stdin.flush()
        server.wait_for(5)
        equal(json.loads(run.stdout.readline())["id"], "r0")
        run.send_signal(signal.SIGINT)
        holds(run.stderr.readline().decode(), "interrupted",
              "4 requests in flight")
        run.send_signal(signal.SIGINT)
        out, _ = run.communicate(timeout=30)
        equal((run.returncode, out), (130, b""))


def test_summary():
    """--summary has counts, tokens and latencies"""
    path = new("summary.json")
    with Server() as server:
        run = allm(*MODEL, "--summary", path, stdin=prompts(9) + "broken\n",
                   env=server.env)
    equal(run.code, 1)
    with open(path, encoding="utf-8") as out:
        summary = json.load(out)
    equal([summary[key] for key in ("rows", "ok", "failed", "skipped",
                                    "exit_codes", "input_tokens",
                                    "output_tokens", "cost")],
          [10, 9, 1, 0, {"0": 9, "2": 1}, 27, 18, None])
    latency = summary["latency_ms"]
    assert latency["p50"] <= latency["p95"] <= latency["max"], latency


def test_progress():
    """on a terminal one line shows the progress, at most ten times a second"""
    with Server(delay=0.05) as server:
        source = file("shown.jsonl", prompts(100))
        began = time.monotonic()
        t = Terminal(*MODEL, "-j", "8", source, "-O", new(), env=server.env)
        equal(t.end(), 0)
        spent = time.monotonic() - began
    said = t.said.decode()
    shown = said.split("\r")
    assert 2 <= len(shown) <= spent * 10 + 3, (spent, said)
    holds(shown[-2], "100 done, 0 failed, 0 in flight", "rows/s",
          "300 tokens in, 200 out", "cost unknown")
    holds(said, "left")
    assert all(len(line) < 80 for line in shown[:-2]), said
    with Server() as server:
        t = Terminal(*MODEL, "-q", source, "-O", new(), env=server.env)
        equal((t.end(), t.said), (0, b""))


def test_quiet():
    """a short run prints nothing on stderr, and -q never does"""
    with Server() as server:
        for more in [], ["-q"]:
            equal(allm(*MODEL, *more, stdin=prompts(3), env=server.env).err,
                  b"")


def test_no_key():
    """without a key: exit code 4; a row that is forbidden stops nothing"""
    run = allm("batch", "-m", "openai:gpt-5", stdin=prompts(9))
    equal((run.code, run.said.count("\n")), (4, 1))
    holds(run.said, "OPENAI_API_KEY")
    status = {"word 1": 403, "word 3": 401}
    with Server(script=lambda prompt, count: status.get(prompt)) as server:
        run = allm(*MODEL, "-j", "1", stdin=prompts(5), env=server.env)
    equal((run.code, [row["exit_code"] for row in run.lines]),
          (4, [0, 4, 0, 4]))    # the 403 is about one row


if __name__ == "__main__":
    main(globals())
