#!/usr/bin/env python3
"""test_decode - allm decode and allm encode, run as users run them"""
import json
import os

from program import (FIXTURES, allm, equal, file, holds, main,
                     one_sentence)

HI = '{"messages": [{"role": "user", "content": "hi"}]}'
SSE = ('data: {"choices":[{"index":0,"delta":{"content":"hé"}}]}\n\n'
       'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'
       'data: [DONE]\n\n')
WHOLE = ('{"id":"x","choices":[{"index":0,"message":{"role":"assistant",'
         '"content":"whole"},"finish_reason":"stop"}]}')


def cases(dialect, name):
    """The folders of a dialect that have this file."""
    for case in sorted(os.listdir(os.path.join(FIXTURES, dialect))):
        folder = os.path.join(FIXTURES, dialect, case)
        if os.path.exists(os.path.join(folder, name)):
            yield case, folder


def load(folder, name):
    path = os.path.join(folder, name)
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as source:
        return json.load(source)


def last(run):
    return run.lines[-1]["type"]


def check_answers(dialect):
    count = 0
    for case, folder in cases(dialect, "events.jsonl"):
        if os.path.exists(os.path.join(folder, "head.json")):
            continue
        wire = [n for n in os.listdir(folder) if n.startswith("wire-response")]
        options = load(folder, "call.json").get("adapter_opts", {})
        words = [w for k, v in options.items()
                 for w in ("-o", k, json.dumps(v))]
        run = allm("decode", dialect, "--raw", *words,
                   os.path.join(folder, wire[0]))
        with open(os.path.join(folder, "events.jsonl"),
                  encoding="utf-8") as source:
            wanted = [json.loads(line)["type"] for line in source]
        got = [event["type"] for event in run.lines]
        assert got == wanted, (case, got)
        assert last(run) in ("message_completed", "error"), case
        count += 1
    assert count > 50, count


def test_answers():
    """every recorded answer of every dialect decodes to its events"""
    dialects = allm("decode", "nobody").said.split("known dialects: ")[1]
    for dialect in dialects.strip().split(", "):
        check_answers(dialect)


def test_stdin():
    """an answer is read from standard input, with - or no file"""
    for words in ((), ("-",)):
        run = allm("decode", "openai_chat", *words, stdin=SSE)
        equal(run.code, 0)
        equal([e["type"] for e in run.lines],
              ["message_started", "text_delta", "text_completed",
               "message_completed"])
        equal(run.lines[1]["delta"], "hé")
        equal([e["seq"] for e in run.lines], [1, 2, 3, 4])


def test_line_ends():
    """CR, CRLF and white space in front do not matter"""
    wanted = allm("decode", "openai_chat", stdin=SSE).lines
    for text in (SSE.replace("\n", "\r\n"), SSE.replace("\n", "\r"),
                 "\r\n\r\n" + SSE, "\ufeff" + SSE, SSE.rstrip("\n")):
        equal(allm("decode", "openai_chat", stdin=text).lines, wanted)


def test_whole():
    """one JSON document is an answer, too"""
    run = allm("decode", "openai_chat", stdin=WHOLE)
    equal(run.code, 0)
    equal(last(run), "message_completed")
    equal(run.lines[-1]["message"]["content"], "whole")
    equal(allm("decode", "openai_chat", stdin="\ufeff\n" + WHOLE).lines,
          run.lines)
    pretty = json.dumps(json.loads(WHOLE), indent=2).replace("\n", "\r\n")
    equal(allm("decode", "openai_chat", stdin=pretty).lines, run.lines)


def test_error_bodies():
    """the body of an error becomes an error event and an exit code"""
    bodies = [
        ("openai_chat", {"error": {"message": "slow", "code": 429,
                                   "type": "rate_limit_exceeded"}}),
        ("anthropic", {"type": "error", "error": {"message": "slow",
                                                  "type": "rate_limit_error"}}),
    ]
    for dialect, body in bodies:
        run = allm("decode", dialect, stdin=json.dumps(body))
        equal((dialect, run.code, last(run)), (dialect, 3, "error"))
        equal(run.lines[-1]["error"]["reason"], "rate_limited")


def test_raw():
    """--raw adds the chunks that have no event"""
    path = os.path.join(FIXTURES, "anthropic", "odd-types",
                        "wire-response.sse")
    tags = [e["type"] for e in allm("decode", "anthropic", "--raw",
                                    path).lines]
    assert "raw_chunk" in tags, tags
    tags = [e["type"] for e in allm("decode", "anthropic", path).lines]
    assert "raw_chunk" not in tags, tags


