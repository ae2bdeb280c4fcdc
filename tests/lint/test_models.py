#!/usr/bin/env python3
"""test_models.py - docs/models.md has the source of every rule about models

The rows of the table in src/provider/model_rules.c end in the number of a rule;
the page has one row for each number, with a source and the day of the check.
Nothing else in src/ compares names of models.
"""
import os
import re
import sys

ROOT = os.environ.get("SOURCE_DIR", ".")
NUMBER = re.compile(r"/\* (M\d\d) \*/")
ROW = re.compile(r"^\| (M\d\d) \| (.+) \| (.+) \| (.+) \| (.+) \|$", re.M)
NAMES = re.compile(
    r'"(gpt|claude|gemini|chatgpt|dall-e|grok|o[1-9])[-.][^" ]*"')
MAY_NAME = {"src/provider/model_rules.c"}


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def sources():
    for layer in ("provider", "engine", "run"):
        for path, _, names in os.walk(os.path.join(ROOT, "src", layer)):
            for name in sorted(names):
                if name.endswith(".c"):
                    yield os.path.relpath(os.path.join(path, name), ROOT)


def without_comments(code):
    return re.sub(r"/\*.*?\*/", "", code, flags=re.S)


def faults(table, page):
    rows = re.findall(r'^    \{ "', table, re.M)
    if not rows or len(rows) != len(NUMBER.findall(table)):
        yield "%d rows and %d numbers of rules in the table" % (
            len(rows), len(NUMBER.findall(table)))
    told = [row[0] for row in ROW.findall(page)]
    if len(told) != len(set(told)):
        yield "a rule has two rows on the page"
    for number in sorted(set(NUMBER.findall(table)) ^ set(told)):
        yield number + " is not in both the table and the page"
    for number, _, _, source, day in ROW.findall(page):
        if len(source.strip()) < 5 or not re.match(r"^20\d\d-\d\d-\d\d$", day):
            yield number + " has no source, or no day"


def strays():
    for path in sources():
        if path in MAY_NAME:
            continue
        found = NAMES.search(without_comments(read(path)))
        if found:
            yield "%s compares names by itself: %s" % (path, found.group(0))


def main():
    table, page = read("src/provider/model_rules.c"), read("docs/models.md")
    cases = [       # why, faults, words that must be among them
        ("table and page agree", faults(table, page), None),
        ("no other file compares names", strays(), None),
        ("a row without a number", faults(table.replace("/* M13 */", ""), page),
         "rows and"),
        ("a rule without a row",
         faults(table, page.replace("| M20 |", "| - |")),
         "M20 is not in both"),
        ("a row without a day",
         faults(table, re.sub(r"(?m)^(\| M23 .*\| )[-\d]+ \|$", r"\1soon |",
                              page)), "M23 has no source"),
    ]
    failed = 0
    for number, (why, found, words) in enumerate(cases, 1):
        told = list(found)
        good = any(words in t for t in told) if words else not told
        failed += not good
        print("%s %d - %s" % ("ok" if good else "not ok", number, why))
        if not good:
            print("\n".join("#   " + t for t in told or ["no fault was found"]))
    print("1..%d" % len(cases))
    print("%d passed, %d failed" % (len(cases) - failed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
