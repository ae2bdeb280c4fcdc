#!/bin/sh
# spelling.sh - check-spelling finds words that are not English
# shellcheck source=tests/lint/plant
. "$(dirname "$0")/plant"

check() { "$tools/check-spelling" .; }

if ! hunspell -d en_GB -l </dev/null >/dev/null 2>&1; then
    skip "check-spelling finds words that are not English" "no hunspell here"
    finish
fi

fresh
mkdir docs tools man
echo libfoo >tools/words.txt
plant docs/a.md <<'END'
# The colour of libfoo, and Libfoo's behaviour

Not prose: `teh`, "teh", [this](teh.md), allm_teh, teh.c, teh-4.1, TEH, aaabbb,
https://example.org/teh.

```
teh
```
END
plant man/a.1 <<'END'
.SH NAME
a \- a \fBteh\fR page
.B teh
.nf
teh
.fi
END
passes "English, a word of the list, code" check

# refuses WHY WORDS FILE LINE
refuses() {
    cp "$3" kept
    echo "$4" >>"$3"
    catches "$1" "$2" check
    mv kept "$3"
}

refuses "a word in a page" "spelling: docs/a.md:9: teh" docs/a.md "as teh end"
refuses "one with a capital" "spelling: docs/a.md:9: Teh" docs/a.md "Teh end"
refuses "one in a heading" "docs/a.md:9: ende" docs/a.md "## The ende"
refuses "one with a hyphen" ": enfd" docs/a.md "the self-enfd thing"
refuses "American spelling" "docs/a.md:9: color" docs/a.md "the color"
refuses "a word in a manual page" "spelling: man/a.1:7: teh" \
    man/a.1 "as teh end"
refuses "a comment of a header" "include/allm.h:36: teh" \
    include/allm.h "/* as teh end */"
refuses "a comment of a source, over two lines" "src/base/mem.c:14: teh" \
    src/base/mem.c "/*
 * the
 * teh */"

mkdir empty
ln -s "$(python3 -c 'import sys; print(sys.executable)')" empty/python3
without_tool() { PATH=$PWD/empty check; }
catches "a machine without hunspell" "needs hunspell" without_tool
mkdir bin
printf '#!/bin/sh\necho "no such dictionary" >&2\nexit 1\n' >bin/hunspell
chmod +x bin/hunspell
without_dictionary() { PATH=$PWD/bin:$PATH check; }
catches "one without the dictionary" "its dictionary en_GB" without_dictionary

finish