def test_provider_name():
    """the name of a provider selects its dialect"""
    equal(last(allm("decode", "groq", stdin=SSE)), "message_completed")


def test_nothing():
    """an empty or closed input ends with an error event"""
    for stdin in (b"", None, b"\n\n\n"):
        run = allm("decode", "openai_chat", stdin=stdin)
        equal(run.code, 9)
        equal([e["type"] for e in run.lines], ["error"])
        equal(run.err, b"")


def test_rubbish():
    """input that is not an answer ends with an error event"""
    rubbish = [os.urandom(200000), b"\0" * 100000, b"\xff\xfe" * 50,
               b"data: " + b"x" * 100000, b"data: {\"a\": \n\n",
               b"data: " + b"[" * 200000 + b"\n\n", b"{", b"[]", b"null",
               b"<html><body>no</body></html>", b"data: {}\n\n" * 1000,
               b"event: error\ndata: {\"error\":{\"message\":\"no\"}}\n\n"]
    for dialect in ("openai_chat", "anthropic", "openai_responses", "gemini",
                    "ollama"):
        for stdin in rubbish:
            run = allm("decode", dialect, stdin=stdin)
            assert run.code in (0, 1, 3, 4, 5, 7, 9), (stdin[:40], run.code)
            assert last(run) in ("error", "message_completed"), stdin[:40]


def test_cut():
    """an incomplete answer is an error, with exit code 9"""
    run = allm("decode", "openai_chat", stdin=SSE.split("\n\n")[0] + "\n\n")
    equal((run.code, last(run)), (9, "error"))
    equal(run.lines[-1]["error"]["reason"], "truncated")


def test_huge():
    """a large answer is read in pieces"""
    piece = ('data: {"choices":[{"index":0,"delta":{"content":"%s"}}]}\n\n'
             % ("x" * 1000))
    run = allm("decode", "openai_chat", stdin=piece * 10000 + SSE)
    equal((run.code, len(run.lines)), (0, 10004))


def test_unknown_dialect():
    """an unknown dialect: a suggestion, the known ones, exit code 2"""
    run = allm("decode", "antropic", stdin=SSE)
    equal((run.code, run.out), (2, b""))
    holds(run.said, 'did you mean "anthropic"?', "known dialects:",
          "openai_chat")


def test_unreadable():
    """a file that cannot be read: one sentence, exit code 2"""
    one_sentence(allm("decode", "openai_chat", "/nowhere/x"), 2, "/nowhere/x")
    one_sentence(allm("decode", "openai_chat", "/"), 2, "directory")
    one_sentence(allm("decode"), 2, "allm decode DIALECT [FILE]")
    one_sentence(allm("decode", "anthropic", "a", "b"), 2, "at most one file")


# ------------------------------------------------------------------- encode


def test_encode():
    """a request is shown as it would be sent, the key as ***"""
    run = allm("encode", "anthropic:m", stdin=HI,
               env={"ANTHROPIC_API_KEY": "sk-secret-123456"})
    equal(run.code, 0)
    equal(list(run.json), ["method", "url", "headers", "body"])
    equal(run.json["url"], "https://api.anthropic.com/v1/messages")
    equal(run.json["headers"]["x-api-key"], "***")
    equal(run.json["body"]["model"], "m")
    assert b"secret" not in run.out + run.err


def test_encode_forms():
    """plain, tagged, a file and a list of messages are equivalent"""
    tagged = json.dumps({"__type__": "ALLM.Request", "data": {
        "messages": [{"__type__": "ALLM.Message", "data": {
            "role": "user", "content": "hi"}}]}})
    wanted = allm("encode", "openai:m", stdin=HI).json
    equal(wanted["headers"]["authorization"], "***")
    for stdin in (tagged, json.dumps(json.loads(HI)["messages"])):
        equal(allm("encode", "openai:m", stdin=stdin).json, wanted)
    equal(allm("encode", "openai:m", file("r.json", HI)).json, wanted)


def test_encode_options():
    """the body has the options of the request and the command line"""
    plain = '{"messages": [{"role": "user", "content": "hi"}], ' \
            '"options": {"top_p": 0.5}, "temperature": 0.25}'
    body = allm("encode", "openai:m", "-o", "seed", "7", "--option", "user",
                "me", stdin=plain).json["body"]
    equal((body["top_p"], body["temperature"], body["seed"], body["user"]),
          (0.5, 0.25, 7, "me"))


