"""compare.py - do two runs of run.py agree within their stated spread?

Times depend on how fast the machine is at the moment, so a client is compared
by its ratio to the bare client of the same row and run.  A number is a median,
and its spread is the largest deviation of a round from it; the spread of a
ratio is that of both numbers.  Two ratios agree if they differ by at most the
sum of their spreads.  A spread counts as at least 1 % of its number: rounds may
be equal by chance.
"""
import json

import report

LEAST = 0.01
BARE = "libcurl + yyjson (C)"


def part(cell):
    """The spread of a number, as a part of it."""
    return max(cell["spread"] / cell["median"], LEAST)


def ratio(cell, bare):
    """A client's number in terms of the bare client's, and its spread."""
    value = cell["median"] / bare["median"]
    return value, value * (part(cell) + part(bare))


def agree(a, b):
    return abs(a[0] - b[0]) <= a[1] + b[1]


def load(path):
    with open(path) as f:
        return json.load(f)["rows"]


def pairs(old, new):
    """(row, client, ratio, ratio) of what both runs have; a ratio is None if
    the client or the bare one failed in that run."""
    for row in report.TITLES:
        for key in new.get(row, {}):
            if key == BARE or key not in old.get(row, {}):
                continue
            both = [(run[row][key], run[row].get(BARE, {}))
                    for run in (old, new)]
            found = [ratio(*cells) if all("median" in c for c in cells)
                     else None for cells in both]
            if any(found):
                yield row, key, found[0], found[1]


def text(found):
    return "%.2f ±%.2f" % found if found else "failed"


def main(old_path, new_path):
    """The exit status: 0 if all ratios agree."""
    compared = disagreed = 0
    for row, key, a, b in pairs(load(old_path), load(new_path)):
        compared += 1
        if a and b and agree(a, b):
            continue
        disagreed += 1
        print("%s, %s, times the bare client: %s, then %s" % (
            report.TITLES[row][0], key, text(a), text(b)))
    print("%d ratios compared, %d beyond the spread of both runs" % (
        compared, disagreed))
    return 1 if disagreed or not compared else 0
