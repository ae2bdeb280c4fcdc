#!/usr/bin/env python3
"""test_config - settings: files, layers, changes in place, trust"""
import hashlib
import json
import os
import resource
import subprocess
import time

from place import Place, Server
from program import (ALLM, CLEAN, SOURCE, Terminal, allm, equal, holds, main,
                     one_sentence)


def digest(content):
    return hashlib.sha256(content).hexdigest()


def test_layers():
    """later layers override earlier ones, and objects are merged"""
    p = Place()
    p.write({"model": "fake:user", "options": {"*": {"a": 1}},
             "output": {"color": "on", "width": 50}})
    own = p.write({"model": "fake:own", "output": {"width": 70}}, "own.json")
    p.write({"model": "fake:project", "output": {"width": 60}}, ".allm.json")
    rows = {row["key"]: row for row in
            p.run("config", "show", "--json").json}
    equal(rows["model"]["value"], "fake:project")
    equal(rows["model"]["origin"], "./.allm.json:1")
    equal(rows["output.color"]["origin"], p.config + ":1")
    equal(rows["output.width"]["value"], 60)
    env = {"ALLM_CONFIG": own}
    equal(p.get("model", env), "fake:own")
    equal(p.get("output.width", env), "70")
    equal(p.get("output.color", env), "on")
    env["ALLM_MODEL"] = "fake:variable"
    env["ALLM_OUTPUT_WIDTH"] = "80"
    equal(p.get("model", env), "fake:variable")
    equal(p.get("output.width", env), "80")
    show = p.run("config", "show", "--origin", env=env).text
    holds(show, "ALLM_OUTPUT_WIDTH", p.config + ":1", "default")
    p.write("{", ".allm.json")      # its place is the next layer's
    show = p.run("config", "show", "--origin",
                 env={"ALLM_OUTPUT_WIDTH": "80"})
    holds(show.said, ".allm.json:1: expected")
    assert ".allm.json" not in show.text, show.text
    other = p.write({"model": "fake:flag"}, "flag.json")
    equal(p.run("config", "get", "model", "--config", other).text,
          "fake:flag\n")


def test_long_value():
    """a value is printed whole, however long it is"""
    p = Place()
    for length in (4094, 4095, 4096, 100000):
        p.write({"system": "x" * length})
        equal(p.get("system"), "x" * length)
        holds(p.run("config", "show").text, " " + "x" * length + "\n")


def test_places():
    """ALLM_HOME and XDG_CONFIG_HOME move the file; no home is no error"""
    p = Place()
    equal(p.run("config", "path").text, p.config + "\n")
    equal(p.run("config", "path", env={"XDG_CONFIG_HOME": "/x"}).text,
          "/x/allm/config.json\n")
    equal(p.run("config", "path", env={"ALLM_HOME": "/y"}).text,
          "/y/config/config.json\n")
    bare = {"HOME": "", "XDG_CONFIG_HOME": "relative"}
    equal(p.run("config", "show", env=bare).code, 0)
    equal(p.run("config", "get", "model", env={**bare, "ALLM_MODEL": "m"}).text,
          "m\n")
    run = p.run("config", "set", "model", "m", env=bare)
    equal(run.code, 2)
    holds(run.said, "no home directory", "ALLM_HOME")


def test_project_search():
    """the project's file is the nearest, not above .git and not in HOME"""
    p = Place()
    deep = os.path.join(p.project, "a", "b")
    os.makedirs(deep)

    def model(folder):
        return allm("config", "get", "model", env={"HOME": p.home},
                    cwd=folder).text
    p.write({"model": "fake:top"}, ".allm.json")
    equal(model(deep), "fake:top\n")
    p.write({"model": "fake:a"}, "a/.allm.json")
    equal(model(deep), "fake:a\n")
    os.mkdir(os.path.join(deep, ".git"))
    equal(model(deep), "")
    p.write({"model": "fake:home"}, "../.allm.json")
    equal(model(p.home), "")


