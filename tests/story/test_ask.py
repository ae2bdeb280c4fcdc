#!/usr/bin/env python3
"""test_ask - allm [PROMPT...], version, help and exit codes, run in pipes"""
import json
import os
import pty
import re
import signal
import subprocess
import time

from program import (ALLM, CLEAN, HOME, allm, equal, fake, file, holds, main,
                     one_sentence, scripts, text)

EXIT_CODES = (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 130, 141, 143)


def on_terminal(*args):
    """What the program writes if its input and output are a terminal."""
    ours, theirs = pty.openpty()
    child = subprocess.Popen([ALLM, *args], stdin=theirs, stdout=theirs,
                             stderr=theirs, env=CLEAN, cwd=HOME)
    os.close(theirs)
    said = b""
    while True:
        try:
            piece = os.read(ours, 4096)
        except OSError:
            break
        if not piece:
            break
        said += piece
    os.close(ours)
    return child.wait(timeout=20), said


def asked(*args, **more):
    """The messages that would be sent."""
    run = allm("-m", "openai:gpt-4.1", "--dry-run", *args, **more)
    equal(run.code, 0)
    return run.json["body"]["messages"]


def test_answer():
    """stdout is the answer and nothing else"""
    run = allm(*text(), "hi", "there")
    equal((run.code, run.out, run.err), (0, b"Hello.\n", b""))
    run = allm(*text("with its own end\n"), "hi")
    equal(run.out, b"with its own end\n")
    run = allm(*text(), "--no-stream", "hi")
    equal(run.out, b"Hello.\n")


def test_prompt():
    """the prompt is the piped input, then the arguments"""
    equal(asked("a", "b"), [{"role": "user", "content": "a b"}])
    equal(asked("a", stdin="in\n"), [{"role": "user", "content": "in\n\na"}])
    equal(asked(stdin="in\n"), [{"role": "user", "content": "in"}])
    equal(asked("-s", "sys", "--", "-x"),
          [{"role": "system", "content": "sys"},
           {"role": "user", "content": "-x"}])
    equal(asked("ask", "models"), [{"role": "user", "content": "ask models"}])


def test_no_stdin():
    """a closed or empty standard input never blocks"""
    for stdin in (None, b""):
        equal(allm(*text(), "hi", stdin=stdin).out, b"Hello.\n")
        run = allm(*text(), stdin=stdin)
        equal((run.code, run.out), (2, b""))
        holds(run.said, "no prompt")


def test_much():
    """10 MB on standard input are one prompt"""
    run = allm(*text(), "hi", stdin=b"x" * 10_000_000)
    equal((run.code, run.out), (0, b"Hello.\n"))
    run = allm(*text(), "hi", stdin=b"y" * (65 * 1024 * 1024))
    one_sentence(run, 2, "larger than 64 MiB")


def test_binary():
    """input that is not text is rejected"""
    one_sentence(allm(*text(), stdin=b"\x7fELF\0\0\xff"), 2, "not UTF-8 text")
    one_sentence(allm(*text(), "-a", file("x.bin", b"\0\1\2"), "hi"), 2,
                 "x.bin is neither UTF-8 text")
    one_sentence(allm(*text(), "-a", "/nowhere", "hi"), 2, "/nowhere")
    one_sentence(allm(*text(), "-a", "/", "hi"), 2, "directory")
    one_sentence(allm(*text(), b"\xff\xfe"), 2, "not UTF-8 text")


def test_huge_file():
    """a file of more than 64 MiB is rejected"""
    path = os.path.join(HOME, "huge.txt")
    with open(path, "wb") as out:
        out.truncate(65 * 1024 * 1024)
    for words in (("-a", path), ("--schema", path)):
        one_sentence(allm(*text(), *words, "hi"), 2, "larger than 64 MiB")
    os.remove(path)


def test_home():
    """the home directory is neither read nor written"""
    for home in ("/nowhere", "/proc", "", "/dev/null"):
        run = allm(*text(), "hi", env={"HOME": home}, cwd="/proc")
        equal((run.code, run.out, run.err), (0, b"Hello.\n", b""))
        equal(allm("demo", env={"HOME": home}, cwd="/").code, 0)


def test_attachments():
    """files are sent with the prompt: text with its name, images as images"""
    name = file("note.txt", "line\n")
    png = file("dot.png", b"\x89PNG\r\n\x1a\n" + b"\0" * 20)
    parts = asked("-a", name, "-a", png, "what?")[0]["content"]
    equal([p["type"] for p in parts], ["text", "image_url", "text"])
    equal(parts[0]["text"], name + ":\n\nline\n")
    equal(parts[2]["text"], "what?")


