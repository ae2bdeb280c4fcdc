"""compare.py - do two runs of run.py agree within their stated spread?

A number is a median, and its spread is the largest deviation of a round from
it.  Two numbers agree if they differ by at most the sum of their spreads.  A
spread counts as at least 1 % of its number: rounds may be equal by chance.
"""
import json

import report

LEAST = 0.01


def spread(cell):
    return max(cell["spread"], LEAST * cell["median"])


def agree(a, b):
    return abs(a["median"] - b["median"]) <= spread(a) + spread(b)


def load(path):
    with open(path) as f:
        return json.load(f)["rows"]


def pairs(old, new):
    """(row, client, cell, cell) of what both runs have measured, or one of
    them has failed to measure."""
    for row in report.TITLES:
        for key, b in new.get(row, {}).items():
            a = old.get(row, {}).get(key)
            if a and any("median" in c for c in (a, b)) and \
                    all("median" in c or "error" in c for c in (a, b)):
                yield row, key, a, b


def main(old_path, new_path):
    """The exit status: 0 if all numbers agree."""
    compared = disagreed = 0
    for row, key, a, b in pairs(load(old_path), load(new_path)):
        compared += 1
        if "median" in a and "median" in b and agree(a, b):
            continue
        disagreed += 1
        print("%s, %s: %s, then %s" % (report.TITLES[row][0], key,
                                       report.cell_text(a),
                                       report.cell_text(b)))
    print("%d numbers compared, %d beyond the spread of both runs" % (
        compared, disagreed))
    return 1 if disagreed or not compared else 0
