#!/usr/bin/env python3
"""test_flags - the flags of ask: files, schemas, code blocks, limits, taps"""
import base64
import http.server
import json
import os

from place import Serving
from program import (ALLM, HOME, Terminal, allm, equal, fake, file, holds,
                     main, one_sentence, text)

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 20
CODE = fake(["text", "Look:\n```c\nint a;\n```\nor `b`:\n  ~~~~ sh\nls\n```\n"
             "~~~~\nand\n```\nopen"], ["finish", "stop"])


def body(*args, **more):
    """The request that would be sent."""
    run = allm("-m", "openai:gpt-4.1", "--dry-run", *args, **more)
    equal(run.code, 0)
    return run.json["body"]


def content(*args, **more):
    return body(*args, **more)["messages"][-1]["content"]


def test_system_file():
    """-s @FILE reads the system prompt from a file"""
    path = file("system.txt", "Be brief.\n\n")
    equal(body("-s", "@" + path, "hi")["messages"][0],
          {"role": "system", "content": "Be brief."})
    one_sentence(allm(*text(), "-s", "@/nowhere", "hi"), 2, "/nowhere")
    for bytes_ in (b"a\0b", b"\xff"):
        one_sentence(allm(*text(), "-s", "@" + file("b.bin", bytes_), "hi"),
                     2, "not UTF-8 text")


def test_file():
    """-f puts text before the prompt, in a fence that it cannot end"""
    path = file("a.txt", "one\n")
    equal(content("-f", path, "what?"), f"```{path}\none\n```\n\nwhat?")
    equal(content("-f", path, "-f", path, "x", stdin="piped"),
          f"```{path}\none\n```\n\n" * 2 + "piped\n\nx")
    path = file("b.md", "````\nx")
    equal(content("-f", path, "y"), f"`````{path}\n````\nx\n`````\n\ny")
    equal(content("-f", "-", "y", stdin="in"), "```stdin\nin\n```\n\ny")
    equal(allm(*text(), "-f", path).code, 0)
    one_sentence(allm(*text(), "-f", file("x.bin", b"\0\1"), "hi"), 2,
                 "x.bin is not UTF-8 text")
    one_sentence(allm(*text(), "-f", "-", "-a", "-", "hi", stdin="x"), 2,
                 "only once")


def test_content_decides():
    """the content of an attachment says what it is, not its name"""
    parts = content("-a", file("image.txt", PNG), "-a",
                    file("note.png", "words\n"), "hi")
    equal([p["type"] for p in parts], ["image_url", "text", "text"])
    holds(parts[0]["image_url"]["url"], "data:image/png;base64,")
    for head, mime in ((b"\xff\xd8\xff\xe0", "jpeg"), (b"GIF89a", "gif"),
                       (b"RIFF\0\0\0\0WEBPVP8 ", "webp")):
        parts = content("-a", file("x", head + b"\0\1"), "hi")
        holds(parts[0]["image_url"]["url"], f"data:image/{mime};base64,")
    parts = content("-a", "-", "what?", stdin=PNG)
    equal([p["type"] for p in parts], ["image_url", "text"])
    one_sentence(allm(*text(), "-a", file("x.txt", b"%PDF-1.4\n\xff"), "hi"),
                 2, "application/pdf")


def test_typed():
    """--at FILE MIME overrides the content; a URL is passed on"""
    path = file("raw", b"\1\2\3")
    parts = content("--at", path, "image/png", "hi")
    holds(parts[0]["image_url"]["url"], "data:image/png;base64,AQID")
    one_sentence(allm(*text(), "--at", path, "video/mp4", "hi"), 2,
                 "video/mp4")
    url = "https://example.com/cat.png"
    parts = content("-a", url, "hi")
    equal(parts[0]["image_url"]["url"], url)
    parts = content("-a", "HTTPS" + url[5:], "hi")
    equal(parts[0]["image_url"]["url"], "HTTPS" + url[5:])
    one_sentence(allm("-m", "ollama:llava", "--dry-run", "-a", url, "hi"), 2,
                 url, "--dry-run")


