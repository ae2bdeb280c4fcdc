#!/usr/bin/env python3
"""test_compare.py - bench/peers/compare.py finds where two runs disagree"""
import contextlib
import io
import json
import os
import sys
import tempfile

ROOT = os.environ.get("SOURCE_DIR", ".")
sys.path.insert(0, os.path.join(ROOT, "bench", "peers"))
import compare  # noqa: E402


def run(bare, allm):
    """A run with one row; a number is (median, spread), None a failure."""
    cells = {compare.BARE: bare, "allm (C)": allm}
    return {"rows": {"one": {
        key: {"median": n[0], "spread": n[1]} if n else {"error": "stopped"}
        for key, n in cells.items()}}}


def compared(old, new):
    """The exit status and what is printed."""
    printed = io.StringIO()
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, name) for name in ("old", "new")]
        for path, value in zip(paths, (old, new)):
            with open(path, "w") as f:
                json.dump(value, f)
        with contextlib.redirect_stdout(printed):
            status = compare.main(*paths)
    return status, printed.getvalue()


CASES = [       # why, two runs, the exit status, words that are printed
    ("the same numbers", run((10, 0), (20, 0)), run((10, 0), (20, 0)), 0,
     "1 ratios compared, 0 beyond"),
    ("a slower machine", run((10, 0), (20, 0)), run((15, 0), (30, 0)), 0,
     "0 beyond"),
    ("within the spread", run((10, 1), (20, 0)), run((10, 0), (22, 0)), 0,
     "0 beyond"),
    ("within 1 % without a spread", run((10, 0), (20, 0)),
     run((10, 0), (20.5, 0)), 0, "0 beyond"),
    ("beyond the spread", run((10, 0), (20, 1)), run((10, 0), (30, 1)), 1,
     "allm (C), times the bare client: 2.00 ±0.12, then 3.00 ±0.13"),
    ("a client that failed", run((10, 0), (20, 0)), run((10, 0), None), 1,
     "then failed"),
    ("no bare client", run(None, (20, 0)), run((10, 0), (20, 0)), 1,
     ": failed, then 2.00"),
    ("nothing in common", {"rows": {}}, run((10, 0), (20, 0)), 1,
     "0 ratios compared"),
]


def main():
    failed = 0
    for number, (why, old, new, status, words) in enumerate(CASES, 1):
        got, printed = compared(old, new)
        good = got == status and words in printed
        failed += not good
        print("%s %d - %s" % ("ok" if good else "not ok", number, why))
        if not good:
            print("#   status %d: %s" % (got, printed))
    print("1..%d" % len(CASES))
    print("%d passed, %d failed" % (len(CASES) - failed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