def test_json():
    """--json prints one document with a version"""
    run = allm(*text(), "--json", "hi")
    got = run.json
    equal((got["version"], got["ok"], got["text"], got["finish_reason"]),
          (1, True, "Hello.", "stop"))
    equal(got["usage"]["input_tokens"], 3)
    run = allm("-m", "fake:m", "--json", "hi")
    equal((run.code, run.json["ok"], run.json["exit_code"], run.err),
          (12, False, 12, b""))
    equal(run.json["error"]["reason"], "no_scripted_response")


def test_events():
    """--events prints a line of JSON for each event"""
    lines = allm(*text(), "--events", "hi").lines
    equal(lines[0]["type"], "message_started")
    equal(lines[-1]["type"], "chat_completed")
    one_sentence(allm("--json", "--events", "hi"), 2, "exclude each other")
    for flag in "-x", "--xl", "--xa":
        one_sentence(allm("--events", flag, "hi"), 2, "exclude each other")


def test_usage():
    """-u prints the tokens to stderr, -q prints nothing"""
    run = allm(*text(), "-u", "hi")
    equal(run.out, b"Hello.\n")
    assert re.fullmatch(r"usage: 3 tokens in, 2 out, cost unknown, first token "
                        r"after \d+\.\d\d s, \d+\.\d\d s in total\n",
                        run.said), run.said
    equal(allm(*text(), "-u", "-q", "hi").err, b"")
    holds(allm(*text(), "-v", "hi").said, "using fake:m", '"span":"chat"')
    used = ["usage", {"input_tokens": 3, "output_tokens": 2}]
    schema = file("n.json", '{"type": "object"}')
    run = allm(*scripts([["text", "no"], used, ["finish", "stop"]],
                        [["text", "{}"], used, ["finish", "stop"]]),
               "--schema", schema, "--json", "-u", "hi")
    equal((run.code, run.json["usage"]["input_tokens"]), (0, 6))
    holds(run.said, "usage: 6 tokens in, 4 out, ")


def test_schema():
    """--schema accepts a valid answer; an invalid one is exit code 6"""
    schema = file("s.json", '{"type": "object", "required": ["a"]}')
    run = allm(*text('{"a": 1}'), "--schema", schema, "--json", "hi")
    equal((run.code, run.json["value"]), (0, {"a": 1}))
    run = allm("-m", "fake:m", "-o", "adapter_opts", json.dumps(
        {"scripts": [[["text", "{}"], ["finish", "stop"]]] * 9}),
        "--schema", schema, "hi")
    equal(run.code, 6)
    one_sentence(allm(*text(), "--schema", file("t.json", "{"), "hi"), 2,
                 "t.json is not JSON")
    said = allm("--schema", file("t.json", "{"), "hi").said
    assert "allm_" not in said, said
    one_sentence(allm(*text(), "--schema", file("u.json", '{"type": "x"}'),
                      "hi"), 2, "not a JSON Schema")


def test_schema_ignored():
    """if a server ignores --schema, the message names the other dialect"""
    schema = file("i.json", '{"type": "object"}')
    for name, other in (("llamacpp_anthropic", "llamacpp"),
                        ("ollama_anthropic", "ollama")):
        run = allm("-m", name + ":m", "--schema", schema, "--dry-run", "hi")
        equal(run.code, 0)
        holds(run.said, name + " ignores --schema", "-m " + other + ":m")
    run = allm("-m", "llamacpp:m", "--schema", schema, "--dry-run", "hi")
    equal((run.code, run.said), (0, ""))


def test_exit_codes():
    """every kind of failure has its exit code"""
    def code(*entries, words=()):
        return allm(*fake(*entries), *words, "hi").code
    equal(code(["error", "malformed_response"]), 1)
    equal(code(["error", "rate_limited"]), 3)
    equal(code(["preflight_error", "network_error"]), 3)
    equal(code(["error", "authentication_failed"]), 4)
    one_sentence(allm("-m", "openai:gpt-4.1", "hi"), 4, "OPENAI_API_KEY")
    equal(code(["error", "context_length_exceeded"]), 5)
    equal(allm("-m", "nobody:x", "hi").code, 5)
    equal(code(["text", "x"], ["finish", "content_filter"]), 7)
    equal(code(["text", "x"], ["finish", "length"]), 9)
    equal(code(["stream_error", "truncated"]), 9)
    equal(code(["tool_call", {"id": "a", "name": "f", "arguments": {}}],
               ["finish", "tool_calls"], words=("-o", "mode", "manual")), 10)
    equal(allm("-m", "fake:m", "hi").code, 12)
    equal(code(["delay", 5000], ["text", "x"], ["finish", "stop"],
               words=("--timeout", "0.05")), 3)
    holds(allm("help", "--all", "ask").text, *[f"{c:3}  " for c in EXIT_CODES])