class Proxy(Serving):
    """Answers for every host: an image for GET, else as Ollama does."""

    def __init__(self, image):
        asked = self.asked = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def answer(self, body, request):
                asked.append((self.path, dict(self.headers), request))
                self.send_response(200)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_GET(self):
                self.answer(image, None)

            def do_POST(self):
                size = int(self.headers["content-length"])
                self.answer(b'{"message": {"role": "assistant", "content": '
                            b'"a cat"}, "done": true, "done_reason": "stop"}'
                            b"\n", json.loads(self.rfile.read(size)))

            def log_message(self, *args):
                pass

        self.server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"


def test_fetches_urls():
    """a URL is fetched, once, for a provider that does not fetch it"""
    call = ["-m", "ollama:llava", "--base-url", "http://ollama.test"]
    url = "http://images.test/cat?id=1"
    with Proxy(PNG) as proxy:
        run = allm(*call, "--proxy", proxy.url, "-a", url, "hi",
                   env={"OLLAMA_API_KEY": "planted"})
        equal((run.code, run.text), (0, "a cat\n"))
        equal([path for path, _, _ in proxy.asked],
              [url, "http://ollama.test/api/chat"])
        assert "planted" not in json.dumps(proxy.asked[0])
        equal(proxy.asked[1][2]["messages"][-1]["images"],
              [base64.b64encode(PNG).decode()])
    with Proxy(b"no image") as proxy:
        one_sentence(allm(*call, "--proxy", proxy.url, "-a", url, "hi"), 2,
                     url, "is not an image")
        equal(len(proxy.asked), 1)
        run = allm(*call, "--proxy", proxy.url, "-a", "http://me:planted@x/y",
                   "hi")
        one_sentence(run, 2, "name or a password")
        assert "planted" not in run.said
        equal(len(proxy.asked), 1)
    with Proxy(PNG) as near:
        for host in near.url, near.url.replace("127.0.0.1", "localhost"):
            for direct in [], ["--proxy", ""]:
                one_sentence(allm(*call, *direct, "-a", host + "/x", "hi"), 2,
                             host, "cannot fetch")
        equal(near.asked, [])
    with Proxy(PNG) as proxy:
        for asked in url + "/", "http://images.test/?u=a/":
            run = allm(*call, "--proxy", proxy.url, "-a", asked + "#part",
                       "hi")
            equal((run.code, proxy.asked[-2][0]), (0, asked))


def test_schema_words():
    """--schema 'name, age int' stands for a JSON Schema"""
    got = body("--schema", "name, age int: in years, tags [str], ok bool, "
               "x float", "hi")["response_format"]["json_schema"]["schema"]
    equal(got["required"], ["name", "age", "tags", "ok", "x"])
    equal(got["properties"]["age"],
          {"type": "integer", "description": "in years"})
    equal(got["properties"]["tags"],
          {"type": "array", "items": {"type": "string"}})
    equal([got["properties"][k]["type"] for k in ("name", "ok", "x")],
          ["string", "boolean", "number"])
    run = allm(*text('{"name": "Ada"}'), "--schema", "name", "--json", "hi")
    equal((run.code, run.json["value"]), (0, {"name": "Ada"}))
    got = body("--schema", "a str: one, two\nb int", "hi")
    equal(got["response_format"]["json_schema"]["schema"]["properties"]["a"],
          {"type": "string", "description": "one, two"})
    one_sentence(allm(*text(), "--schema", "a foo", "hi"), 2, '"foo"', "str")
    one_sentence(allm(*text(), "--schema", "1a int", "hi"), 2, '"1a"')
    one_sentence(allm(*text(), "--schema", ", ,", "hi"), 2, "no field")
    one_sentence(allm(*text(), "--schema", "a [", "hi"), 2, '"["')
    one_sentence(allm(*text(), "--schema", "a, a", "hi"), 2, "--schema")
    one_sentence(allm(*text(), "--schema", "./no.json", "hi"), 2, "no.json")