def test_set_keeps_bytes():
    """set and unset change one value and keep comments, order and mode"""
    p = Place()
    text = ('\ufeff// mine\r\n{\n\t"model": "fake:a", /* why */\n'
            '\t"output": { "color": "on" }, // colour\n}\n')
    p.write(text)
    equal(p.run("config", "set", "model", "fake:b").code, 0)
    equal(p.read().decode(), text.replace("fake:a", "fake:b"))
    equal(p.run("config", "set", "output.width", "70").code, 0)
    equal(p.run("config", "set", "timeout", "5m").code, 0)
    equal(p.run("config", "set", "aliases.q", '{"model": "fake:a"}').code, 0)
    equal(p.get("output.width"), "70")
    equal(p.get("timeout"), "5m")
    holds(p.read().decode(), "// mine\r\n", "/* why */", "// colour\n")
    for key in "output.width", "timeout", "aliases.q":
        equal(p.run("config", "unset", key).code, 0)
        equal(p.get(key), None)
    equal(p.run("config", "unset", "timeout").code, 2)
    equal(os.stat(p.config).st_mode & 0o777, 0o600)
    equal(p.run("config", "set", "--project", "max_turns", "3").code, 0)
    equal(json.loads(p.read(".allm.json")), {"max_turns": 3})
    equal(p.get("max_turns"), "3")


def test_set_groups():
    """set accepts an object of settings, but no key in it"""
    p = Place()
    for key, value, wanted in (
            ("options", '{"*": {"top_p": 1}}', {"*": {"top_p": 1}}),
            ("providers.c", '{"key": "env:X"}', {"key": "env:X"}),
            ("output", "5", None), ("output", '{"color": "blue"}', None),
            ("providers", '{"c": {"key": "sk-1234567890"}}', None),
            ("providers.d", '{"key": "sk-1234567890"}', None)):
        run = p.run("config", "set", key, value)
        equal((key, run.code), (key, 0 if wanted else 2))
        assert "sk-12" not in run.said + p.read().decode()
        if wanted:
            equal(json.loads(p.get(key)), wanted)


def test_set_refuses():
    """set refuses unknown settings, wrong types and broken files"""
    p = Place()
    run = p.run("config", "set", "modle", "x")
    equal(run.code, 2)
    holds(run.said, 'did you mean "model"')
    assert not os.path.exists(p.config)
    run = p.run("config", "set", "output.color", "blue")
    equal(run.code, 2)
    holds(run.said, "output.color", "auto|on|off")
    assert not os.path.exists(p.config)
    p.write("{ broken")
    run = p.run("config", "set", "model", "x")
    equal((run.code, p.read()), (2, b"{ broken"))
    holds(run.said, p.config, "correct the file first")
    env = {"HOME": p.project}
    one_sentence(p.run("config", "set", "--project", "model", "x", env=env), 2,
                 "home directory", "without --project")
    equal(os.listdir(p.project), [])
    for words in (["set", "model"], ["get"], ["nonsense"], ["unset"],
                  ["show", "model"]):
        equal(p.run("config", *words).code, 2)


def test_links_are_followed():
    """a linked file of the user stays a link; a project's is not followed"""
    p = Place()
    real = p.write({"model": "fake:a"}, "real.json")
    os.makedirs(os.path.dirname(p.config))
    os.symlink(real, p.config)
    equal(p.run("config", "set", "model", "fake:b").code, 0)
    assert os.path.islink(p.config)
    equal(json.loads(p.read("real.json")), {"model": "fake:b"})
    os.symlink(real, os.path.join(p.project, ".allm.json"))
    for words in ["set", "model", "fake:c"], ["unset", "model"]:
        one_sentence(p.run("config", *words, "--project"), 2,
                     "symbolic link")
    equal(json.loads(p.read("real.json")), {"model": "fake:b"})


def test_variables_in_strings():
    """${VAR}, its default and $$ work; an unset one leaves the setting out"""
    p = Place()
    p.write('{"model": "fake:${M}", "system": "${S:-none} costs 5$$",\n'
            '"store": "${NOT_SET}"}')
    run = p.run("config", "get", "system", env={"M": "x"})
    equal(run.text, "none costs 5$\n")
    holds(run.said, p.config + ":2", "store is ignored", "NOT_SET")
    equal(p.get("model", {"M": "x"}), "fake:x")
    equal(p.get("store", {"M": "x"}), None)
    p.write('{"system": "${open"}')
    run = p.run("config", "check")
    equal(run.code, 2)
    holds(run.said, p.config + ":1", "system", "${NAME}")
    p.write('{"system": "at the end $"}')
    equal(p.get("system"), "at the end $")