def test_encode_place():
    """the URL comes from the environment or an option"""
    run = allm("encode", "vllm:m", stdin=HI,
               env={"VLLM_BASE_URL": "http://gpu:9/v1/"})
    equal(run.json["url"], "http://gpu:9/v1/chat/completions")
    assert "authorization" not in run.json["headers"]
    run = allm("encode", "azure:m", "-o", "base_url", "https://me.example",
               stdin=HI)
    holds(run.json["url"], "https://me.example")
    run = allm("encode", "ollama:m", stdin=HI, env={"OLLAMA_HOST": "gpu:9"})
    equal(run.json["url"], "http://gpu:9/api/chat")


def test_encode_password():
    """a user and password in the URL are not shown"""
    for place, shown in (("https://me:p@ss@h:9/v1?a=@", "https://***@h:9/v1/"),
                         ("https://me@h", "https://***@h/"),
                         ("https://h/a@b", "https://h/a@b/")):
        run = allm("encode", "vllm:m", stdin=HI, env={"VLLM_BASE_URL": place})
        assert run.json["url"].startswith(shown), run.json["url"]


def test_encode_query():
    """keys in the query of the URL and in headers are not shown"""
    place = "https://h/v1?api-version=7&key=abc&x_token=def"
    run = allm("encode", "openai_chat:m", "-o", "base_url", place, "-o",
               "extra_headers", '{"x-tenant": "t", "x-my-secret": "ghi"}',
               stdin=HI)
    equal(run.json["url"], "https://h/v1/chat/completions?api-version=7"
                           "&key=***&x_token=***")
    equal((run.json["headers"]["x-tenant"], run.json["headers"]["x-my-secret"]),
          ("t", "***"))
    run = allm("-m", "vllm:m", "--dry-run", "hi", env={"VLLM_BASE_URL": place})
    assert b"key=***" in run.out and b"abc" not in run.out + run.err, run.out


def test_encode_all():
    """every request of the fixtures is encoded to the body there"""
    count = 0
    for dialect in ("openai_chat", "anthropic"):
        for _, folder in cases(dialect, "body.json"):
            if load(folder, "call.json"):
                continue
            run = allm("encode", dialect + ":demo", "-o", "base_url",
                       "http://h.example/v1",
                       os.path.join(folder, "request.json"))
            equal(run.code, 0)
            equal(run.json["body"], load(folder, "body.json"))
            count += 1
    assert count > 10, count


def test_encode_unknown():
    """unknown members are reported, and not sent"""
    request = {"messages": [
        {"role": "user", "nme": "x", "content": [
            {"type": "text", "text": "hi", "bold": True}]}],
        "temprature": 0.5, "tools": [{
            "name": "t", "description": "d", "strikt": True,
            "schema": {"type": "object"}}]}
    run = allm("encode", "openai:m", stdin=json.dumps(request))
    equal(run.code, 0)
    equal([line.split()[1] for line in run.said.splitlines()],
          ["/temprature", "/messages/0/nme", "/messages/0/content/0/bold",
           "/tools/0/strikt"])
    holds(run.said.splitlines()[0], "not sent", "/options")
    for word in ("temprature", "nme", "bold", "strikt"):
        assert word not in run.text, run.text
    equal(allm("encode", "openai:m", stdin=HI).err, b"")


def test_encode_bad():
    """bad requests: one sentence each"""
    one_sentence(allm("encode", "openai:m", stdin="{"), 2, "not JSON")
    one_sentence(allm("encode", "openai:m", stdin=b""), 2, "not JSON")
    one_sentence(allm("encode", "openai:m", stdin=None), 2, "not JSON")
    one_sentence(allm("encode", "openai:m", stdin=b"\xff\x00\x01"), 2,
                 "not JSON")
    one_sentence(allm("encode", "openai:m", stdin='"x"'), 5,
                 "not a valid request")
    one_sentence(allm("encode", "openai:m", stdin=HI.replace("user", "usr")),
                 5, "/messages/0/role")
    one_sentence(allm("encode", "openai:m", "/nowhere"), 2, "/nowhere")
    one_sentence(allm("encode", "openai", stdin=HI), 2, "no model of openai")
    one_sentence(allm("encode", "openai:", stdin=HI), 2, " openai:MODEL")
    one_sentence(allm("encode"), 2, "PROVIDER:MODEL")
    run = allm("encode", "opnai:m", stdin=HI)
    equal((run.code, run.out), (2, b""))
    holds(run.said, 'did you mean "openai"?', "mistral")


if __name__ == "__main__":
    main(globals())
