#!/usr/bin/env python3
"""test_architecture.py - docs/architecture.md names every file, once

Each layer has one section "### src/LAYER: ..."; the first column of its tables
names every file of the layer, and none that is not there; a file in a folder of
the layer is named FOLDER/FILE.  The list of layers is the one of src/LAYERS.
"""
import os
import re
import sys

ROOT = os.environ.get("SOURCE_DIR", ".")
SECTION = re.compile(r"^### (src/\w+|scenario)(?::[^\n]*)?\n(.*?)(?=^##)",
                     re.M | re.S)
ROW = re.compile(r"^\| (`[^|]+) \|", re.M)


def text_of(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
        return file.read()


def files(folder):
    """The names without their endings: a .c and its .h are one thing."""
    top = os.path.join(ROOT, folder)
    found = set()
    for path, _, names in os.walk(top):
        for name in names:
            if name.endswith((".c", ".h")):
                place = os.path.relpath(os.path.join(path, name), top)
                found.add(place.rsplit(".", 1)[0])
    return found


def named(section):
    cells = " ".join(ROW.findall(section))
    return [n.rsplit(".", 1)[0] if n.endswith((".c", ".h")) else n
            for n in re.findall(r"`([^`]+)`", cells)]


def section_faults(folder, section):
    names = named(section)
    for name in sorted(set(names)):
        if names.count(name) > 1:
            yield "%s: %s is named twice" % (folder, name)
    for name in sorted(files(folder) - set(names)):
        yield "%s: %s is not named" % (folder, name)
    for name in sorted(set(names) - files(folder)):
        yield "%s: %s is named, and is not there" % (folder, name)


def layer_faults(page):
    law = [line for line in text_of("src", "LAYERS").splitlines()
           if line and not line.startswith("#")]
    for line in law:
        if line not in page.splitlines():
            yield "the line of src/LAYERS is missing: " + line


def faults(page):
    seen = []
    for folder, section in SECTION.findall(page):
        if folder in seen:
            yield folder + " has two sections"
        seen.append(folder)
        yield from section_faults(folder, section)
    src = os.path.join(ROOT, "src")
    for layer in sorted(os.listdir(src)):
        if os.path.isdir(os.path.join(src, layer)) and "src/" + layer not in seen:
            yield "src/%s has no section" % layer
    yield from layer_faults(page)


def planted(page):
    """Would it see a name that is missing, one too many, one twice?"""
    return (list(faults(page.replace("| `blocks` |", "| `bloks` |")))
            and list(faults(page.replace("| `blocks` |", "| `client` |")))
            and list(faults(page.replace("### src/turn", "### src/turm"))))


def main():
    page = text_of("docs", "architecture.md")
    found = list(faults(page))
    for fault in found:
        print("docs/architecture.md: " + fault)
    if not planted(page):
        print("a planted fault was not seen")
        found.append("planted")
    print("%d passed, %d failed" % (0 if found else 1, 1 if found else 0))
    return 1 if found else 0


sys.exit(main())