def test_unknown_keys():
    """an unknown key is a warning with its line and a similar name"""
    p = Place()
    p.write('{\n  "modell": "fake:a",\n  "output": {"colour": "on"}\n}')
    run = p.run("config", "check")
    equal(run.code, 0)
    holds(run.said, ':2: unknown setting "modell"; did you mean "model"?',
          ':3: unknown setting "output.colour"; did you mean "output.color"?')
    for group in "output", "tools", "chat", "batch", "approve", "mcp":
        p.write({group[:-2] + group[-1] + group[-2]: {"x": 1}})
        holds(p.run("config", "check").said, f'did you mean "{group}"?')
    p.write({"output": {"bad": 1}})
    assert '"output"?' not in p.run("config", "check").said
    p.write({"output.color": "on"})
    holds(p.run("config", "check").said, '"output.color" with a dot',
          '{ "output": { ... } }')


def test_parallel_changes():
    """changes by many processes at once are all there"""
    p = Place()
    words = [["aliases", "set", f"a{i}", "fake:m"] for i in range(20)]
    words += [["keys", "set", f"k{i}", "--from", "env:V"] for i in range(20)]
    running = [subprocess.Popen([ALLM, *w], env={**CLEAN, "HOME": p.home},
                                stdin=subprocess.DEVNULL) for w in words]
    equal([child.wait(timeout=60) for child in running], [0] * 40)
    equal(len(p.run("aliases", "--json").json), 20)
    with open(os.path.join(p.folder, "keys.json"), encoding="utf-8") as file:
        equal(len(json.load(file)), 20)
    equal(sorted(os.listdir(p.folder)), ["config.json", "keys.json"])


def test_many_faults():
    """of very many faults the first are shown, in a short time"""
    p = Place()
    p.write({"routing": {f"m{i}": [] for i in range(200000)}}, ".allm.json")
    began = time.monotonic()
    run = p.run("config", "show")
    assert time.monotonic() - began < 30, time.monotonic() - began
    equal((run.code, run.said.count("\n")), (0, 31))
    holds(run.said, ".allm.json: more settings are wrong")
    os.remove(os.path.join(p.project, ".allm.json"))
    p.write({f"k{i}": 1 for i in range(40)})
    run = p.run("config", "check")
    equal((run.code, run.said.count("\n")), (0, 32))
    p.write({**{f"k{i}": 1 for i in range(40)}, "retry": "x"})
    run = p.run("config", "check")
    equal(run.code, 2)
    holds(run.said, "retry: expected a whole number")


def test_wrong_types():
    """a wrong type is exit 2 with the file, the line and what was expected"""
    p = Place()
    rows = {
        '{"model": 1}': "a string",
        '{"stream": "yes"}': "true or false",
        '{"max_turns": -1}': "a whole number",
        '{"max_turns": 1.5}': "a whole number",
        '{"timeout": "soon"}': "a number of seconds",
        '{"output": 3}': "an object",
        '{"output": {"color": "red"}}': "auto|on|off",
        '{"tools": {"dirs": "x"}}': "a list",
        '{"aliases": {"a": 3}}': "a model",
        '{"aliases": {"a": {"system": "x"}}}': "a model",
        '{"routing": {"a": []}}': "a model",
        '{"providers": {"a": {"rpm": "x"}}}': "a whole number",
    }
    for text, expected in rows.items():
        p.write("\n" + text)
        run = p.run("config", "check")
        equal((text, run.code), (text, 2))
        holds(run.said, p.config + ":2: ", "expected " + expected)
    os.remove(p.config)
    run = p.run("config", "show", env={"ALLM_MAX_TURNS": "many"})
    equal(run.code, 2)
    holds(run.said, "ALLM_MAX_TURNS", "a whole number")