def test_time():
    """the message of a timeout names the flag that allows more time"""
    late = fake(["delay", 5000], ["text", "x"], ["finish", "stop"])
    one_sentence(allm(*late, "--timeout", "0.05", "hi"), 3,
                 "--timeout SECONDS")
    one_sentence(allm(*late, "-o", "first_ms", "50", "-o", "retry", "false",
                      "hi"), 3, "-o first_ms N")
    late = fake(["text", "x"], ["delay", 5000], ["finish", "stop"])
    holds(allm(*late, "-o", "silence_ms", "50", "hi").said, "-o silence_ms N")
    holds(allm(*late, "--timeout", "0.05", "--json", "hi").text,
          "--timeout SECONDS")


def test_reasons():
    """every other ending is explained in one sentence"""
    def said(code, *entries, words=()):
        run = allm(*fake(*entries), *words, "hi")
        equal((run.code, run.said.count("\n")), (code, 1))
        assert run.said.startswith("allm: "), run.said
        return run.said
    holds(said(7, ["text", "x"], ["finish", "content_filter"]), "refused")
    holds(said(8, ["text", "x"], ["finish", "tool_calls"],
               words=("--max-turns", "1")), "--max-turns N")
    holds(said(9, ["text", "x"], ["finish", "length"]), "--max-tokens N")
    holds(said(9, ["text", "x"], ["stream_error", "truncated"]), "truncated")
    holds(said(4, ["error", "authentication_failed"]), "allm keys shows")
    holds(said(5, ["error", "context_length_exceeded"]), "shorten the prompt")
    call = ["tool_call", {"id": "a", "name": "f", "arguments": {}}]
    holds(said(10, call, ["finish", "tool_calls"],
               words=("-o", "mode", "manual")), "tools")
    holds(said(1, call, ["finish", "tool_calls"]), '"f"', "does not have")
    schema = file("v.json", '{"type": "integer"}')
    run = allm("-m", "fake:m", "-o", "adapter_opts", json.dumps(
        {"scripts": [[["text", "no"], ["finish", "stop"]]] * 9}),
        "--schema", schema, "hi")
    equal((run.code, run.said.count("\n")), (6, 1))


def test_missing_key():
    """the message of a missing key names the variable to set"""
    for words in ((), ("--json",), ("--events",)):
        run = allm("-m", "openai:gpt-4.1", *words, "hi")
        equal(run.code, 4)
        said = (run.out + run.err).decode()
        holds(said, "OPENAI_API_KEY", "allm keys")
        assert "allm_keys" not in said, said


def test_instruction():
    """a system prompt must be text, and a model must have a name"""
    bad = b"a\xff".decode("utf-8", "surrogateescape")
    one_sentence(allm("-s", bad, *text(), "hi"), 2, "not UTF-8 text")
    one_sentence(allm("chat", "-s", bad, *text()), 2, "not UTF-8 text")
    one_sentence(allm("-m", "fake:", "hi"), 5, '"fake:"', "PROVIDER:MODEL")


def test_partial():
    """partial text is on stdout, the reason of the failure on stderr"""
    run = allm(*fake(["text", "partial"], ["error", "rate_limited"]), "hi")
    equal((run.code, run.out), (3, b"partial\n"))
    assert run.said.startswith("allm: "), run.said


def test_nobody():
    """without a provider: three lines, exit code 4"""
    run = allm("hi")
    equal((run.code, run.out, run.said.count("\n")), (4, b"", 3))
    holds(run.said, "OPENAI_API_KEY", "ollama", "llamacpp",
          "allm demo")


