#!/usr/bin/env python3
"""test_tools - tools in calls: -T, --tool, --sandbox, the settings of tools

The model is the Fake, which calls what its script says; the tools are real.
"""
import json
import os
import subprocess

from program import (ALLM, SOURCE, equal, fake, holds, main, need,
                     one_sentence, scripts)
from tools_place import DONE, EXAMPLES, GREET, WARDEN, Place, call, calling

def test_builtin():
    """-T offers built-in tools and groups of them"""
    p = Place()
    p.write("site/a.txt", "one\ntwo\n")
    one = calling(call("grep", {"pattern": "two"}))
    holds(p.results("-T", "read", *one)[0], "a.txt:2:two")
    holds(p.results("-T", "glob,grep", *one)[0], "a.txt:2:two")
    holds(p.results("-T", "glob", "-T", "grep", *one)[0], "a.txt:2:two")
    run = p.run("-T", "glob", *one, "hi")
    equal(run.code, 1)
    holds(run.said, "grep")


def test_programs():
    """-T finds programs in the folders of tools.dirs; --tool takes a path"""
    p = Place()
    one = calling(call("greet", {"a": 1}))
    p.tool()
    equal(p.results("-T", "greet", *one), ['hello {"a":1}\n'])
    other = p.tool("other/greet.sh")
    equal(p.results("--tool", other, *one), ['hello {"a":1}\n'])
    equal(p.results("--tool", os.path.dirname(other), *one),
          ['hello {"a":1}\n'])
    p.settings(tools={"dirs": [os.path.dirname(other)]})
    equal(p.results("-T", "greet", *one), ['hello {"a":1}\n'])


def test_settings():
    """tools.default is what every call may use; -T replaces it, none ends it"""
    p = Place(tools={"default": ["greet"], "root": "~/site/sub"})
    p.tool()
    p.write("site/sub/inside.txt", "word\n")
    p.write("site/outside.txt", "word\n")
    equal(p.results(*calling(call("greet"))), ["hello {}\n"])
    run = p.run("-T", "none", *calling(call("greet")), "hi")
    equal(run.code, 1)
    found = p.results("-T", "grep", *calling(call("grep", {"pattern": "word"})))
    holds(found[0], "inside.txt")
    assert "outside" not in found[0]


def test_unknown():
    """a name that is not known gets a suggestion; a bad program is named"""
    p = Place()
    p.tool()
    one_sentence(p.run("-T", "greeet", *fake(), "hi"), 2, "greeet",
                 '"greet"')
    one_sentence(p.run("-T", "reed", *fake(), "hi"), 2, '"read"')
    bad = p.tool("other/bad", "#!/bin/sh\necho no\n")
    run = p.run("--tool", bad, *fake(), "hi")
    one_sentence(run, 2, bad)
    one_sentence(p.run("--tool", "/no/such", *fake(), "hi"), 2, "/no/such")


def test_template():
    """a template names tools, below -T"""
    p = Place()
    p.tool()
    p.write("home/config/templates/t.md", '---\ntools: ["greet"]\n---\n$input')
    equal(p.results("-t", "t", *calling(call("greet"))), ["hello {}\n"])


def test_sandbox_flag():
    """--sandbox off says so on every run, even with -q; a setting does, too"""
    p = Place()
    path = p.tool()
    one = calling(call("greet"))
    run = p.run("--sandbox", "off", "-q", "--tool", path, *one, "hi")
    equal((run.code, run.text), (0, "done.\n"))
    one_line = "allm: the sandbox is off: tools can do whatever you can\n"
    equal(run.said, one_line)
    run = p.run("-q", "--tool", path, *one, "hi", env={"ALLM_SANDBOX": "off"})
    equal(run.said, one_line)
    equal(p.run("-q", "--tool", path, *one, "hi").said, "")
    one_sentence(p.run("--sandbox", "maybe", *one, "hi"), 2, "strict")


def test_confined():
    """a tool of a call runs in the sandbox, and without it outside"""
    p = Place()
    secret = p.write("secret.txt", "treasure\n")
    path = p.tool(text=GREET.replace("read -r line", "line=$(cat %s 2>&1)"
                                     % secret))
    one = calling(call("greet"))
    assert "treasure" not in p.results("--tool", path, *one)[0]
    holds(p.results("--sandbox", "off", "--tool", path, *one)[0], "treasure")


def needing(name, needs, script):
    """A program that is a tool with these needs."""
    about = {"name": name, "description": "x", "needs": needs}
    return ("#!/bin/sh\n[ \"$1\" != --allm-describe ] || exec cat <<'END'\n"
            + json.dumps(about) + "\nEND\n" + script + "\nexit 0\n")


