#!/usr/bin/env python3
"""test_completions - the Tab key in real shells, each in a new terminal"""
import os
import re

from program import (BUILD, CLEAN, HOME, SOURCE, Terminal, allm, equal, main,
                     need)

FILES = os.path.join(SOURCE, "completions")
PATH = BUILD + ":" + CLEAN["PATH"]
SHELLS = {
    "bash": (["--noprofile", "--norc", "-i"],
             f"source {FILES}/allm.bash"),
    "zsh": (["-f", "-i"],
            f"fpath=({FILES} $fpath); autoload -Uz compinit; compinit -D -u"),
    "fish": (["--no-config", "-i"],
             f"source {FILES}/allm.fish"),
}
HOME_KEY, TAB = b"\x01", b"\t"


class Shell:
    """A shell with our completions."""

    def __init__(self, name):
        need(name)
        args, setup = SHELLS[name]
        self.t = Terminal(*args, program=name, columns=200, env={
            "PATH": PATH, "TERM": "xterm", "LC_ALL": "C.UTF-8",
            "XDG_CONFIG_HOME": HOME, "XDG_DATA_HOME": HOME})
        self.count = 0
        self.run(setup)

    def run(self, line):
        """What a command prints after a mark."""
        self.count += 1
        mark = f"mark{self.count}"
        # the mark that is echoed while it is typed has quotes in it
        self.t.after(f"{line}; echo 'ma''rk{self.count}'\n".encode(),
                     mark.encode())

    def complete(self, words):
        """The line after Tab."""
        self.count += 1
        begin = f"line{self.count}<".encode()
        self.t.write(words.encode() + TAB)
        # the line becomes the words of a command that shows it
        self.t.after(HOME_KEY + f"echo 'li''ne{self.count}<' ".encode() +
                     b"\x05" + b"'>'\n",
                     lambda seen: re.search(re.escape(begin) + b"[^\n]*>",
                                            seen))
        return re.search(re.escape(begin) + b" (.*?) ?>",
                         self.t.said).group(1).decode()

    def end(self):
        self.t.write(b"exit\n")
        self.t.end()


def models():
    return [line.split()[0] for line in allm("models").text.splitlines()
            if ":" in line.split()[0]]


def one_ending(provider):
    """A prefix that only one model of the catalog has, and that model."""
    names = models()
    for name in names:
        begin = name[:-2]
        if name.startswith(provider + ":") and len(begin) > len(provider) + 2 \
                and [n for n in names if n.startswith(begin)] == [name]:
            return begin, name
    raise AssertionError("every model is the beginning of another")


def check_shell(name):
    begin, model = one_ending("openai")
    shell = Shell(name)
    rows = [
        ("allm deco", "allm decode"),
        ("allm decode --ra", "allm decode --raw"),
        ("allm --no-str", "allm --no-stream"),
        (f"allm -m {begin}", f"allm -m {model}"),
        (f"allm --model {begin}", f"allm --model {model}"),
        (f"allm --model={begin}", f"allm --model={model}"),
        (f"allm chat -m {begin}", f"allm chat -m {model}"),
        (f"allm encode {begin}", f"allm encode {model}"),
        ("allm -m anthropic:cl", "allm -m anthropic:claude-"),
        ("allm -m lmst", "allm -m lmstudio"),
        ("allm models -m lmst", "allm models -m lmstudio"),
        ("allm models --provider cereb", "allm models --provider cerebras"),
        ("allm models --can moder", "allm models --can moderation"),
    ]
    for words, want in rows:
        got = shell.complete(words)
        equal((words, got[:len(want)]), (words, want))
    shell.end()


def test_bash():
    """bash completes commands, flags, and models after the colon"""
    check_shell("bash")


def test_names_of_others():
    """a name that a shell would run or show is not completed"""
    folder = os.path.join(HOME, "project/.allm/templates")
    os.makedirs(folder)
    with open(f"{folder}/$(touch pwned).md", "w", encoding="utf-8"):
        pass
    with open(f"{HOME}/project/.allm.json", "w", encoding="utf-8") as out:
        out.write('{"routing": {"`touch pwned`": "fake:m", "x\\u001b[2J": ""}}')
    for flag in "-t", "--task":
        equal(allm("_complete", flag, "", cwd=HOME + "/project").out, b"")
    shell = Shell("bash")
    shell.run(f"cd {HOME}/project")
    equal(shell.complete("allm -t "), "allm -t")
    shell.end()


def test_zsh():
    """zsh does"""
    check_shell("zsh")


def test_fish():
    """fish does"""
    check_shell("fish")


if __name__ == "__main__":
    main(globals())