def test_model():
    """the model comes from -m, then ALLM_MODEL, then the first key"""
    def model(*words, **env):
        run = allm(*words, "--dry-run", "hi", env=env)
        return run.json["body"]["model"]
    equal(model("-m", "groq:a", ALLM_MODEL="openai:b"), "a")
    equal(model(ALLM_MODEL="openai:b"), "b")
    assert model(ANTHROPIC_API_KEY="sk-ant-x").startswith("claude")
    headers = allm("-m", "vllm:a", "--dry-run", "hi").json["headers"]
    assert "authorization" not in headers, headers
    one_sentence(allm("-m", "x" * 300, "hi"), 5, "unknown model")
    for given in "openai", "openai:":
        one_sentence(allm("-m", given, "hi"), 5,
                     f'"{given}" names a provider', "allm models -m openai:")
    one_sentence(allm("-m", "openai:" + "x" * 300, "hi"), 2, "too long")


def test_keys_stay():
    """no key is ever shown"""
    key = "sk-1234567890abcdef"
    for words in (("--dry-run", "hi"), ("-v", "hi"), ("keys",), ("doctor",)):
        run = allm(*words, env={"OPENAI_API_KEY": key})
        assert key.encode() not in run.out + run.err, words


def test_bad_flags():
    """an unknown flag or command: a suggestion, exit code 2"""
    one_sentence(allm("--modle", "x"), 2, 'did you mean "--model"?',
                 "--help --all")
    one_sentence(allm("-Z"), 2, '"-Z"')
    one_sentence(allm("decode", "--rwa", "x"), 2, '"--raw"')
    one_sentence(allm("verison"), 2, 'did you mean "allm version"?')
    one_sentence(allm("aks", "x"), 2, 'did you mean "allm ask"?')
    for words in ("logs",), ("logs", "-n", "3"):
        one_sentence(allm(*words), 2, 'did you mean "allm sessions"?')
    one_sentence(allm("help", "decod"), 2, 'did you mean "decode"?')
    for words in (("what", "is", "love"), ("reply", "yes"), ("that",),
                  ("cat", "names"), ("end",), ("as", "is"),
                  ("logs", "show", "two", "errors")):
        run = allm(*words, env={"ALLM_MODEL": "fake:m"})
        equal((run.code, "unknown command" in run.said), (12, False))
    one_sentence(allm("-m"), 2, "needs a value")
    one_sentence(allm("-o", "k"), 2, "K V")
    one_sentence(allm("-o", "top_p=0.5", "hi"), 2, "--option top_p 0.5")
    for words in ("--api-key=sk-1234",), ("-o", "api_key=sk-1234", "hi"):
        run = allm(*words)
        one_sentence(run, 2)
        assert "sk-1234" not in run.said, run.said
    one_sentence(allm("--modle=x", "hi"), 2, 'did you mean "--model"?')
    for words in ("--json", "--copy"), ("--events", "--copy"):
        one_sentence(allm(*words, "hi"), 2, "exclude each other")
    one_sentence(allm("--json=1", "x"), 2, "takes no value")
    one_sentence(allm("--timeout", "soon", "x"), 2, "number of seconds")
    one_sentence(allm("--max-turns", "0", "x"), 2, "from 1 on")
    one_sentence(allm("version", "x"), 2, "takes no arguments")


def test_help():
    """--help fits on a screen and has examples"""
    for words in (("--help",), ("-h",), ("help",)):
        run = allm(*words)
        equal(run.code, 0)
        assert run.text.count("\n") <= 45, run.text.count("\n")
        assert max(len(line) for line in run.text.splitlines()) <= 80
        holds(run.text, "examples:", "decode", "--schema")
    holds(allm("decode", "--help").text, "usage: allm decode DIALECT [FILE]")


def test_version():
    """the version of program and library"""
    assert allm("version").text.startswith("allm 0."), "version"
    equal(allm("--version").out, allm("version").out)


def test_terminal():
    """control characters from a model are escaped on a terminal"""
    bad = "\x1b[31m\x9b31m\x07\x7f\rt\tn\nä€"
    code, said = on_terminal(*text(bad), "hi")
    equal(said, "\\u001b[31m\\u009b31m\\u0007\\u007f t n ä€\r\n".encode())
    code, said = on_terminal("--markdown", "off", *text(bad), "hi")
    equal(code, 0)
    equal(said, "\\u001b[31m\\u009b31m\\u0007\\u007f\\u000dt\tn\r\nä€\r\n"
          .encode())
    for flag in ("--json", "--events"):
        code, said = on_terminal(*text(bad), flag, "hi")
        for byte in (b"\x1b", b"\xc2\x9b", b"\x07", b"\x7f"):
            assert byte not in said, (flag, said)
    code, said = on_terminal(*fake(["error", "unknown",
                                    {"message": bad}]), "hi")
    assert b"\x1b" not in said and code == 1, said
    code, said = on_terminal("-v", *fake(["error", "unknown",
                                          {"message": bad}]), "hi")
    for byte in (b"\x1b", b"\xc2\x9b", b"\x07", b"\x7f"):
        assert byte not in said, said
    equal(allm(*text(bad), "hi").out, bad.encode() + b"\n")


