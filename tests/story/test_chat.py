#!/usr/bin/env python3
"""test_chat - the flags of a chat, its settings and its templates, in pipes"""
import json
import os
import tempfile

from place import Place, Server
from program import HOME, Terminal, allm, equal, holds, main, \
    one_sentence, scripts, text


def place(server, settings=None, **templates):
    """A home with two providers on one server, and templates."""
    p = Place()
    p.write({"providers": {
        "one": {"like": "groq", "base_url": server.url, "key": "key-one"},
        "two": {"like": "groq", "base_url": server.url, "key": "key-two"}},
        **(settings or {})})
    for name, content in templates.items():
        p.write(content, "../.config/allm/templates/" + name + ".md")
    return p


def chat(p, *args, lines=("hi",), code=0, **more):
    run = p.run("chat", *args, stdin="".join(n + "\n" for n in lines), **more)
    equal((run.code, run.said if run.code != code else ""), (code, ""))
    return run


def prompts(server, skip=0):
    """The text of the last message of each request."""
    return [body["messages"][-1]["content"]
            for _, _, body in server.asked[skip:]]


def test_flags():
    """a chat obeys the flags of a call"""
    with Server() as server:
        p = place(server)
        p.write("some text\n", "a.txt")
        p.write("``` in a file\n", "b.txt")
        p.write("be brief\n", "system.txt")
        run = chat(p, "-m", "one:a", "-s", "@system.txt", "-f", "b.txt",
                   "--at", "a.txt", "text/plain", "-H", "X-Team: blue",
                   "--max-tokens", "7", "--reasoning", "low", "-o", "top_p",
                   "0.5", "-u", lines=["hi", "again"])
        equal(run.text, "from the server\nfrom the server\n")
        holds(run.said, "usage:", "in total")
        (_, headers, first), (_, _, second) = server.asked
        holds(str(headers).lower(), "'x-team': 'blue'")
        equal((first["top_p"], first["reasoning_effort"]), (0.5, "low"))
        assert 7 in (first.get("max_tokens"),
                     first.get("max_completion_tokens")), first
        equal(first["messages"][0]["content"], "be brief")
        holds(json.dumps(first["messages"][1]), "a.txt", "some text",
              "````b.txt", "hi")
        equal(second["messages"][-1]["content"], "again")


def test_settings():
    """options by pattern, limits and the usage line come from the settings"""
    with Server() as server:
        p = place(server, {"options": {"one:*": {"top_p": 0.25}},
                           "usage": True, "system": "from a setting"})
        run = chat(p, "-m", "one:a", lines=["hi", "/model two:b", "hi",
                                            "/options top_p 0.75", "hi"])
        holds(run.said, "usage:")
        equal([b.get("top_p") for _, _, b in server.asked], [0.25, None, 0.75])
        equal([b["model"] for _, _, b in server.asked], ["a", "b", "b"])
        equal(server.keys(), ["Bearer key-one"] + 2 * ["Bearer key-two"])
        equal(server.asked[0][2]["messages"][0]["content"], "from a setting")


def test_address_stays_with_its_model():
    """--key and --base-url are for the model of the flags only"""
    with Server() as server, Server() as other:
        p = place(server)
        equal(p.run("keys", "set", "mine", "--from", "env:MINE").code, 0)
        chat(p, "-m", "one:a", "--key", "mine", "--base-url", other.url,
             "-H", "X-Secret: 1", lines=["hi", "/options top_p 1", "hi",
                                         "/model two:b", "hi"],
             env={"MINE": "planted"})
        equal(other.keys(), 2 * ["Bearer planted"])
        equal(server.keys(), ["Bearer key-two"])
        holds(str(other.asked[0][1]).lower(), "x-secret")
        assert "x-secret" not in str(server.asked[0][1]).lower()


def test_attachments():
    """a pipe has no draft: a prompt that is not sent takes its files along"""
    with Server() as server:
        p = place(server)
        p.write("a note\n", "a.txt")
        p.write("gone\n", "b.txt")
        p.write("\0\1", "c.bin")
        given = ["/attach c.bin", "/attach a.txt", "/attach b.txt", "!rm b.txt",
                 "hi"]
        run = p.run("chat", "-m", "one:a", stdin="\n".join(given) + "\n")
        equal((run.code, len(server.asked)), (2, 0))
        holds(run.said, "c.bin is neither UTF-8 text nor an image", "1 file)",
              "2 files)", "b.txt")
        p.write("gone\n", "b.txt")
        chat(p, "-m", "one:a", lines=[*given, "again"])
        equal(prompts(server), ["again"])
        one_sentence(p.run("chat", "-m", "one:a", "-a", "c.bin"), 2, "c.bin")


def test_task():
    """a chat falls back to the next model of its task"""
    with Server(503, 503, 503) as server:
        p = place(server, {"routing": {"talk": ["one:a", "two:b"]}})
        run = chat(p, "--task", "talk", lines=["hi", "again"])
        equal(run.text, "from the server\nfrom the server\n")
        holds(run.said, "one:a failed", "trying two:b")
        equal([b["model"] for _, _, b in server.asked][-2:], ["b", "b"])


def test_recording():
    """a chat is recorded, and replayed without a server or a key"""
    with Server() as server:
        p = place(server)
        chat(p, "-m", "one:a", "--record", "r", "--trace", "t")
        assert b"key-one" not in p.read("r") + p.read("t")
    p.write({})
    run = p.run("chat", "-m", "groq:a", "--base-url", server.url, "--replay",
                "r", stdin="hi\n")
    equal((run.code, run.text), (0, "from the server\n"))


