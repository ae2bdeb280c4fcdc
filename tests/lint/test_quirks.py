#!/usr/bin/env python3
"""test_quirks.py - docs/quirks.md has every number, and its tests exist

The table must have every number from Q001 on, once each and in order; a row
names at least one test, or has "later:" or "does not apply:" with a reason.  A
fixture with a number must be named in the row of that number.
"""
import os
import re
import sys

ROOT = os.environ.get("SOURCE_DIR", ".")
ROW = re.compile(r"^\| (Q\d{3}) \| (.+?) \| (.*) \|$", re.M)
LEAST = 217  # numbers that were assigned; they are never removed
EXCUSE = re.compile(r"^(later|does not apply): \S")


def fixtures():
    """The folders, as DIALECT/NAME."""
    top = os.path.join(ROOT, "tests", "fixture")
    return {
        dialect + "/" + name
        for dialect in os.listdir(top)
        if os.path.isdir(os.path.join(top, dialect))
        for name in os.listdir(os.path.join(top, dialect))
        if os.path.isdir(os.path.join(top, dialect, name))
    }


def has_test(layer, name, test):
    path = os.path.join(ROOT, "tests", "unit", layer, "test_%s.c" % name)
    if not os.path.exists(path):
        return False
    with open(path, encoding="utf-8") as file:
        return bool(re.search(r"\bTEST(_ONCE)?\(%s\)" % test, file.read()))


def exists(named, folders):
    test = re.match(r"^(\w+(?:/\w+)?)/(\w+): (\w+)$", named)
    if test:
        return has_test(*test.groups())
    if named.endswith("*"):
        return any(f.startswith(named[:-1]) for f in folders)
    return named in folders


def row_faults(number, cell, folders):
    if EXCUSE.match(cell):
        return
    named = re.findall(r"`([^`]+)`", cell)
    if not named:
        yield number + " names no test, and says neither later nor why not"
    for name in named:
        if not exists(name, folders):
            yield "%s names %s, which does not exist" % (number, name)


def folder_faults(rows, folders):
    """Fixtures that no row names."""
    for folder in sorted(folders):
        match = re.match(r"^(\w+)/q(\d{3})-", folder)
        if not match:
            continue
        number = "Q" + match.group(2)
        group = "`%s/q%s-*`" % match.groups()
        if group not in rows.get(number, ""):
            yield "%s does not name %s; add %s" % (number, folder, group)


def faults(text, folders):
    found = ROW.findall(text)
    rows = {number: cell for number, _, cell in found}
    numbers = ["Q%03d" % n for n in range(1, max(LEAST, len(found)) + 1)]
    if [number for number, _, _ in found] != numbers:
        yield "the numbers are not Q001, Q002, ..., once each and in order"
    for number, _, cell in found:
        yield from row_faults(number, cell, folders)
    yield from folder_faults(rows, folders)


def replaced(text, number, cell):
    return re.sub(r"(?m)^(\| %s \| .+? \| ).*( \|)$" % number,
                  lambda m: m.group(1) + cell + m.group(2), text)


def main():
    page = os.path.join(ROOT, "docs", "quirks.md")
    with open(page, encoding="utf-8") as file:
        text = file.read()
    folders = fixtures()
    drop = re.sub(r"(?m)^\| Q077 .*\n", "", text)
    cases = [       # why, text, words that must be among the faults
        ("the table", text, None),
        ("a row is missing", drop, "the numbers are not"),
        ("a row says nothing", replaced(text, "Q041", ""), "names no test"),
        ("an excuse needs a reason", replaced(text, "Q041", "later"),
         "names no test"),
        ("an excuse", replaced(text, "Q041", "does not apply: a reason"), None),
        ("no such folder", replaced(text, "Q041", "`openai_chat/q999-*`"),
         "which does not exist"),
        ("no such test",
         replaced(text, "Q041", "`run/call_plan: nothing_like_it`"),
         "which does not exist"),
        ("no such file", replaced(text, "Q041", "`run/nothing: like_it`"),
         "which does not exist"),
        ("a fixture is not named",
         replaced(text, "Q147", "`ollama/oll-tool`"), "add `ollama/q147-*`"),
    ]
    failed = 0
    for number, (why, case, words) in enumerate(cases, 1):
        told = list(faults(case, folders))
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