def test_extract():
    """-x, --xl and --xa print only code blocks; without one: exit code 9"""
    equal(allm(*CODE, "-x", "hi").out, b"int a;\n")
    equal(allm(*CODE, "--xl", "hi").out, b"open\n")
    equal(allm(*CODE, "--xa", "hi").out, b"int a;\nls\n```\nopen\n")
    for answer, code in (("- a\n  ```sh\n  if x\n    y\n\n  ```\n",
                          "if x\n  y\n\n"),
                         ("10. a\n\n    ```\n  b\n    c\n    ```\n",
                          "b\nc\n"),
                         ("* ~~~\n  a\n      ~~~\n  ~~~", "a\n    ~~~\n"),
                         ("  ```\n\ta\n ```\n", "\ta\n")):
        equal(allm(*text(answer), "-x", "hi").text, code)
    equal(allm(*text("1. a\n\nb\n\n    ```\n    c\n"), "-x", "hi").code, 9)
    run = allm(*text("nothing\n"), "-x", "hi")
    equal((run.code, run.out), (9, b""))
    holds(run.said, "no code block", "nothing\n")
    run = allm(*fake(["text", "```\nx\n```"], ["error", "rate_limited"]),
               "-x", "hi")
    equal((run.code, run.out), (3, b""))
    run = allm(*fake(["text", "```\nx"], ["finish", "length"]), "-x", "hi")
    equal((run.code, run.out), (9, b""))
    holds(run.said, "token limit", "```\nx\n")    # it was paid for


def test_extract_json():
    """with --json, text has only the code blocks; without one: exit code 9"""
    equal(allm(*CODE, "--json", "--xl", "hi").json["text"], "open\n")
    run = allm(*text("nothing"), "--json", "-x", "hi")
    got = run.json
    equal((run.code, got["ok"], got["exit_code"], got["text"], run.err),
          (9, False, 9, "nothing", b""))


def test_options():
    """--max-tokens and --reasoning become options of the provider"""
    got = body("--max-tokens", "2k", "hi")
    equal(got.get("max_completion_tokens", got.get("max_tokens")), 2000)
    for level, wanted in (("low", "low"), ("high", "high"), ("3000", "medium"),
                          ("0", "none"), ("100k", "high")):
        run = allm("-m", "openai:gpt-5", "--reasoning", level, "--dry-run",
                   "hi")
        holds(run.text, f'"{wanted}"')
    one_sentence(allm(*text(), "--reasoning", "wild", "hi"), 2, "medium",
                 '"wild"')
    run = allm("-m", "anthropic:claude-sonnet-4-5", "--reasoning", "5000",
               "--dry-run", "hi")
    equal(run.json["body"]["thinking"]["budget_tokens"], 5000)
    equal(allm(*text(), "--reasoning", "0.5", "hi").code, 2)


def test_max_input():
    """--max-input bounds what is read"""
    one_sentence(allm(*text(), "--max-input", "100", stdin="x" * 200), 2,
                 "larger than 100 bytes", "--max-input")
    equal(allm(*text(), "--max-input", "100", stdin="x" * 90).code, 0)
    equal(allm(*text(), "--max-input", "80M", stdin=b"x" * 70_000_000).code,
          0)


def test_max_cost():
    """--max-cost: what a call may cost is reserved before it is sent"""
    catalog = file("priced.json", json.dumps({"models": [
        {"provider": "vllm", "id": "m", "limits": {"output": 1000},
         "pricing": {"input": 10, "output": 1000}}]}))
    env = {"ALLM_CATALOG": catalog}
    run = allm("-m", "vllm:m", "--max-cost", "0.5", "hi", env=env)
    one_sentence(run, 8, "up to $1.0", "--max-tokens")
    run = allm("-m", "vllm:m", "--max-cost", "0.5", "--max-tokens", "400",
               "--retry", "1", "hi", env=env)
    equal(run.code, 3)      # it was sent, and nobody listens
    one_sentence(allm("-m", "vllm:x", "--max-cost", "1", "hi", env=env), 2,
                 "price", "not known")
    equal(allm(*text(), "--max-cost", "0.01", "hi").code, 0)


