#!/usr/bin/env python3
"""test_table - every flag of every row is called, and the grammar of flags

A row is one of "allm _rows".  FIRST has the arguments with which a command
works; a flag is added to them with a value of its kind.
"""
import os

from program import BUILD, HOME, SOURCE, Terminal, allm, equal, file, holds, \
    main, one_sentence, text

WARDEN = {"ALLM_WARDEN": os.path.join(BUILD, "allm-warden")}
ROWS = allm("_rows").json["commands"]
SCHEMA = file("any.json", "{}")
PICTURE = file("a.png", b"\x89PNG\r\n\x1a\n")
NOTE = file("note.txt", "some text\n")
REQUEST = file("request.json",
               '{"messages": [{"role": "user", "content": "hi"}]}')
RECORDING = file("one.recording", "\n".join([
    '{"allm_recording": 1}',
    '{"request": {"method": "POST", "url": "http://x/chat/completions"}}',
    '{"answer": {"status": 200, "headers": []}}',
    '{"text": "data: {\\"choices\\":[{\\"index\\":0,\\"delta\\":{\\"content\\":'
    '\\"x\\"}}]}\\n\\ndata: [DONE]\\n\\n"}', '{"end": "complete"}', ""]))

TEMPLATE = file("table.md", "$input $a")
STORE = "sqlite:" + os.path.join(HOME, "table.db")
allm("-S", "first", "--store", STORE, *text(), "hi")

# What follows the command, and what it reads.
FIRST = {
    "ask": ([*text("1"), "hi"], ""),
    "chat": (text("1"), "hi\n"),
    "send": (["a", "hi"], ""),
    "work": (["--once", *text()], ""),
    "batch": (text("1"), '{"prompt": "hi"}\n'),
    "embed": (["-m", "fake:m", NOTE], ""),
    "mcp": (text(), ""),
    "completion": (["bash"], ""),
    "image": (["a fox"], ""),
    "moderate": (["text"], ""),
    "replay": ([RECORDING], ""),
    "decode": (["openai_chat"], 'data: {"choices":[{"index":0,"delta":'
               '{"content":"x"},"finish_reason":"stop"}]}\n\n'
               'data: [DONE]\n\n'),
    "encode": (["openai:gpt-5", REQUEST], ""),
    "tools": (["list"], ""),
}
# Values of flags that need a certain one; "COMMAND FLAG" comes first.
VALUES = {
    "--model": [*text()[:2]],
    "--schema": ["--schema", SCHEMA],
    "--config": ["--config", SCHEMA],
    "--session": ["--session", os.path.join(HOME, "new.session")],
    "--store": ["--store", STORE],
    "--continue": ["--continue", "--store", STORE],
    "send --wait": None,        # needs a worker: test_work
    "work --queue": ["--queue", "nobody"],
    "work --jobs": ["--jobs", "2"],
    "--at": ["--at", NOTE, "text/plain"],
    "--template": ["--template", TEMPLATE, "-p", "a", "b"],
    "--param": ["--param", "a", "b", "--template", TEMPLATE],
    "--reasoning": ["--reasoning", "low"],
    "--extract": None,          # needs a code block: test_flags
    "--xl": None,
    "--xa": None,
    "--replay": ["--replay", RECORDING],
    "--record": ["--record", os.path.join(HOME, "table.recording")],
    "--trace": ["--trace", os.path.join(HOME, "table.trace")],
    "--option": ["--option", "top_p", "1"],
    "--header": ["--header", "X-Team: blue"],
    "--key": None,              # needs a stored key: test_target
    "--provider": ["--provider", "openai"],
    "ask --dry-run": ["--dry-run", "-m", "openai:gpt-5"],
    "image --out": ["--out", os.path.join(HOME, "fox.png")],
    "image --model": ["--model", "openai:gpt-image-1"],
    "image --attach": ["--attach", PICTURE],
    "image --mask": ["--mask", PICTURE, "--attach", PICTURE],
    "image --count": ["--count", "2"],
    "moderate --model": ["--model", "openai:omni-moderation-latest"],
    "batch --shard": ["--shard", "1/1"],
    "batch --out": ["--out", os.path.join(HOME, "out.jsonl")],
    "embed --model": ["--model", "fake:x"],
    "embed --shard": ["--shard", "1/1"],
    "embed --out": ["--out", os.path.join(HOME, "vectors.jsonl")],
    "embed --format": ["--format", "f32", "--out",
                       os.path.join(HOME, "vectors.f32")],
    "embed --similar": None,    # needs rows: test_embed
    "replay --model": ["--model", "openai:x"],
    "models --model": None,     # needs a server: test_commands
}
VALUES.update({
    "--tools": ["--tools", "read"],
    "--tool": ["--tool", os.path.join(SOURCE, "examples", "tools", "git_log")],
    "--mcp": ["--mcp", os.path.join(SOURCE, "tests", "story", "mcp_server.py")],
    "--mcp-config": ["--mcp-config", file("servers.json",
                                          '{"mcpServers": {}}')],
    "--approve": ["--approve", "grep=auto"],
    "--deny": None,             # needs a call that waits: test_approval
    "--why": ["--why", "x"],
})
# The exit codes of calls that do not end with 0.
CODES = {"doctor": 4, "sessions": 2, "moderate": 4, "image": 4,
         "batch --max-cost": 2, "embed --max-cost": 2, "embed --jsonl": 1,
         "route": 2}