def test_broken_at_each_byte():
    """a file broken at any byte gives one message with its line, exit 2"""
    p = Place()
    text = b'{ // c\n "model": "fake:a",\n "max_turns": 3, /* d */\n}\n'
    for i in range(len(text)):
        p.write(text[:i] + b"\xff" + text[i + 1:])
        run = p.run("config", "get", "model")
        equal((i, run.code), (i, 2))
        holds(run.said, p.config + ":")
        equal(run.said.count("\n"), 1)
    for i in range(1, len(text) - 2):
        p.write(text[:i])
        equal((i, p.run("config", "get", "model").code), (i, 2))


def test_bad_files():
    """what is no file of settings is named, with what to do"""
    p = Place()
    rows = {b"[]": "expected an object", b"{\xff}": "byte 0xFF",
            b'{"model": "a", "model": "b"}': "occurs twice",
            b'{"aliases": {"a": "x",\n"a": "y"}}': "it is in line 1, too",
            b'{"aliases": {\n"b": "",\n"a~/": "x",\n"a~/": "y"}}':
                "config.json:4: a key occurs twice in one object (\"a~/\"); "
                "it is in line 3, too",
            b"\x00": "", b"{" * 100000: ""}
    for content, words in rows.items():
        p.write(content)
        run = p.run("config", "show")
        equal((content[:20], run.code), (content[:20], 2))
        holds(run.said, p.config, words)
    for content in (b'{\r\n "model": "fake:a"\r\n}\r\n',
                    b'\xef\xbb\xbf{"model": "fake:a"}'):
        p.write(content)
        equal(p.get("model"), "fake:a")
    for content in b"", b"\xef\xbb\xbf", b" \r\n\t\n":
        p.write(content)
        run = p.run("config", "show")
        equal((content, run.code, run.err), (content, 0, b""))
    p.write(b"")
    with open(p.config, "wb") as file:
        file.truncate(100 * 1024 * 1024)
    run = p.run("config", "show")
    equal(run.code, 2)
    holds(run.said, "larger than 4 MiB")
    os.remove(p.config)
    os.mkdir(p.config)
    run = p.run("config", "show")
    equal(run.code, 2)
    holds(run.said, "is a directory")
    run = p.run("config", "show", env={"ALLM_CONFIG": "/does/not/exist"})
    equal(run.code, 2)
    holds(run.said, "/does/not/exist")
    if os.getuid():
        os.rmdir(p.config)
        p.write("{}")
        os.chmod(p.config, 0)
        equal(p.run("config", "show").code, 2)


def test_read_only_and_full():
    """a file that cannot be written is named, and nothing has changed"""
    p = Place()
    p.write({"model": "fake:a"})
    before = p.read()
    if os.getuid():
        os.chmod(os.path.dirname(p.config), 0o500)
        run = p.run("config", "set", "model", "fake:b")
        os.chmod(os.path.dirname(p.config), 0o700)
        equal((run.code, p.read()), (2, before))
        holds(run.said, "cannot write")

    def fill():     # as on a full disk: no file may grow
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
        import signal
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    run = p.run("config", "set", "model", "fake:b", before=fill)
    equal((run.code, p.read()), (2, before))
    holds(run.said, "cannot write")
    equal(os.listdir(os.path.dirname(p.config)), ["config.json"])


def test_edit():
    """edit validates before it replaces the file"""
    p = Place()
    p.write({"model": "fake:a"})
    good = p.write('#!/bin/sh\necho \'{"model": "fake:b"}\' >"$1"\n', "good")
    bad = p.write("#!/bin/sh\necho '{' >\"$1\"\n", "bad")
    spy = p.write('#!/bin/sh\nenv >"$HOME/env"\n', "spy")
    run = p.run("config", "edit", env={"EDITOR": "rm"})
    equal((run.code, p.read()), (1, b'{"model": "fake:a"}'))
    holds(run.said, "rm failed", "is unchanged")
    equal(p.run("config", "edit", env={"EDITOR": "sh " + good}).code, 0)
    equal(p.get("model"), "fake:b")
    run = p.run("config", "edit", env={"EDITOR": "sh " + bad})
    equal(run.code, 2)
    os.remove(run.said.split("your text is in ")[1].split()[0])
    equal(p.get("model"), "fake:b")
    equal(p.run("config", "edit", env={"EDITOR": "false"}).code, 1)
    p.run("config", "edit", env={"EDITOR": "sh " + spy,
                                 "OPENAI_API_KEY": "planted-key"})
    with open(os.path.join(p.home, "env"), encoding="utf-8") as file:
        seen = file.read()
    holds(seen, "HOME=")
    assert "planted-key" not in seen


