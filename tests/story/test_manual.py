#!/usr/bin/env python3
"""test_manual - help, manual pages and README say what the table says"""
import os
import re
import subprocess

from program import BUILD, CLEAN, SOURCE, allm, equal, holds, main, need

NEEDS_KEY = ('allm "Why', 'git log -3 | allm -s', 'allm -S')


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
        for flag in row["flags"]:
            found = flag["name"] in re.findall(r"--[a-z0-9-]+", everything)
            equal((row["name"], flag["name"], found),
                  (row["name"], flag["name"], not flag["not_yet"]))
            if not flag["not_yet"]:
                holds(manual, flag["name"])
                holds(everything, flag["help"])


def test_exit_codes():
    """the manual page and the help have the table of exit codes"""
    manual, everything = page("allm.1"), allm("--help", "--all").text
    for row in ROWS["exit_codes"]:
        line = f"{row['code']:3}  {row['meaning']}"
        holds(manual, line)
        holds(everything, line)


def test_one_screen():
    """the short help of each command fits on a screen"""
    for row in SHOWN:
        lines = allm(row["name"], "--help").text.splitlines()
        assert len(lines) <= 24, (row["name"], len(lines))
        assert max(len(line) for line in lines) <= 80, row["name"]
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


def test_readme():
    """the first commands in README work as written"""
    text = read("README.md").split("<!-- first:")[1].split("<!-- end")[0]
    lines = text.split("```sh\n")[1].split("```")[0].splitlines()
    done = 0
    for line in lines:
        if not line or line.startswith(("#", "export")):
            continue
        run = subprocess.run(["bash", "-o", "pipefail", "-c", line],
                             env={**CLEAN,
                                  "PATH": BUILD + ":" + CLEAN["PATH"],
                                  "GIT_CONFIG_COUNT": "1",
                                  "GIT_CONFIG_KEY_0": "safe.directory",
                                  "GIT_CONFIG_VALUE_0": "*"},
                             cwd=SOURCE, capture_output=True, text=True,
                             stdin=subprocess.DEVNULL, check=False)
        if line.startswith(NEEDS_KEY):
            assert run.returncode in (4, 128), (line, run.stderr)
        elif line == "allm doctor":
            assert run.returncode in (0, 4), (line, run.stderr)
        elif "git" in line and "not a git repository" in run.stderr:
            pass        # the source was unpacked, not cloned
        else:
            equal((line, run.returncode), (line, 0))
        done += 1
    equal(done, 10)
    holds(text, "allm demo")


if __name__ == "__main__":
    main(globals())
