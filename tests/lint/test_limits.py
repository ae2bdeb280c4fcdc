#!/usr/bin/env python3
"""test_limits.py - every limit in docs/limits.md names a test that exists"""
import os
import re
import sys

ROOT = os.environ.get("SOURCE_DIR", ".")
TABLE = re.compile(r"^\| what \|.*where it is tested \|\n(.*\n)((?:\|.*\n)+)",
                   re.M)
NAMED = re.compile(r"`(\w+(?:/\w+)?)/(\w+): (\w+)`")


def has_test(layer, name, test):
    path = os.path.join(ROOT, "tests", "unit", layer, "test_%s.c" % name)
    if not os.path.exists(path):
        return False
    with open(path, encoding="utf-8") as file:
        return bool(re.search(r"\bTEST(_ONCE)?\(%s\)" % test, file.read()))


def faults(page):
    rows = [row for _, body in TABLE.findall(page) for row in body.splitlines()]
    if len(rows) < 10:
        yield "the tables are not found: %d rows" % len(rows)
    for row in rows:
        if not NAMED.search(row.split("|")[-2]):
            yield "no test: " + row
    for named in set(NAMED.findall(page)) - {("layer", "name", "what_is_true")}:
        if not has_test(*named):
            yield "there is no test %s/%s: %s" % named


def main():
    page = os.path.join(ROOT, "docs", "limits.md")
    with open(page, encoding="utf-8") as file:
        page = file.read()
    found = list(faults(page))
    for fault in found:
        print("# " + fault)
    planted = list(faults(page.replace("keeps_the_depth", "keeps_nothing")))
    if len(planted) != len(found) + 1:
        found.append("a planted fault is not seen")
        print("# " + found[-1])
    print("%s - every limit has its test" % ("not ok" if found else "ok"))
    print("%d passed, %d failed" % (not found, bool(found)))
    return 1 if found else 0


sys.exit(main())