def test_retry():
    """--retry N: N attempts"""
    run = allm(*fake(["preflight_error", "rate_limited"]), "--retry", "1",
               "-v", "hi")
    equal((run.code, '"what":"retry"' in run.said), (3, False))


def test_record():
    """--record, then --replay without a key; --trace appends lines"""
    path = os.path.join(HOME, "call.recording")
    trace = os.path.join(HOME, "trace.jsonl")
    run = allm("-m", "openai:gpt-4.1", "--record", path, "--retry", "1", "hi",
               env={"OPENAI_API_KEY": "sk-secret-secret",
                    "OPENAI_BASE_URL": "http://127.0.0.1:1/v1"})
    equal(run.code, 3)
    with open(path, encoding="utf-8") as source:
        recorded = source.read()
    assert "sk-secret" not in recorded, recorded
    equal(os.stat(path).st_mode & 0o777, 0o600)
    holds(recorded, "allm_recording")
    run = allm("-m", "openai:gpt-4.1", "--replay", path, "--retry", "1", "hi",
               env={"OPENAI_BASE_URL": "http://127.0.0.1:1/v1"})
    equal(run.code, 3)
    run = allm("-m", "openai:gpt-4.1", "--replay", path, "other",
               env={"OPENAI_BASE_URL": "http://127.0.0.1:1/v1"})
    equal(run.code, 12)
    one_sentence(allm(*text(), "--replay", "/nowhere", "hi"), 2, "/nowhere")
    one_sentence(allm(*text(), "--replay", path, "--record", path, "hi"), 2,
                 "exclude each other")
    one_sentence(allm(*text(), "--trace", "/nowhere/x", "hi"), 2, "/nowhere")
    for i in (1, 2):
        equal(allm(*text(), "--trace", trace, "hi").code, 0)
        with open(trace, encoding="utf-8") as source:
            lines = [json.loads(line) for line in source]
        equal(len([e for e in lines if e["span"] == "chat" and
                   e["what"] == "start"]), i)
    equal(os.stat(trace).st_mode & 0o777, 0o600)


def test_document():
    """--json has the session, cost, reasoning, tool calls and times"""
    run = allm("-S", os.path.join(HOME, "j.json"),
               *fake(["reasoning", "hm"], ["text", "x"], ["finish", "stop"]),
               "--json", "hi")
    got = run.json
    equal((run.code, got["session"], got["cost"], got["reasoning"],
           got["tool_calls"], got["denied"]),
          (0, os.path.join(HOME, "j.json"), None, "hm", [], []))
    assert 0 <= got["timing"]["first_ms"] <= got["timing"]["total_ms"], got
    run = allm("-m", "fake:m", "--json", "hi")
    equal((run.code, run.json["timing"]["first_ms"]), (12, None))


def test_not_stored():
    """-n stores nothing, and excludes the flags that do"""
    equal(allm(*text(), "-n", "hi").code, 0)
    one_sentence(allm(*text(), "-n", "--keep", "hi"), 2, "exclude each other")


def test_schema_alone():
    """--dry-run without a prompt shows the schema that the short form is"""
    run = allm("--schema", "name, age int, tags [str]", "--dry-run")
    equal(run.code, 0)
    equal([run.json["properties"][key]["type"] for key in
           ("name", "age", "tags")], ["string", "integer", "array"])


def test_blank():
    """a prompt of white space is no prompt"""
    for run in (allm(*text(), " \n\t"), allm(*text(), stdin="  \n"),
                allm(*text()), allm()):
        equal((run.code, run.out, run.said.count("\n")), (2, b"", 3))
        holds(run.said, "no prompt", "git diff | allm", "allm help")


def test_blank_on_a_terminal():
    """the hint is on stderr, also on a terminal"""
    t = Terminal("-c", f"exec {ALLM} >{HOME}/nothing", program="/bin/sh")
    equal((t.end(), t.said.count(b"\r\n")), (2, 3))
    equal(os.path.getsize(f"{HOME}/nothing"), 0)


if __name__ == "__main__":
    main(globals())
