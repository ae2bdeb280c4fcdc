#!/usr/bin/env python3
"""test_links.py - every link in a Markdown page leads somewhere

A link to a file names a file of the tree, a link to a section (#section) a
heading of its page.  docs/README.md links every page of docs/.
"""
import glob
import os
import re
import sys

ROOT = os.environ.get("SOURCE_DIR", ".")
LINK = re.compile(r"\]\(([^()\s]+)\)")
HEADING = re.compile(r"^#+ (.*)$", re.M)


def text_of(path):
    """The page without its code, which may look like links and headings."""
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return re.sub(r"^```.*?^```$", "", file.read(), flags=re.M | re.S)


def anchors(path):
    """The sections of a page, as GitHub names them."""
    names = []
    for heading in HEADING.findall(text_of(path)):
        name = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        seen = sum(n == name or re.fullmatch(re.escape(name) + r"-\d+", n)
                   is not None for n in names)
        names.append(name if not seen else f"{name}-{seen}")
    return names


def link_faults(page):
    for link in LINK.findall(text_of(page)):
        if re.match(r"[a-z]+:", link):
            continue
        target, _, anchor = link.partition("#")
        path = os.path.normpath(os.path.join(os.path.dirname(page), target)) \
            if target else page
        if not os.path.exists(os.path.join(ROOT, path)):
            yield f"{page}: {link}: there is no such file"
        elif anchor and anchor not in anchors(path):
            yield f"{page}: {link}: there is no such section"


def index_faults(pages):
    linked = LINK.findall(text_of("docs/README.md"))
    for page in pages:
        if os.path.dirname(page) == "docs" and page != "docs/README.md" and \
                os.path.basename(page) not in linked:
            yield f"docs/README.md has no link to {page}"


def main():
    pages = sorted(os.path.relpath(p, ROOT) for pattern in
                   ("*.md", "docs/*.md", "tests/fixture/*.md")
                   for p in glob.glob(os.path.join(ROOT, pattern)))
    found = [f for page in pages for f in link_faults(page)]
    found += index_faults(pages)
    for fault in found:
        print("not ok - " + fault)
    print(f"{len(pages) - len({f.split(':')[0] for f in found})} passed, "
          f"{len(found)} failed")
    return 1 if found or len(pages) < 20 else 0


if __name__ == "__main__":
    sys.exit(main())
