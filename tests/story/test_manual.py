#!/usr/bin/env python3
"""test_manual - help, manual pages and README say what the table says"""
import os
import re
import subprocess

from place import Place, Server
from program import BUILD, CLEAN, SOURCE, allm, equal, holds, main, need


def read(path):
    with open(os.path.join(SOURCE, path), encoding="utf-8") as source:
        return source.read()


ROWS = allm("_rows").json
SHOWN = [row for row in ROWS["commands"] if row["shown"]]


def page(name):
    """A built manual page, without the escapes of roff."""
    path = os.path.join(BUILD, "man" + name[-1], name)
    with open(path, encoding="utf-8") as source:
        return re.sub(r"\\f[BIR]|\\&", "",
                      source.read().replace("\\-", "-"))


def pages():
    return ["allm.1", *[f"allm-{row['name']}.1" for row in SHOWN],
            *[name for name in os.listdir(os.path.join(SOURCE, "man"))
              if not name.endswith(".1")]]


def test_examples():
    """the examples in the help of every command are indented alike"""
    for row in SHOWN:
        examples = allm("help", row["name"]).text.partition("\nexamples:\n")
        for line in examples[2].splitlines():
            assert re.match("  [^ ]", line), (row["name"], line)


def test_commands():
    """every command is in the manual page and in the help, and has a page"""
    everything, manual = allm("help", "--all").text, page("allm.1")
    assert len(SHOWN) > 10, SHOWN
    for row in SHOWN:
        holds(everything, f"\n  {row['name']} ", row["summary"])
        holds(manual, f"\n{row['name']}\n")
        holds(page(f"allm-{row['name']}.1"), row["summary"], row["usage"],
              *(row.get("examples") or "").splitlines())


def test_flags():
    """every flag of a command is in its page and in its help"""
    for row in SHOWN:
        manual = page(f"allm-{row['name']}.1")
        everything = allm(row["name"], "--help", "--all").text
        names = [flag["name"] for flag in row["flags"]]
        equal((row["name"], len(set(names))), (row["name"], len(names)))
        for flag in row["flags"]:
            holds(manual, flag["name"])
            holds(everything, flag["name"], flag["help"])


def test_exit_codes():
    """the manual page and the help have the table of exit codes"""
    manual, everything = page("allm.1"), allm("--help", "--all").text
    for row in ROWS["exit_codes"]:
        line = f"{row['code']:3}  {row['meaning']}"
        holds(manual, line)
        holds(everything, line)


def test_one_screen():
    """the short help of each command fits on a screen"""
    for words in [["--help"]] + [[row["name"], "--help"] for row in SHOWN]:
        lines = allm(*words).text.splitlines()
        assert len(lines) <= 24, (words, len(lines))
        assert max(len(line) for line in lines) <= 80, words
    for row in SHOWN:
        for line in allm(row["name"], "--help", "--all").text.splitlines():
            assert len(line) <= 80, (row["name"], line)


def test_manual_pages():
    """the manual pages are well formed"""
    need("groff")
    for name in pages():
        done = subprocess.run(["groff", "-man", "-Tascii", "-ww", "-z",
                               os.path.join(BUILD, "man" + name[-1], name)],
                              capture_output=True, check=False)
        equal((name, done.returncode, done.stderr), (name, 0, b""))


def readme_lines():
    text = read("README.md").split("<!-- first:")[1].split("<!-- end")[0]
    lines = text.split("```sh\n")[1].split("```")[0].splitlines()
    return [line for line in lines
            if line and not line.startswith(("#", "export"))]


def test_readme():
    """the first commands in README work as written, with a model"""
    p = Place()
    with Server() as server:
        p.write({"model": "groq:m", "providers": {
            "groq": {"base_url": server.url, "key": "k"}}})
        for line in readme_lines():
            run = subprocess.run(["bash", "-o", "pipefail", "-c", line],
                                 env={**CLEAN, "HOME": p.home,
                                      "PATH": BUILD + ":" + CLEAN["PATH"],
                                      "GIT_CONFIG_COUNT": "1",
                                      "GIT_CONFIG_KEY_0": "safe.directory",
                                      "GIT_CONFIG_VALUE_0": "*"},
                                 cwd=SOURCE, capture_output=True, text=True,
                                 input="", check=False)
            if "git" in line and "not a git repository" in run.stderr:
                continue        # the source was unpacked, not cloned
            # a key that only the settings have is none for doctor
            codes = (0, 4) if line == "allm doctor" else (0,)
            assert run.returncode in codes, (line, run.stderr)
        assert len(server.asked) >= 3, server.asked
        equal(server.asked[-1][2]["messages"][-1]["content"],
              "And if it rains?")
    equal(len(readme_lines()), 10)


if __name__ == "__main__":
    main(globals())
