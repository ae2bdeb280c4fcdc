#!/usr/bin/env python3
"""test_templates - prompts in files: -t, -p, --save, allm templates"""
import hashlib
import json
import os
import stat

from place import Place
from program import Terminal, equal, holds, main, one_sentence, text


def place(**templates):
    p = Place()
    for name, content in templates.items():
        p.write(content, "../.config/allm/templates/" + name + ".md")
    return p


def sent(p, *args, stdin="", env=None):
    """The messages that would be sent."""
    run = p.run("--dry-run", "-m", "groq:x", *args, stdin=stdin, env=env)
    equal((run.code, run.said if run.code else ""), (0, ""))
    return [m["content"] for m in run.json["body"]["messages"]]


def test_input():
    """$input is the piped text, or else the words; other text stays"""
    p = place(uses="Explain: $input!", fixed="Say hi.", both="$input $input")
    equal(sent(p, "-t", "uses", stdin="a\nb\n"), ["Explain: a\nb!"])
    equal(sent(p, "-t", "uses", "some", "words"), ["Explain: some words!"])
    equal(sent(p, "-t", "uses", "words", stdin="piped"),
          ["Explain: piped!\n\nwords"])
    equal(sent(p, "-t", "fixed"), ["Say hi."])
    equal(sent(p, "-t", "fixed", "words", stdin="piped"),
          ["piped\n\nSay hi.\n\nwords"])
    equal(sent(p, "-t", "both", stdin="x"), ["x x"])
    p.write("file", "f.txt")
    equal(sent(p, "-t", "uses", "-f", "f.txt"),
          ["```f.txt\nfile\n```\n\nExplain: !"])


def test_parameters():
    """-p sets parameters; values are substituted once; @FILE is read"""
    p = place(t='---\nparams: {"to": {"default": "French"}}\n---\n'
              "$to ${to}s $$to $5 $")
    equal(sent(p, "-t", "t"), ["French Frenchs $to $5 $"])
    equal(sent(p, "-t", "t", "-p", "to", "$to ${x} $$"),
          ["$to ${x} $$ $to ${x} $$s $to $5 $"])
    equal(sent(p, "-t", "t", "-p", "to", "a", "-p", "to", "b"),
          ["b bs $to $5 $"])
    p.write("from a file\n", "v.txt")
    equal(sent(p, "-t", "t", "-p", "to", "@v.txt"),
          ["from a file from a files $to $5 $"])
    run = p.run("-t", "t", "-p", "to", "@absent", "hi")
    equal(run.code, 2)
    holds(run.said, "absent")
    p.write(b"\xff\0", "bad")
    equal(p.run("-t", "t", "-p", "to", "@bad", *text()).code, 2)
    run = p.run("-t", "t", "-p", "two", "x", *text())
    equal(run.code, 0)
    holds(run.said, 'no parameter "two"')
    run = p.run("-p", "to", "x", *text(), "hi")
    equal(run.code, 2)
    holds(run.said, "-t")


def test_missing():
    """a missing parameter: exit 2, and all are listed with descriptions"""
    p = place(t='---\nparams: {"to": {"description": "the language"}, '
              '"tone": {"default": "warm"}}\n---\n$to $tone $more $input')
    run = p.run("-t", "t", *text(), stdin="x")
    equal((run.code, run.out), (2, b""))
    holds(run.said, "to, more", "the language", "(default: warm)", "input")
    equal(p.run("-t", "t", *text(), "-p", "to", "a", "-p", "more", "b").code, 2)
    equal(p.run("-t", "t", *text(), "-p", "to", "a", "-p", "more", "b", "x")
          .code, 0)