def test_grant():
    """a secret is refused, unless the user's own file names exactly it"""
    p = Place()
    p.write(".ssh/config", "treasure\n")
    p.write(".ssh/key", "diamonds\n")
    path = p.tool(text=needing(
        "greet", {"read": ["~/.ssh/config"], "env": ["GROQ_API_KEY"]},
        'cd %s/.ssh; cat config key 2>&-; echo "$GROQ_API_KEY"' % p.path))
    p.env["GROQ_API_KEY"] = "open-sesame"
    one = ("--tool", path, "--approve", "greet=auto", *calling(call("greet")))
    one_sentence(p.run(*one, "hi"), 2, "tools.grant", ".ssh")
    p.settings(tools={"grant": ["~/.ssh/config"]})
    one_sentence(p.run(*one, "hi"), 2, "tools.grant", "GROQ_API_KEY")
    p.settings(tools={"grant": ["~/.ssh", "GROQ_API_KEY"]})
    one_sentence(p.run(*one, "hi"), 2, "tools.grant", ".ssh/config")
    p.settings()
    grant = {"grant": ["~/.ssh/config", "GROQ_API_KEY"]}
    p.write("site/.allm.json", json.dumps({"tools": grant}))
    p.trust()
    run = p.run(*one, "hi")
    equal(run.code, 2)
    holds(run.said, "which only your own file may do")
    os.unlink(os.path.join(p.work, ".allm.json"))
    p.settings(tools=grant)
    equal(p.results(*one), ["treasure\nopen-sesame\n"])


def test_link_of_a_tool():
    """a tool cannot turn what another one may write into a link elsewhere"""
    p = Place()
    p.write(".ssh/config", "old\n")
    p.write("site/out/a.txt", "old\n")
    mover = p.tool("other/mover", needing(
        "mover", {"write": ["."]}, "mv out x && ln -s ../.ssh out; ls -d out"))
    writer = p.tool("other/writer", needing(
        "writer", {"write": ["out"]}, "echo new > out/config; cat out/config"))
    moved, refused = p.results(
        "--tool", mover, "--tool", writer, "--approve", "*=auto",
        *scripts([call("mover"), ["finish", "tool_calls"]],
                 [call("writer", None, 2), ["finish", "tool_calls"]], DONE))
    equal(moved, "out\n")
    holds(refused, "leads through a link")
    equal(p.read(".ssh/config"), "old\n")


def test_document():
    """--json has each call, whether it worked, and how long it took"""
    p = Place()
    p.write("site/a.txt", "one\n")
    run = p.run("-T", "read", "--json", *calling(
        call("read_file", {"path": "a.txt"}),
        call("read_file", {"path": "b.txt"}, 2)), "hi")
    equal(run.code, 0)
    calls = run.json["tool_calls"]
    equal([c["name"] for c in calls], ["read_file"] * 2)
    assert all(isinstance(c["ms"], int) for c in calls), calls


def test_line():
    """on a terminal, each call is a line on stderr"""
    p = Place()
    p.write("site/a.txt", "one\ntwo\nthree\n")
    t = p.terminal("-T", "read", *calling(
        call("grep", {"pattern": "t[wh]"})), "hi")
    said = t.until(b"done.")
    holds(said.decode(), '* grep "t[wh]" 2 lines 0.')
    equal(t.end(), 0)


def test_batch():
    """the rows of a batch may use tools"""
    p = Place()
    p.tool()
    rows = p.run("batch", "-T", "greet", *calling(call("greet")),
                 stdin='{"id": "a", "prompt": "hi"}\n').lines
    equal([(r["id"], r["text"]) for r in rows], [("a", "done.")])
    used = ["usage", {"input_tokens": 3, "output_tokens": 4}]
    rows = p.run("batch", "-T", "greet", *scripts(
        [call("greet"), used, ["finish", "tool_calls"]],
        [["text", "done."], used, ["finish", "stop"]]),
        stdin='{"prompt": "hi"}\n').lines
    equal([(u["input_tokens"], u["output_tokens"]) for u in
           [r["usage"] for r in rows]], [(6, 8)])


def test_chat():
    """a chat may use tools"""
    p = Place()
    p.tool()
    run = p.run("chat", "-T", "greet", *calling(call("greet")), stdin="hi\n")
    equal((run.code, run.text), (0, "done.\n"))


