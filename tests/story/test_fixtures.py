#!/usr/bin/env python3
"""test_fixtures - a fixture that fails shows where two files differ

A copy of one fixture gets a fault in the middle; the message of the test
program must name the file, the line and the byte, and show the text there.
"""
import os
import shutil
import subprocess

from program import BUILD, CLEAN, FIXTURES, HOME, equal, holds, main

PROGRAM = os.path.join(BUILD, "tests", "test_provider_ollama_adapter")
FOLDER = os.path.join(HOME, "tests", "fixture", "ollama", "oll-tool")


def plant(name, change):
    """Copy the fixture, and change the content of one of its files."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    shutil.copytree(os.path.join(FIXTURES, "ollama", "oll-tool"), FOLDER)
    path = os.path.join(FOLDER, name)
    with open(path, encoding="utf-8") as source:
        text = source.read()
    with open(path, "w", encoding="utf-8") as out:
        out.write(change(text))
    return text


def run():
    return subprocess.run([PROGRAM, "decodes_every_fixture"], text=True,
                          capture_output=True, check=False,
                          env={**CLEAN, "SOURCE_DIR": HOME,
                               "ALLM_TORTURE": "off"})


def test_unchanged():
    """a copy of the fixture passes"""
    plant("events.jsonl", lambda text: text)
    done = run()
    equal((done.returncode, "differs" in done.stdout), (0, False))


def test_changed():
    """one byte that differs is shown with its surroundings"""
    def third_line(text):
        lines = text.split("\n")
        lines[2] = lines[2][:20] + "#" + lines[2][21:]
        return "\n".join(lines)

    text = plant("events.jsonl", third_line)
    line = text.split("\n")[2]
    done = run()
    equal(done.returncode, 1)
    holds(done.stdout, "oll-tool/events.jsonl")
    holds(done.stdout, "differs at line 3, byte 21 ")
    shown = [row for row in done.stdout.split("\n") if row.startswith("#   ")]
    at = next(i for i, row in enumerate(shown) if "differs at line 3" in row)
    got, expected, caret = shown[at + 1:at + 4]
    holds(got, "got      ...")
    holds(got, line[:40])
    holds(expected, line[:20] + "#" + line[21:40])
    equal(expected[caret.index("^")], "#")
    equal(got[caret.index("^")], line[20])


def test_cut():
    """a file that ends too early differs where it ends"""
    text = plant("events.jsonl", lambda text: text[:-1])
    lines = text.split("\n")
    done = run()
    equal(done.returncode, 1)
    holds(done.stdout, "differs at line %d, byte %d (got %d bytes, expected %d)"
          % (len(lines) - 1, len(lines[-2]) + 1, len(text), len(text) - 1))


def test_missing():
    """a file that is missing is shown as NULL"""
    plant("events.jsonl", lambda text: text)
    os.remove(os.path.join(FOLDER, "events.jsonl"))
    done = run()
    equal(done.returncode, 1)
    holds(done.stdout, "differs at line 1, byte 1 ")
    holds(done.stdout, "expected NULL")


if __name__ == "__main__":
    main(globals())