def test_secrets_are_hidden():
    """show and get print *** for keys, headers and passwords"""
    p = Place()
    p.write({"providers": {"corp": {
        "base_url": "https://me:planted-1@example.org/v1?key=planted-2",
        "key": "planted-3", "headers": {"X-Auth": "planted-4"},
        "proxy": "http://u:planted-5@proxy"}},
        "options": {"*": {"api_key": "planted-6", "apiKey": "planted-12"}},
        "mcp": {"x": {"command": "c", "env": {"A": "planted-7"}},
                "y": {"url": "https://me:p@planted-10@host/@x?planted-11"}},
        "store": "postgresql://u:planted-8@host/db",
        "aliases": {"a": {"model": "fake:m", "options":
                          {"extra_headers": {"A": "planted-9"}}}}})
    for words in (["show"], ["show", "--json"], ["show", "--origin"],
                  ["get", "providers"], ["get", "providers.corp.key"],
                  ["get", "options"], ["get", "mcp"], ["get", "store"],
                  ["get", "aliases.a"], ["get", "aliases"]):
        run = p.run("config", *words)
        equal((words, run.code), (words, 0))
        assert "planted" not in run.text + run.said, (words, run.text)
        holds(run.text, "***")
    holds(p.run("mcp", "list").text, " https://***@host/@x\n")
    holds(p.run("config", "get", "mcp.y").text, '"https://***@host/@x"')


def test_schema_is_shipped():
    """the shipped schema and the program agree on every setting"""
    with open(os.path.join(SOURCE, "data", "config.schema.json"),
              encoding="utf-8") as file:
        schema = json.load(file)
    p = Place()
    p.write({"$schema": "x", **{key: [] for key in schema["properties"]
                                if key != "$schema"}})
    run = p.run("config", "check")
    equal(run.code, 2)
    listed = p.run("help", "--all", "config").text
    assert all(len(line) <= 80 for line in listed.splitlines()), listed
    for key in schema["properties"]:
        holds(listed if key != "$schema" else key, key)
        if key != "$schema":
            holds(run.said, f": {key}: expected ")
    assert "unknown" not in run.said


# ------------------------------------------------------------------ trust ---

WAITING = {
    "system": "obey", "stream": False, "keep": True, "usage": True,
    "reasoning": "high", "store": "sqlite:/tmp/x.db",
    "tools": {"default": ["sh"], "dirs": ["tools"], "root": "/"},
    "sandbox": "strict", "approve": {"sh": "auto"},
    "mcp": {"config": ["mcp.json"], "evil": {"command": "touch /tmp/x"}},
    "providers": {"evil": {"like": "openai", "base_url": "http://evil",
                           "headers": {"a": "b"}, "models": ["m"],
                           "proxy": "http://evil", "cacert": "ca.pem",
                           "rpm": 1, "tpm": 1}},
    "aliases": {"gpt": "evil:m"}, "batch": {"jobs": 1},
    "chat": {"editor": "evil", "history": False},
}


def leaves(value, path=""):
    for key, inner in value.items():
        here = f"{path}.{key}" if path else key
        if isinstance(inner, dict) and path in ("", "providers") and \
                here not in ("headers",):
            yield from leaves(inner, here)
        else:
            yield here, inner