def test_header():
    """the header sets the model, system, options, schema, files, extract"""
    p = place(t="---\nmodel: groq:theirs\nsystem: You are $who.\n"
              'options: {"temperature": 0.1, "seed": 1}\n---\n$input')
    p.write({"aliases": {"al": {"model": "groq:al", "system": "alias",
                                "options": {"seed": 2, "top_p": 0.5}}},
             "model": "al"})

    def body(*args, env=None):
        run = p.run("-q", "--dry-run", *args, "hi", env=env)
        equal((run.code, run.said), (0, ""))
        return run.json["body"]
    b = body("-t", "t", "-p", "who", "brief")
    equal((b["model"], b["temperature"], b["seed"]), ("theirs", 0.1, 1))
    equal(b["messages"][0], {"role": "system", "content": "You are brief."})
    b = body("-t", "t", "-p", "who", "x", "-m", "al", "-o", "temperature",
             "0.9")
    equal((b["model"], b["temperature"], b["seed"], b["top_p"]),
          ("al", 0.9, 1, 0.5))       # flags > template > alias
    equal(b["messages"][0]["content"], "You are x.")
    equal(body("-t", "t", "-p", "who", "x", "-s", "mine")["messages"][0]
          ["content"], "mine")
    equal(body("-t", "t", "-p", "who", "x", env={"ALLM_MODEL": "groq:v"})
          ["model"], "theirs")
    p = place(s="---\nschema: name, age int\n---\n$input",
              o='---\nschema: {"type": "object"}\n---\n$input',
              again="---\nschema: @s\n---\n", loop="---\nschema: @loop\n---\n",
              none="x", a='---\nattach: ["one.txt"]\n---\nlook',
              x="---\nextract: true\n---\n$input",
              xl="---\nextract: last\n---\n$input")

    def schema(*args):
        b = p.request("-m", "openai:gpt-4.1", *args)["body"]
        return (b.get("response_format") or b["text"]["format"])
    holds(json.dumps(schema("-t", "s")), '"age"', "integer")
    holds(json.dumps(schema("-t", "o")), '"object"')
    holds(json.dumps(schema("--schema", "@s")), '"age"')
    holds(json.dumps(schema("--schema", "@again")), '"age"')
    for name, why in ("loop", "itself"), ("none", "no schema"), ("no", "no"):
        run = p.run("--schema", "@" + name, *text(), "hi")
        equal(run.code, 2)
        holds(run.said, why)
    p.write("content", "one.txt")
    p.write("second", "two.txt")
    parts = sent(p, "-t", "a", "-a", "two.txt")[0]
    equal(parts,
          "one.txt:\n\ncontent\ntwo.txt:\n\nsecond\nlook")
    answer = "a\n```\none\n```\nb\n```\ntwo\n```\n"
    equal(p.run("-t", "x", *text(answer), "hi").text, "one\n")
    equal(p.run("-t", "xl", *text(answer), "hi").text, "two\n")
    equal(p.run("-t", "x", "--xa", *text(answer), "hi").text, "one\ntwo\n")


def test_default():
    """the setting `template` is used unless -t is given; -t none: none"""
    p = place(d="default: $input", other="other: $input")
    p.write({"template": "d"})
    equal(sent(p, "hi"), ["default: hi"])
    equal(sent(p, "-t", "other", "hi"), ["other: hi"])
    equal(sent(p, "-t", "none", "hi"), ["hi"])
    equal(sent(p, "hi", env={"ALLM_TEMPLATE": "other"}), ["other: hi"])
    equal(sent(p, "hi", env={"ALLM_TEMPLATE": "none"}), ["hi"])
    p.write({"template": "absent"})
    equal(p.run(*text(), "hi").code, 2)