def words_of(command, flag):
    """The flag with a value of its kind; None: it cannot be called here."""
    name = flag["name"]
    for key in (f"{command} {name}", name):
        if key in VALUES:
            return VALUES[key]
    if flag["kind"] == "choice" or flag["fill"] == "words":
        return [name, flag["words"].split("|")[-1]]
    return {"switch": [name], "text": [name, "x"], "number": [name, "2k"],
            "seconds": [name, "5m"], "cost": [name, "0.5"],
            "list": [name, NOTE], "pair": [name, "a", "b"]}[flag["kind"]]


def calls():
    for row in ROWS:
        if row["shown"]:
            for flag in row["flags"]:
                yield row["name"], flag


def test_help():
    """the help of each command fits on a screen and ends with examples"""
    for row in (row for row in ROWS if row["shown"]):
        run = allm(row["name"], "--help")
        name, lines = row["name"], run.text.splitlines()
        assert len(lines) <= 24 and max(map(len, lines)) <= 80, name
        assert 1 <= len(lines) - lines.index("examples:") - 1 <= 3, name
        holds("\n".join(lines[lines.index("examples:"):]), "allm " +
              (name if name != "ask" else ""))


def test_every_flag():
    """every flag of every command works"""
    for command, flag in calls():
        words = words_of(command, flag)
        if words is None:
            continue
        first, stdin = FIRST.get(command, ([], ""))
        run = allm(command, *first, *words, stdin=stdin, env=WARDEN)
        name = f"{command} {flag['name']}"
        code = CODES.get(name, CODES.get(command, 0))
        assert "unknown flag" not in run.said, (name, run.said)
        assert run.code in (code, 0), (name, words, run.code, run.said)


def test_every_value():
    """every flag with a value needs one, and a switch takes none"""
    for command, flag in calls():
        if flag["kind"] == "switch":
            one_sentence(allm(command, flag["name"] + "=1"), 2, flag["name"],
                         "takes no value")
        else:
            one_sentence(allm(command, flag["name"]), 2, flag["name"],
                         "needs a value", flag["value"])


def test_every_letter():
    """every letter is the flag with the long name"""
    for command, flag in calls():
        if "letter" in flag and flag["kind"] != "switch":
            one_sentence(allm(command, "-" + flag["letter"]), 2, flag["name"])
    letters = {}
    for command, flag in calls():
        if "letter" in flag:
            key = (command, flag["letter"])
            assert key not in letters, key
            letters[key] = flag


def test_names():
    """a command has no two flags with the same name or letter"""
    for row in ROWS:
        flags = row["flags"]
        names = [f["name"] for f in flags] + [
            f["letter"] for f in flags if f.get("letter")]
        equal((row["name"], sorted(names)),
              (row["name"], sorted(set(names))))