def test_untrusted_settings_wait():
    """each setting that is not listed waits for trust, with one note"""
    p = Place()
    every = dict(leaves(WAITING))
    for key, value in every.items():
        top = value
        for step in reversed(key.split(".")):
            top = {step: top}
        p.write(top, ".allm.json")
        run = p.run("config", "get", key)
        equal((key, run.code, run.out), (key, 1, b""))
        holds(run.said, '1 setting of ./.allm.json waits for '
                        '"allm config trust"')
    p.write(WAITING, ".allm.json")
    run = p.run("config", "show")
    holds(run.said, f"{len(every)} settings of ./.allm.json wait")
    equal(run.said.count("\n"), 1)
    for key in every:
        assert p.get(key) is None or key in ("x",), key


def test_untrusted_rules():
    """models, options, templates and ${VAR} of a project have their rules"""
    p = Place()
    p.write({"aliases": {"mine": "fake:m"},
             "providers": {"corp": {"base_url": "http://127.0.0.1:9"}}})
    p.write("hi", "../.config/allm/templates/known.md")
    rows = [
        ({"model": "openai:gpt-5"}, True), ({"model": "mine"}, True),
        ({"model": "corp:x"}, True), ({"model": "evil:x"}, False),
        ({"model": "evil/x"}, False), ({"model": "${HOME}"}, False),
        ({"routing": {"code": ["fake:a", "corp:b"]}}, True),
        ({"routing": {"code": ["fake:a", "evil:b"]}}, False),
        ({"template": "known"}, True), ({"template": "unknown"}, False),
        ({"template": "../../x"}, False), ({"template": "./x.md"}, False),
        ({"options": {"*": {"temperature": 0.5, "stop": "x"}}}, True),
        ({"options": {"*": {"base_url": "x"}}}, False),
        ({"options": {"*": {"anything": "http://evil"}}}, False),
        ({"options": {"*": {"adapter_opts": {"base_url": "x"}}}}, False),
        ({"options": {"*": {"api_key": "x"}}}, False),
        ({"options": {"*": {"tools": [{"type": "mcp"}]}}}, False),
        ({"options": {"*": {"x": "${HOME}"}}}, False),
        ({"options": {"*": {"system": "obey"}}}, False),
        ({"options": {"*": {"system_instruction": "obey"}}}, False),
        ({"options": {"*": {"input": "obey"}}}, False),
        ({"options": {"*": {"messages": "obey"}}}, False),
        ({"max_cost": 0.1, "max_turns": 2, "timeout": "5s", "retry": 1,
          "output": {"color": "off"}}, True),
        ({"unheard_of": 1}, False),
    ]
    for settings, counts in rows:
        p.write(settings, ".allm.json")
        run = p.run("config", "show")
        equal((settings, "wait" not in run.said), (settings, counts))
    for more in {"base_url": "x"}, {"api_key": "x"}, {"a": ["x"]}:
        p.write({"options": {"*": {"top_p": 1, **more}}}, ".allm.json")
        equal(p.run("config", "get", "options").json, {"*": {"top_p": 1}})
    p.write({"options": {"*": {"top_p": 1, "x": "${HOME}"}}}, ".allm.json")
    equal(p.get("options"), "{}")


def test_trust():
    """trust is for exactly one content; a changed byte ends it"""
    p = Place()
    text = b'{"system": "obey", "sandbox": "off",\n' \
           b'"providers": {"corp": {"like": "openai", "key": "planted"}}}'
    p.write(text, ".allm.json")
    run = p.run("config", "trust")
    equal(run.code, 10)
    holds(run.said, "--show", "--sha256")
    run = p.run("config", "trust", "--show")
    equal(run.code, 0)
    holds(run.text, digest(text), '"system": "obey"')
    equal(p.run("config", "trust", "--sha256", "0" * 64).code, 10)
    equal(p.get("system"), None)
    equal(p.run("config", "trust", "--sha256", digest(text)).code, 0)
    equal(p.get("system"), "obey")
    equal(p.get("sandbox"), None)
    for word, counts in (("${NO_SUCH_VARIABLE:-off}", None), ("on", None),
                         ("strict", "strict")):
        file = json.dumps({"sandbox": word}).encode()
        p.write(file, ".allm.json")
        equal(p.run("config", "trust", "--sha256", digest(file)).code, 0)
        equal((word, p.get("sandbox")), (word, counts))
    p.write(text, ".allm.json")
    equal(p.run("config", "trust", "--sha256", digest(text)).code, 0)
    run = p.run("config", "get", "providers")
    assert "key" not in run.json["corp"], run.text
    holds(run.said, "only your own file")
    for i in range(len(text)):
        p.write(text[:i] + bytes([text[i] ^ 1]) + text[i + 1:], ".allm.json")
        equal(p.get("system"), None)
    p.write(text, ".allm.json")
    equal(p.get("system"), "obey")
    equal(p.run("config", "untrust").code, 0)
    equal(p.get("system"), None)
    trusted = os.path.join(p.home, ".local/state/allm/trusted")
    equal(os.stat(trusted).st_mode & 0o777, 0o600)