def test_files():
    """-t FILE is a file if it has a slash; every bad file is named"""
    p = place(good="$input", goad="$input")
    p.write("local $input", "x.md")
    equal(sent(p, "-t", "./x.md", "hi"), ["local hi"])
    run = p.run("-t", "x.md", *text(), "hi")
    equal(run.code, 2)
    holds(run.said, 'no template "x.md"')
    run = p.run("-t", "goood", *text(), "hi")
    holds(run.said, 'did you mean "good"?')
    os.mkdir(os.path.join(p.project, "dir.md"))
    for name, content, why in (
            ("absent.md", None, "No such file"), ("dir.md", None, "directory"),
            ("l1.md", b"caf\xe9", "UTF-8"), ("nul.md", b"a\0b", "UTF-8"),
            ("open.md", "---\nmodel: x\n", "md:1: "),
            ("type.md", "---\n\noptions: 5\n---\n", "md:3: options: expected"),
            ("twice.md", "---\nmodel: a\nmodel: b\n---\n", "md:3: "),
            ("large.md", b"x" * (5 << 20), "larger than 4 MiB")):
        if content is not None:
            p.write(content, name)
        run = p.run("-t", "./" + name, *text(), "hi")
        equal((name, run.code, run.out), (name, 2, b""))
        holds(run.said, name, why)
    p.write("\ufeff---\r\nsystem: s\r\n---\r\nhi $input\r\n", "crlf.md")
    equal(sent(p, "-t", "./crlf.md", "x"), ["s", "hi x"])
    p.write("---\nmodle: x\n---\n$input", "typo.md")
    run = p.run("-t", "./typo.md", *text(), "hi")
    equal(run.code, 0)
    holds(run.said, "typo.md:2: ", 'did you mean "model"?')
    run = p.run("-t", "mcp:server/prompt", *text(), "hi")
    equal(run.code, 2)


def test_save():
    """--save writes the flags of this call as a template, and sends nothing"""
    p = Place()
    p.write("system\n", "s.txt")
    run = p.run("-m", "groq:m", "-s", "@s.txt", "-o", "temperature", "0",
                "--max-tokens", "5", "--schema", "name", "-x", "-a", "f.txt",
                "-p", "to", "French", "-T", "code", "--save", "t", "Say",
                "$to:", "$input", stdin="piped")
    equal((run.code, run.out), (0, b""))
    path = os.path.join(p.folder, "templates/t.md")
    equal(run.said.count("\n"), 1)
    holds(run.said, path)
    equal(stat.S_IMODE(os.stat(path).st_mode), 0o600)
    equal(stat.S_IMODE(os.stat(os.path.dirname(path)).st_mode), 0o700)
    equal(p.read(path).decode(),
          "---\nmodel: groq:m\nsystem: system\nschema: name\n"
          'tools: ["code"]\n'
          'options: {"temperature":0,"max_tokens":5}\nattach: ["f.txt"]\n'
          'extract: first\nparams: {"to":{"default":"French"}}\n---\n'
          "Say $to: $input\n")
    equal(p.run("-t", "t", "-s", "other", "--save", "u").code, 0)
    equal(p.read(path.replace("t.md", "u.md")),
          p.read(path).replace(b"system: system", b"system: other"))
    for name in "", "a/b", ".x", "none", "a:b":
        equal(p.run("--save", name, "hi").code, 2)
    equal(p.run("--save", "t", "hi", env={"HOME": "", "XDG_CONFIG_HOME": ""})
          .code, 2)
    p.write("in the way", "../.config/allm/templates/x.md/y")
    equal(p.run("--save", "x", "hi").code, 2)
    one_sentence(p.run("--save", "", "hi"), 2, "is not the name of a template")
    one_sentence(p.run("-t", "", *text(), "hi"), 2, 'there is no template ""')


