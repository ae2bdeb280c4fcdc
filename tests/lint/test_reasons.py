#!/usr/bin/env python3
"""test_reasons.py - allm_error_reasons() lists each reason in the source

A reason is the text after a kind, as in status_error(a, ALLM_ERR_TOOL,
"denied", ...).  An adapter also fails for the reasons of images, as which they
reach the caller.
"""
import os
import re
import sys

SOURCE = os.path.join(os.environ.get("SOURCE_DIR", "."), "src")
USE = re.compile(r'ALLM_ERR_([A-Z]+),\s*(?:\.reason = )?"([a-z0-9_]+)"')
LIST = re.compile(r"(\w+)_reasons\[\] = \{(.*?)\};", re.S)
WORD = re.compile(r'"(\w+)"')


def files():
    for path, _, names in sorted(os.walk(SOURCE)):
        for name in sorted(names):
            if name.endswith((".c", ".h")):
                with open(os.path.join(path, name), encoding="utf-8") as file:
                    yield os.path.relpath(file.name, SOURCE), file.read()


def main():
    texts = dict(files())
    words = dict(re.findall(r'define (REASON_\w+) ("\w+")',
                            "\n".join(texts.values())))
    lists = {kind.upper(): set(WORD.findall(
        re.sub(r"REASON_\w+", lambda m: words[m[0]], body)))
        for kind, body in LIST.findall(texts["data/error.c"])}
    lists["ADAPTER"] |= lists["IMAGE"]
    uses = [(name, *use) for name, text in texts.items()
            for use in USE.findall(text) if use[0] in lists]
    faults = ["%s: %s is no reason of %s" % (name, reason, kind)
              for name, kind, reason in uses if reason not in lists[kind]]
    if len(lists) != 7 or len(uses) < 100:
        faults.append("read only %d lists, %d uses" % (len(lists), len(uses)))
    for fault in faults:
        print("# " + fault)
    print("%s - every reason is listed" % ("not ok" if faults else "ok"))
    print("%d passed, %d failed" % (not faults, bool(faults)))
    return 1 if faults else 0


sys.exit(main())