def test_work():
    """a worker may use tools"""
    p = Place()
    p.tool()
    equal(p.run("send", "s", "--queue", "q", "hi").code, 0)
    run = p.run("work", "--queue", "q", "--once", "-T", "greet",
                *calling(call("greet")))
    equal(run.code, 0)
    shown = p.run("sessions", "show", "s").text
    holds(shown, "hello {}", "done.")


def test_examples():
    """the tools in examples/tools work as a user would run them"""
    p = Place()
    p.write("site/a.txt", "one two\n")
    run = p.run("tools", "list", "--tool", EXAMPLES)
    equal(run.said, "")
    listed = run.text
    holds(listed, "git_log", "query")
    for name in ("git_log", "query"):
        run = p.run("tools", "show", name, "--tool", EXAMPLES)
        equal(run.json["name"], name)


def test_list():
    """tools list has the built-in tools and the programs of the user"""
    p = Place()
    p.tool()
    names = [t["name"] for t in p.run("tools", "list", "--json").json]
    equal(len(names), 13)
    holds(names, "read_file", "bash", "http_get", "greet")
    names = [t["name"] for t in p.run("tools", "list", "-T", "greet",
                                      "--json").json]
    equal(names, ["greet"])
    equal(p.run("tools").text, p.run("tools", "list").text)
    p.write("site/a.txt", "one\n")
    run = p.run("tools", "run", "read_file", '{"path": "a.txt"}')
    holds(run.text, "one")


def test_completion():
    """-T completes tools, also after a comma"""
    p = Place()
    p.tool()
    words = p.run("_complete", "ask", "-T", "gre").text
    equal([w.split("\t")[0] for w in words.splitlines()], ["grep", "greet"])
    words = p.run("_complete", "ask", "-T", "code,gree").text
    equal(words.split("\t")[0], "code,greet")


# --------------------------------------------------------------- the manual


def block(page, name):
    """The commands below this comment of a page."""
    with open(os.path.join(SOURCE, page), encoding="utf-8") as source:
        after = source.read().split(f"<!-- {name}: tried by ")[1]
    return after.split("```sh\n")[1].split("```")[0]


def shell(place, commands, *script):
    """Run commands as a user; the model follows the script."""
    model = {"model": "fake:m", "options": {"fake:m": {
        "adapter_opts": {"scripts": [list(one) for one in script]}}}}
    place.write(".config/allm/config.json", json.dumps(model))
    place.write("bin/allm", f'#!/bin/sh\nexec {ALLM} "$@"\n', 0o755)
    env = {**WARDEN, "HOME": place.path, "TERM": "dumb",
           "PATH": place.path + "/bin:/usr/local/bin:/usr/bin:/bin"}
    done = subprocess.run(["sh", "-ec", commands], env=env, cwd=place.work,
                          capture_output=True, timeout=60, check=False)
    equal((done.returncode, done.stderr.decode()), (0, done.stderr.decode()))
    return done.stdout.decode(), done.stderr.decode()


def test_first_tool():
    """the first tool of the manual works as written"""
    need("uptime")
    out, _ = shell(Place(), block("docs/tools-outside.md", "first tool"),
                   [call("uptime"), ["finish", "tool_calls"]], DONE)
    holds(out, "uptime", "program", "load average", "done.")


def test_shell_script():
    """the scripted model of the manual calls the tool as written"""
    out, said = shell(Place(), block("docs/testing-with-fake.md", "shell"))
    equal((out, said), ("Some files.\n", ""))


def test_decide_later():
    """the decision of the manual works as written"""
    p = Place()
    first, second = block("docs/tools-outside.md",
                          "decide later").strip().splitlines()
    new = call("write_file", {"path": "new.txt", "content": "milk\n"})
    _, said = shell(p, first, [new, ["finish", "tool_calls"]])
    holds(said, "allm -S notes -T code --approve all")
    out, _ = shell(p, second, DONE)
    equal(out, "done.\n")
    equal(p.read("site/new.txt"), "milk\n")


def test_recipes():
    """the recipes of the manual work as written"""
    need("git", "sqlite3")
    p = Place()
    os.symlink(os.path.join(SOURCE, "examples"), p.work + "/examples")
    subprocess.run("git init -q && git -c user.name=a -c user.email=a@b.c "
                   "commit -q --allow-empty -m first", shell=True,
                   cwd=p.work, check=True)
    page = "docs/tools-outside.md"
    out, _ = shell(p, block(page, "git"),
                   [call("git_log"), ["finish", "tool_calls"]], DONE)
    equal(out, "done.\n")
    out, _ = shell(p, block(page, "database"),
                   [call("query", {"sql": "select count(*) from notes"}),
                    ["finish", "tool_calls"]], DONE)
    equal(out, "done.\n")


main(globals())
