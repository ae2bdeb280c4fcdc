#!/usr/bin/env python3
"""test_manual - help, manual page, completions and README say the same"""
import os
import re
import subprocess

from program import BUILD, CLEAN, SOURCE, allm, equal, holds, main, need

TEXTS = ("man/allm.1", "completions/allm.bash", "completions/_allm",
         "completions/allm.fish")
NEEDS_KEY = ('allm "Why', 'git log -3 | allm -s', 'allm -S')


def read(path):
    with open(os.path.join(SOURCE, path), encoding="utf-8") as source:
        return source.read()


def commands():
    text = allm("help").text.split("commands:\n")[1].split("\nflags:")[0]
    return [line.split()[0] for line in text.splitlines() if line.strip()]


def flags(command):
    text = allm("help", command).text
    return re.findall(r"(--[a-z-]+)", text.split("\nflags:\n")[1]) \
        if "\nflags:\n" in text else []


def test_commands():
    """every command is in the manual page and in the completions"""
    names = commands()
    assert len(names) == 10, names
    for path in TEXTS:
        text = read(path)
        for name in names:
            assert re.search(r"\b%s\b" % name, text), (path, name)


def test_flags():
    """every flag is, too"""
    for name in ["ask", *commands()]:
        for flag in flags(name):
            for path in TEXTS:
                text = read(path).replace("\\-", "-")
                if path.endswith(".fish"):
                    flag_is = f"-l {flag[2:]}"
                else:
                    flag_is = flag
                assert flag_is in text, (path, name, flag)


def test_exit_codes():
    """the manual page has the table of exit codes"""
    text = allm("help", "ask").text.split("exit codes:\n")[1]
    manual = [" ".join(line.split()) for line in
              read("man/allm.1").splitlines()]
    for line in text.splitlines():
        assert " ".join(line.split()) in manual, line


def test_manual_page():
    """the manual page is well formed"""
    need("groff")
    done = subprocess.run(["groff", "-man", "-Tascii", "-ww", "-z",
                           os.path.join(SOURCE, "man", "allm.1")],
                          capture_output=True, check=False)
    equal((done.returncode, done.stderr), (0, b""))


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
    equal(done, 9)
    holds(text, "allm demo")


if __name__ == "__main__":
    main(globals())