def test_commands():
    """templates: list, show, edit, rm, path"""
    p = place(one="$b $a", two="---\nbroken")
    run = p.run("templates")
    equal(run.code, 0)
    holds(run.text, "one", "b a", "two")
    equal([t["name"] for t in p.run("templates", "list", "--json").json],
          ["one", "two"])
    equal(p.run("templates", "show", "one").text, "$b $a\n")
    folder = os.path.join(p.folder, "templates")
    equal(p.run("templates", "path").text, folder + "\n")
    equal(p.run("templates", "path", "x").text, folder + "/x.md\n")
    edit = {"EDITOR": "printf '%s' 'new $input' >"}
    equal(p.run("templates", "edit", "three", env=edit).code, 0)
    equal(p.run("templates", "show", "three").text, "new $input\n")
    edit = {"EDITOR": "printf '%s' '---' >"}
    run = p.run("templates", "edit", "three", env=edit)
    equal(run.code, 2)
    holds(run.said, "no end", "unchanged")
    equal(p.run("templates", "show", "three").text, "new $input\n")
    equal(p.run("templates", "edit", "three", env={"EDITOR": "false"}).code, 1)
    equal(p.run("templates", "rm", "three").code, 0)
    for words in (["rm", "three"], ["show", "three"], ["rm"], ["rm", "../x"],
                  ["show", "./no.md"], ["rm", ""], ["edit", ""],
                  ["edit", "a/b"], ["show"], ["nonsense"], ["list", "x"]):
        equal((words, p.run("templates", *words).code), (words, 2))
    holds(p.run("_complete", "-t", "o").text, "one")
    holds(p.run("_complete", "templates", "rm", "").text, "one", "two")
    equal(p.run("_complete", "-t", "./").text, ":file\n")


def test_trust():
    """a project's template works only if exactly its content is trusted"""
    p = place(mine="mine: $input")
    path = p.write("theirs: $input", ".allm/templates/theirs.md")
    p.write("shadow: $input", ".allm/templates/mine.md")
    equal(sent(p, "-t", "mine", "hi"), ["mine: hi"])
    for word in "theirs", "./.allm/templates/theirs.md":
        run = p.run("-t", word, *text(), "hi")
        equal((run.code, run.out), (2, b""))
        holds(run.said, "allm config trust")
    holds(p.run("templates").text, "waits for trust")
    digest = hashlib.sha256(p.read(path)).hexdigest()
    holds(p.run("config", "trust", "--show").text, digest, "theirs: $input")
    equal(p.run("config", "trust").code, 10)
    equal(p.run("config", "trust", "--sha256", "0" * 64).code, 10)
    equal(p.run("config", "trust", "--sha256", digest).code, 0)
    for word in "theirs", "./.allm/templates/theirs.md":
        equal(sent(p, "-t", word, "hi"), ["theirs: hi"])
    equal(p.run("config", "untrust").code, 0)
    equal(p.run("-t", "theirs", *text(), "hi").code, 2)
    equal([p.run("templates", "path", name).text for name in
           ("theirs", "mine")],
          [path + "\n", os.path.join(p.folder, "templates/mine.md\n")])
    equal(p.run("config", "trust", "--sha256", digest).code, 0)
    p.write("theirs: $input.", ".allm/templates/theirs.md")
    equal(p.run("-t", "theirs", *text(), "hi").code, 2)
    other = p.write("theirs: $input", "copy.md")
    os.remove(path)
    os.symlink(other, path)
    equal(p.run("-t", "theirs", *text(), "hi").code, 2)


def test_trusted_on_a_terminal():
    """on a terminal, trust shows the templates, too"""
    p = Place()
    p.write("theirs: $input", ".allm/templates/theirs.md")
    t = Terminal("config", "trust", env={"HOME": p.home}, cwd=p.project)
    t.until(b"[yes/no]")
    holds(t.said.decode(), "theirs: $input")
    t.write(b"yes\n")
    equal(t.end(), 0)
    equal(sent(p, "-t", "theirs", "hi"), ["theirs: hi"])


def test_session():
    """a template of -t sets the system prompt of a session that has one"""
    p = place(t="---\nsystem: theirs\n---\n$input")
    equal(p.run("-S", "./s.json", "-s", "first", *text(), "hi").code, 0)
    equal(sent(p, "-S", "./s.json", "-t", "t", "more")[0], "theirs")
    p.write({"template": "t"})
    equal(sent(p, "-S", "./s.json", "more")[0], "first")


if __name__ == "__main__":
    main(globals())
