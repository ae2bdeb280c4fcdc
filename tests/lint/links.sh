#!/bin/sh
# links.sh - check-links finds links and pages that do not exist
# shellcheck source=tests/lint/plant
. "$(dirname "$0")/plant"

check() { "$tools/check-links" .; }

fresh
mkdir docs
plant docs/a.md <<'END'
# Page `a`: the first

See [b](b.md#two-words-1), [above](#page-a-the-first), [code](../src/base),
[home](https://example.org/nowhere), docs/b.md and `src/base/mem.c`;
`[not](a-link.md)` and `src/LAYER/NAME.c` are not meant.

```
[neither](this.md)
```
END
plant docs/b.md <<'END'
## Two words
## Two words
END
passes "links that lead somewhere" check

# refuses WHY WORDS FILE LINE
refuses() {
    echo "$4" >>"$3"
    catches "$1" "$2" check
    sed '$d' "$3" >kept
    mv kept "$3"
}

refuses "a page that is not there" "links: docs/b.md:3: there is no docs/c.md" \
    docs/b.md "[c](c.md)"
refuses "an anchor that is not there" "docs/b.md has no heading for #three" \
    docs/a.md "[b](b.md#three)"
refuses "an anchor of the same page" "docs/a.md has no heading for #b" \
    docs/a.md "[b](#b)"
refuses "a link over two lines" "there is no docs/c.md" docs/a.md "[c
d](c.md)"
refuses "a page that a header mentions" \
    "include/allm.h:36: there is no docs/c.md" \
    include/allm.h "/* docs/c.md */"
refuses "a page that a source mentions" "there is no docs/c.md" \
    src/base/mem.c "/* docs/c.md#there */"
refuses "a file that a page names" "there is no src/base/men.c" \
    docs/a.md "\`src/base/men.c\`"

echo "[a](a.md)" >docs/README.md
catches "a page that the index leaves out" \
    "docs/README.md has no link to docs/b.md" check
echo "[b](b.md#two-words)" >>docs/README.md
passes "an index with all pages" check

finish