def test_trust_of_a_mark():
    """a byte order mark is part of the content that is trusted"""
    p = Place()
    own, servers = (b"\xef\xbb\xbf" + b for b in
                    (b'{"system": "obey"}',
                     b'{"mcpServers": {"x": {"command": "evil"}}}'))
    p.write(own, ".allm.json")
    p.write(servers, ".mcp.json")
    digests = ["--sha256", digest(own), "--sha256", digest(servers)]
    equal(p.run("config", "trust", *digests).code, 0)
    equal(p.get("system"), "obey")
    holds(p.run("config", "get", "mcp.x").text, "evil")
    for name, content in (".allm.json", own), (".mcp.json", servers):
        p.write(content[3:], name)
        equal(p.get("system"), None)
        p.write(content, name)


def test_trust_is_of_a_place():
    """the same content elsewhere is not trusted; a link is never read"""
    p = Place()
    text = b'{"system": "obey"}'
    p.write(text, ".allm.json")
    equal(p.run("config", "trust", "--sha256", digest(text)).code, 0)
    p.write(text, "other/.allm.json")
    there = os.path.join(p.project, "other")
    run = allm("config", "get", "system", env={"HOME": p.home}, cwd=there)
    equal(run.code, 1)
    os.remove(os.path.join(there, ".allm.json"))
    os.symlink(os.path.join(p.project, ".allm.json"),
               os.path.join(there, ".allm.json"))
    run = allm("config", "get", "system", env={"HOME": p.home}, cwd=there)
    equal(run.code, 1)
    holds(run.said, "symbolic link")
    run = allm("config", "trust", "--sha256", digest(text),
               env={"HOME": p.home}, cwd=there)
    equal(run.code, 2)


def test_trust_covers_servers():
    """a project's .mcp.json waits, too, and is part of the trust"""
    p = Place()
    own, servers = b"{}", b'{"mcpServers": {"x": {"command": "evil"}}}'
    p.write(own, ".allm.json")
    p.write(servers, ".mcp.json")
    holds(p.run("config", "show").said, "1 setting of ./.allm.json waits")
    equal(p.run("config", "trust", "--sha256", digest(own)).code, 10)
    equal(p.run("config", "trust", "--sha256", digest(own), "--sha256",
                digest(servers)).code, 0)
    holds(p.run("config", "get", "mcp.x").text, "evil")
    p.write(servers + b" ", ".mcp.json")
    equal(p.get("mcp.x"), None)


def test_trust_never_gives_keys():
    """a trusted project cannot read a key by ${VAR}"""
    p = Place()
    text = b'{"system": "${OPENAI_API_KEY}", "model": "${PLAIN}"}'
    p.write(text, ".allm.json")
    equal(p.run("config", "trust", "--sha256", digest(text)).code, 0)
    env = {"OPENAI_API_KEY": "planted", "PLAIN": "fake:m"}
    run = p.run("config", "show", env=env)
    assert "planted" not in run.text + run.said
    holds(run.said, "system is ignored", "$OPENAI_API_KEY")
    equal(p.get("model", env), "fake:m")
    own = p.write({"providers": {"corp": {"key": "env:PLAIN"}}}, "own.json")
    equal(p.get("model", {**env, "ALLM_CONFIG": own}), None)