def test_schema():
    """with --schema each answer is checked"""
    p = Place()
    run = p.run("chat", *text('{"n": 1}'), "--schema", "n int", stdin="hi\n")
    equal((run.code, json.loads(run.out)), (0, {"n": 1}))
    none = [["text", "none"], ["finish", "stop"]]
    run = p.run("chat", *scripts(*[none] * 5), "--schema", "n int",
                stdin="hi\n")
    equal(run.code, 6)


def test_bad_flags():
    """what is wrong is said before a session is opened"""
    p = Place()
    for words, why in ((["-a", "absent"], "absent"), (["-a", "-"], "- is no"),
                       (["-f", "-"], "- is no"), (["-t", "absent"], "absent"),
                       (["-p", "a", "b"], "-t"), (["-s", "@absent"], "absent"),
                       (["--schema", "n xyz"], "xyz"),
                       (["--reasoning", "very"], "very"),
                       (["--reasoning", "0x"], "0x"),
                       (["--key", "sk-" + 40 * "x"], "not the key itself"),
                       (["--replay", "absent"], "absent")):
        run = p.run("chat", *text(), *words, stdin="hi\n")
        one_sentence(run, 2, why)


def test_template():
    """-t shapes each prompt; /template changes it, and none ends it"""
    with Server() as server:
        p = place(server, explain="---\nmodel: one:a\nsystem: a teacher for "
                  '$who\noptions: {"top_p": 0.1}\n'
                  'params: {"who": {"default": "all"}}\n---\n'
                  "Explain to $who: $input", before="Say it in French.",
                  other="---\nmodel: two:b\n---\n<$input>")
        run = chat(p, "-t", "explain", "-p", "who", "a cook", lines=[
            "salt", "/template", "/template other", "x $input",
            "/template none", "plain", "/template before", "hello",
            '/template explain who "a child of 5"', "rain", "/template absent",
            "snow", "/template explain who"])
        equal(prompts(server),
              ["Explain to a cook: salt", "<x $input>", "plain",
               "Say it in French.\n\nhello", "Explain to a child of 5: rain",
               "Explain to a child of 5: snow"])
        bodies = [body for _, _, body in server.asked]
        equal([b["model"] for b in bodies], list("abbbaa"))
        equal([b.get("top_p") for b in bodies],
              [0.1, None, None, None, 0.1, 0.1])
        equal(bodies[0]["messages"][0]["content"], "a teacher for a cook")
        equal(bodies[4]["messages"][0]["content"], "a teacher for a child of 5")
        holds(run.said, "explain.md", 'no template "absent"',
              "a name and a value")


def test_missing_parameter():
    """a template without its parameter: the prompt is not sent"""
    with Server() as server:
        p = place(server, t="$what and $input")
        run = chat(p, "-m", "one:a", "-t", "t", code=2)
        holds(run.said, "what")
        run = chat(p, "-m", "one:a", "-t", "t", lines=[
            "first", "/template t what more", "second"])
        equal(prompts(server), ["more and second"])


def test_answer_is_no_template():
    """the answer to a question of the model is sent as it is"""
    p = Place()
    p.write("<$input>", "../.config/allm/templates/t.md")
    script = json.dumps({"scripts": [
        [["tool_call", {"id": "a", "name": "ask_user",
                        "arguments": {"question": "Which?"}}],
         ["finish", "tool_calls"]],
        [["text", "Thanks."], ["finish", "stop"]]]})
    run = p.run("chat", "--ask", "-t", "t", "-m", "fake:m", "-o",
                "adapter_opts", script, stdin="go\nred\n/save s\n")
    equal((run.code, run.text), (0, "Which?\nThanks.\n"))
    saved = p.read("s").decode()
    holds(saved, "<go>", "red")
    assert "<red>" not in saved


def test_completion():
    """Tab completes the templates"""
    p = Place()
    p.write("x", "../.config/allm/templates/review.md")
    t = Terminal("chat", *text(), env={"TERM": "xterm", "HOME": p.home})
    t.until(b"> ")
    t.after(b"/template re\t", b"review")
    t.write(b"\x15\x04")
    equal(t.end(), 0)


def test_system_file():
    """/system @FILE reads the prompt from a file"""
    with Server() as server:
        p = place(server)
        p.write("from a file\n", "s.txt")
        run = chat(p, "-m", "one:a", lines=["/system @s.txt", "hi",
                                            "/system @absent", "/system"])
        equal(server.asked[0][2]["messages"][0]["content"], "from a file")
        holds(run.said, "absent", "/system needs a prompt")


def test_failed_retry():
    """/retry keeps the answer from before if there is no new one"""
    with tempfile.TemporaryDirectory(dir=HOME) as where:
        path = os.path.join(where, "s.json")
        for failure, code in ((["error", "server_error"], 1),
                              (["error", "rate_limited"], 3)):
            run = allm("chat", *scripts([["text", "one"], ["finish", "stop"]],
                                        [failure]),
                       "-S", path, stdin="hi\n/retry\n")
            equal((run.code, run.out.strip()), (code, b"one"))
            with open(path, encoding="utf-8") as session:
                thread = json.load(session)["data"]["thread"]["data"]
            equal([m["data"]["content"] for m in thread["messages"]],
                  ["hi", "one"])
            os.unlink(path)


def test_kept():
    """the setting keep stores a chat"""
    p = Place()
    p.write({"keep": True, "store": "sqlite:" +
             os.path.join(p.home, "kept.db")})
    equal(p.run("chat", *text(), stdin="hi\n").code, 0)
    equal(len(p.run("sessions", "--json").json["sessions"]), 1)


main(globals())