def test_closed_stdout():
    """a closed or broken stdout is an error"""
    for words in (["version"], [*text(), "hi"], ["--help"], ["demo"]):
        done = subprocess.run(["sh", "-c", 'exec "$@" >&-', "sh", ALLM,
                               *words], env=CLEAN, capture_output=True,
                              stdin=subprocess.DEVNULL, check=False)
        equal(done.returncode, 1)
        holds(done.stderr.decode(), "cannot write to standard output")
        if os.path.exists("/dev/full"):
            with open("/dev/full", "wb") as full:
                done = subprocess.run([ALLM, *words], env=CLEAN, stdout=full,
                                      stdin=subprocess.DEVNULL, check=False,
                                      stderr=subprocess.PIPE)
            equal(done.returncode, 1)
            holds(done.stderr.decode(), "No space left")


def test_nonblocking_stdout():
    """a slow non-blocking pipe gets the whole answer"""
    words = "".join(f"{n}\n" for n in range(18000))
    for flags in ([], ["--json"], ["--no-stream"]):
        ours, theirs = os.pipe()
        os.set_blocking(theirs, False)
        child = subprocess.Popen([ALLM, *flags, *text(words), "hi"],
                                 stdin=subprocess.DEVNULL, stdout=theirs,
                                 stderr=subprocess.PIPE, env=CLEAN)
        os.close(theirs)
        time.sleep(0.2)         # it is full now
        got = b""
        while piece := os.read(ours, 65536):
            got += piece
        os.close(ours)
        equal((child.wait(timeout=20), child.stderr.read()), (0, b""))
        if flags == ["--json"]:
            holds(got.decode(), json.dumps(words))
        else:
            equal(got.decode(), words)


def test_nonblocking_stdin():
    """non-blocking standard input is read to its end"""
    ours, theirs = os.pipe()
    os.set_blocking(ours, False)
    child = subprocess.Popen([ALLM, "--dry-run", "-m", "groq:a"], stdin=ours,
                             stdout=subprocess.PIPE, env=CLEAN)
    for piece in (b"one ", b"two ", b"three"):
        os.write(theirs, piece)
        time.sleep(0.1)
    os.close(theirs)
    os.close(ours)
    out = child.communicate(timeout=20)[0]
    equal(json.loads(out)["body"]["messages"][0]["content"], "one two three")


def test_broken_pipe():
    """output pipe closed: exit code 141, no message, and the call ends"""
    late = fake(["delay", 60000], ["text", "x"], ["finish", "stop"])
    for words in text("x" * 100000), late, [*late, "--json"]:
        ours, theirs = os.pipe()
        os.close(ours)
        done = subprocess.run([ALLM, *words, "hi"], env=CLEAN, stdout=theirs,
                              stderr=subprocess.PIPE, timeout=20,
                              stdin=subprocess.DEVNULL, check=False)
        os.close(theirs)
        equal((done.returncode, done.stderr), (141, b""))


def start_long_call(*before):
    """A call that has printed "begun" and goes on for a minute"""
    child = subprocess.Popen(
        [*before, ALLM, *fake(["text", "begun"], ["delay", 60000],
                              ["finish", "stop"]), "hi"],
        env=CLEAN, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
    equal(os.read(child.stdout.fileno(), 100), b"begun")
    return child


def test_signals():
    """Ctrl-C, SIGTERM and SIGHUP end a call with 130, 143 and 129"""
    for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143),
                         (signal.SIGHUP, 129)):
        child = start_long_call()
        began = time.monotonic()
        child.send_signal(number)
        equal(child.communicate(timeout=20)[0], b"\n")
        equal(child.returncode, code)
        assert time.monotonic() - began < 5


def test_ignored_signals():
    """a signal that was ignored at the start, as by nohup, stays ignored"""
    child = start_long_call("nohup")
    child.send_signal(signal.SIGHUP)
    child.send_signal(signal.SIGTERM)
    equal(child.communicate(timeout=20)[0], b"\n")
    equal(child.returncode, 143)


if __name__ == "__main__":
    main(globals())