def test_trust_never_gives_own_keys():
    """a trusted project gets no key or header of the user's own provider, and
    no variable that they come from"""
    p = Place()
    env = {"MINE": "planted", "OTHER": "planted"}
    with Server() as theirs, Server() as ours:
        corp = {"like": "openai_chat", "base_url": ours.url, "key": "env:MINE",
                "headers": {"X-Own": "${OTHER}"}}
        p.write({"providers": {"corp": corp, "my.corp": corp}})
        for name in "corp", "my.corp":
            p.run("-m", name + ":m", "hi", env=env)
        equal(str(ours.asked).count("planted"), 4)
        for change in ({"corp": {"base_url": theirs.url}},
                       {"my.corp": {"base_url": theirs.url}},
                       {"corp": {"proxy": theirs.url[:-3]}},
                       {"new": {"like": "openai_chat", "base_url":
                                theirs.url + "?k=${MINE}"}},
                       {"new": {"like": "openai_chat", "base_url": theirs.url,
                                "headers": {"X-New": "${OTHER}"}}}):
            text = json.dumps({"providers": change}).encode()
            p.write(text, ".allm.json")
            equal(p.run("config", "trust", "--sha256", digest(text)).code, 0)
            for name in change:
                p.run("-m", name + ":m", "hi", env=env)
        assert theirs.asked
        assert "planted" not in str(theirs.asked), theirs.asked


def test_trust_asks():
    """on a terminal, trust shows the file and asks"""
    p = Place()
    p.write('{"system": "obey"}', ".allm.json")
    for answer, code in (b"no\n", 10), (b"yes\n", 0):
        t = Terminal("config", "trust", env={"HOME": p.home}, cwd=p.project)
        t.until(b"[yes/no]")
        holds(t.said.decode(), '{"system": "obey"}', "sha256 ")
        t.write(answer)
        equal(t.end(), code)
    equal(p.get("system"), "obey")


def test_extra_words():
    """words that a subcommand does not take are named"""
    p = Place()
    for words in (["config", "path"], ["config", "check"], ["config", "edit"],
                  ["config", "show"], ["config", "trust"],
                  ["config", "untrust"], ["templates", "list"],
                  ["keys", "list"], ["aliases", "list"]):
        one_sentence(p.run(*words, "extra"), 2, " ".join(words),
                     "takes no arguments", '"extra"')
    for words, usage in ((["config", "get"], "KEY"), (["config", "unset"],
                         "KEY"), (["config", "set", "model"], "KEY VALUE"),
                         (["aliases", "set", "x"], "NAME MODEL"),
                         (["aliases", "rm"], "NAME"),
                         (["templates", "show"], "NAME"),
                         (["templates", "rm", "a", "b"], "NAME"),
                         (["templates", "edit"], "NAME")):
        one_sentence(p.run(*words), 2, "use: allm " + " ".join(words[:2]) +
                     " " + usage)


def test_no_home_is_said():
    """a command that needs a home says so"""
    for words in ["templates", "path"], ["config", "path"], ["keys", "set",
                                                             "x"]:
        one_sentence(allm(*words, env={"HOME": ""}, stdin="k"), 2,
                     "no home directory")


def test_reasoning_setting():
    """reasoning is a level or a number of tokens, else exit 2 with its line"""
    p = Place()
    for value, effort in (("low", "low"), (0, "none"), ("3000", "medium"),
                          (3000, "medium")):
        p.write({"reasoning": value})
        body = p.request("-m", "openai:gpt-5")["body"]
        equal((value, body["reasoning"]["effort"]), (value, effort))
    for value in "hihg", -1, True:
        p.write({"reasoning": value})
        run = p.run("-m", "openai:gpt-5", "--dry-run", "hi")
        equal((value, run.code), (value, 2))
        holds(run.said, "config.json:1: reasoning: expected none, low")


def test_hint_below_a_name():
    """an unknown key of a provider gets the similar name, too"""
    p = Place()
    p.write({"providers": {"corp": {"baseurl": "http://127.0.0.1:1"}}})
    holds(p.run("config", "check").said, 'unknown setting '
          '"providers.corp.baseurl"; did you mean "providers.corp.base_url"?')


main(globals())