def test_numbers():
    """numbers have units, times too; anything else is rejected"""
    for value in "0", "-1", "x", "1.5", "1kk", "k", "0x10", "1e3", "nan", "":
        one_sentence(allm("--max-turns", value, "hi"), 2, "--max-turns",
                     "whole number")
    for value in "1", "2k", "1M", "1.5k":
        equal(allm(*text(), "--max-turns", value, "hi").code, 0)
    for value in "0", "-1", "x", "5d", "5ms", "inf", "", "s":
        one_sentence(allm("--timeout", value, "hi"), 2, "--timeout", "90s")
    for value in "90", "90s", "5m", "2h", "0.5m":
        equal(allm(*text(), "--timeout", value, "hi").code, 0)


def test_letters():
    """letters are combined; the last one may take a value"""
    run = allm(*text()[2:], "-qum", "fake:m", "hi")
    equal((run.code, run.out), (0, b"Hello.\n"))
    run = allm(*text(), "-uq", "hi")
    equal((run.code, run.out), (0, b"Hello.\n"))
    one_sentence(allm("-mq", "fake:m", "hi"), 2, 'unknown flag "-mq"')
    one_sentence(allm("-qZ", "hi"), 2, 'unknown flag "-qZ"')


def test_places():
    """flags may be anywhere, as --flag=V; the last value counts"""
    model, *script = text()[1:]
    run = allm("hi", "--model=fake:x", *script, "there", f"--model={model}")
    equal((run.code, run.out), (0, b"Hello.\n"))
    run = allm(*text(), "--", "--json", "-q")
    equal((run.code, run.out), (0, b"Hello.\n"))


def test_hidden():
    """commands for scripts of ours are not offered"""
    words = allm("_complete", "--").text + allm("_complete", "").text
    assert "_rows" not in words and "_complete" not in words, words


def complete(*words):
    return [line.split("\t")[0] for line in
            allm("_complete", *words).text.splitlines()]


CEREBRAS = [line.split()[0] for line in
            allm("models", "--provider", "cerebras").text.splitlines()] + \
    ["cerebras:"]


def test_complete():
    """_complete prints the words that can follow"""
    names = [row["name"] for row in ROWS if row["shown"]]
    equal(complete(""), names)
    equal(complete(), names)
    equal(complete("deco"), ["decode"])
    equal(complete("decode", "--r"), ["--raw"])
    equal(complete("completion", ""), ["bash", "zsh", "fish"])
    equal(complete("help", "ver"), ["version"])
    equal(complete("models", "--provider", "cereb"), ["cerebras"])
    equal(complete("models", "--can=moder"), ["--can=moderation"])
    equal(complete("Why"), [":file"])
    equal(complete("-a", ""), [":file"])
    equal(complete("-o", ""), [])
    equal(complete("-o", "a", ""), [])
    equal(complete("-o", "a", "b", "--usag"), ["--usage"])
    equal(complete("--", "--usag"), [":file"])
    equal(complete("-qm", "cereb"), CEREBRAS)
    equal(complete("decode", "anthr"), ["anthropic"])
    holds("\n".join(complete("encode", "openai:gpt-5")), "openai:gpt-5-mini")
    holds("\n".join(complete("config", "get", "")), "model", "output.color")
    equal(complete("--model=cereb"), ["--model=" + name for name in CEREBRAS])
    allm("keys", "set", "my.work", "--from", "env:V")
    equal(complete("--key", "my."), ["my.work"])
    equal(complete("keys", "rm", "my."), ["my.work"])


def test_completion():
    """completion prints the script of a shell, and rejects others"""
    for shell in "bash", "zsh", "fish":
        run = allm("completion", shell)
        equal(run.code, 0)
        name = {"zsh": "_allm"}.get(shell, "allm." + shell)
        path = os.path.join(os.environ.get("SOURCE_DIR", "."), "completions",
                            name)
        with open(path, encoding="utf-8") as script:
            equal(run.text, script.read())
    one_sentence(allm("completion", "fihs"), 2, 'did you mean "fish"?')
    one_sentence(allm("completion"), 2, "bash|zsh|fish")


def test_prompts():
    """a prompt on a terminal that begins like a command is sent"""
    t = Terminal("watch", "this", *text())
    equal(t.end(), 0)
    holds(t.said.decode(), "Hello.")


if __name__ == "__main__":
    main(globals())
