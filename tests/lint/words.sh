#!/bin/sh
# words.sh - check-words.sh finds faults in plain text
# shellcheck source=tests/lint/plant
. "$(dirname "$0")/plant"

check() { "$tools/check-words.sh" .; }
rm -rf "$garden/clean/archives"
note=TO; note=${note}DO
slash=/

fresh
echo "$note(ann): say more; may go when it is said" >notes.md
printf 'a tab\there\n' >notes.txt
passes "a clean tree, a note with a name, a tab outside C" check

# refuses WHY WORDS FILE LINE
refuses() {
    fresh
    printf '%b' "$4" >>"$3"
    catches "$1" "$2" check
}

refuses "a note without a name" "a note without a name: src/base/mem.c" \
    src/base/mem.c "/* $note: later */\n"
refuses "a note with empty brackets" "a note without a name" \
    notes.md "$note(): later\n"
refuses "other words for it" "a note without a name" notes.md "FIX""ME\n"
for home in home root Users; do
    refuses "a path below $home" "a path of one machine: notes.md:1" \
        notes.md "see ${slash}${home}/ann/x\n"
done
refuses "white space at the end of a line" \
    "white space at the end: src/base/mem.c" src/base/mem.c 'int a; \nint b;\n'
refuses "a carriage return" "white space at the end: notes.md" \
    notes.md 'a\r\n'
refuses "a tab in C" "a tab: src/base/mem.h" src/base/mem.h '\tint a;\n'
refuses "no newline at the end" "no newline at the end: notes.md" \
    notes.md 'the end'

# ---- 80 columns

wide=$(printf '%80s' x | tr ' ' x)
half=$(printf '%40s' x | tr ' ' x)
fresh
echo "/* ${wide#????????}  */" >src/base/wide.c
echo "| $wide |" >table.md
echo "  https://$wide" >>table.md
echo "$half ${half#??}é" >>table.md
echo "$half $half" >notes.txt
passes "80 columns, rows of tables, long addresses, other files" check
for file in src/base/wide.h notes.md run.sh run.py; do
    refuses "81 columns in $file" "more than 80 columns: $file:" \
        "$file" "$half $half\n"
done
fresh
mkdir -p tools
printf '#!/bin/sh\n: %s %s\n' "$half" "$half" >tools/run
catches "81 columns in a script without an ending" \
    "more than 80 columns: tools/run:2" check

fresh
mkdir -p fuzz/corpus/json tests/fixture/x build
printf 'x \t' >fuzz/corpus/json/a
printf 'x \t' >tests/fixture/x/a
printf 'x \t' >build/a
printf '\000 \n' >picture.png
passes "recorded bytes and binaries are left alone" check

# In a repository, files that git ignores are not checked.
fresh
if command -v git >/dev/null; then
    git init -q . && echo '/skipped' >.gitignore && echo 'x ' >skipped
    passes "what git ignores is left alone" check
    echo 'x ' >untracked
    catches "what git does not know yet is read" "untracked" check
fi

finish
