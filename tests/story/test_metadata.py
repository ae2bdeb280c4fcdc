#!/usr/bin/env python3
"""test_metadata - the reserved names in session-rules.md are those of the code

The table is compared with the source that reads or writes each name, and with
what a session does if a caller uses such a name.
"""
import glob
import json
import os
import re
import subprocess
import tempfile

from program import BUILD, SOURCE, main


def read(path):
    with open(os.path.join(SOURCE, path), encoding="utf-8") as file:
        return file.read()


def table():
    """Row of the table -> the names in it."""
    page = read("docs/session-rules.md")
    section = page.split("## Reserved metadata names")[1]
    rows = re.findall(r"^\| ([^|]+) \| (`[^|]+`) \|$", section, re.M)
    return {where: set(re.findall(r"`(\w+)`", names)) for where, names in rows}


def function(path, name):
    """The body of a function."""
    return re.search(rf"^[^\n]*\b{name}\([^;]*?\n\{{\n.*?^\}}", read(path),
                     re.M | re.S).group()


def keys(text):
    return set(re.findall(r'build_key\([^,]+, SLICE\("(\w+)"\)\)', text)) | \
        set(re.findall(r'build_\w+_at\(&?b, "(\w+)"', text)) | \
        set(re.findall(r'build_one\w*\([^";]*"(\w+)"', text)) | \
        set(re.findall(r'put_\w+\(b, "(\w+)"', text))


def read_from(variable, folder="provider"):
    """Names that the code gets from the metadata of such a variable."""
    found = set()
    for path in glob.glob(os.path.join(SOURCE, "src", folder, "**", "*.c"),
                          recursive=True):
        found |= set(re.findall(rf'\b{variable}->metadata,\s*"(\w+)"',
                                read(path)))
    return found


def strings(path, start):
    """The strings of the list that starts with this text."""
    return set(re.findall(r'"(\w+)"',
                          read(path).split(start)[1].split("};")[0]))


def test_rows():
    """the table has a row for each place, and no other"""
    assert set(table()) == {
        "sessions, results of steps and chats",
        "messages that the library writes", "messages that it reads", "parts",
        "tools", "tool calls"}, table().keys()


def test_sessions():
    """the names of sessions are those that a new result removes"""
    assert table()["sessions, results of steps and chats"] == \
        strings("src/session/project.c", "const result_keys[] = {")


def test_results():
    """the names that a chat, a step or a budget sets are reserved"""
    brought = set()
    for path, name in (("src/run/chat.c", "reason_metadata"),
                       ("src/run/output.c", "judge_answer"),
                       ("src/run/turns.c", "may_call_model"),
                       ("src/turn/budget.c", "halt_on_limit"),
                       ("src/tool/result.c", "result_write_halt")):
        brought |= keys(function(path, name))
    chat = read("src/run/chat.c")
    brought |= set(re.findall(r'number_metadata\(\w+, "(\w+)"', chat))
    brought |= set(re.findall(r'json_set\(a, m, SLICE\("(\w+)"\)', chat))
    assert len(brought) >= 8, brought
    assert brought <= table()["sessions, results of steps and chats"], brought


def test_messages():
    """the names of messages are those that are written and read"""
    written = keys(function("src/turn/context.c", "finish_metadata")) | \
        keys(function("src/run/chat.c", "append_question"))
    assert table()["messages that the library writes"] == \
        written | {"tool_calls"}, written
    assert table()["messages that it reads"] == read_from("m")


def test_other_nouns():
    """the names of parts, tools and calls are those that dialects read"""
    more = strings("src/provider/anthropic/encode.c", "const optional[] = {")
    mark = re.findall(r'define MARK "(\w+)"', read("src/tool/compact.c"))
    assert table()["parts"] == read_from(r"(?:p|parts\[i\])")
    assert table()["tools"] == read_from("tool") | more | set(mark)
    assert table()["tool calls"] == read_from("call")


def test_behaviour():
    """a session removes a reserved name that the caller has set"""
    names = table()["sessions, results of steps and chats"]
    hi = [{"role": "user", "content": "hi"}]
    scenario = {
        "name": "reserved names",
        "engine": {"model": "fake:m",
                   "scripts": [[["text", "a"], ["finish", "stop"]]]},
        "run": [
            {"op": "session_new",
             "session": {"thread": hi,
                         "metadata": {**{n: "x" for n in names}, "mine": 1}}},
            {"op": "session_start",
             "expect": {"ok": True,
                        "session": {"metadata": {"mine": 1, "$len": 1}}}}],
    }
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "reserved.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(scenario, file)
        run = subprocess.run([os.path.join(BUILD, "allm-scenario"), path],
                             capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout


main(globals())
