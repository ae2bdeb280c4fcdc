#!/bin/sh
# tidy.sh - tools/tidy finds bugs in src/ and skips unchanged files
# shellcheck source=tests/lint/plant
. "$(dirname "$0")/plant"

if ! command -v clang-tidy-14 >/dev/null && ! command -v clang-tidy >/dev/null
then
    skip "bugs found without running" "there is no clang-tidy"
    finish
fi

# The tool checks the tree that contains it.
fresh
mkdir tools build
cp "$tools/tidy" tools/
cp "$SOURCE_DIR/.clang-tidy" .
plant src/base/bug.c <<'END'
int bug_first(const int *list);
int bug_first(const int *list)
{
    return list[0];
}
END
cat >build/compile_commands.json <<END
[{ "directory": "$PWD/build", "file": "../src/base/bug.c",
   "command": "cc -std=c11 -I../src -o bug.o -c ../src/base/bug.c" }]
END
passes "a clean file" tools/tidy build
if [ -s build/tidy/src_base_bug.c ]; then
    ok "is noted"
else
    not_ok "is noted"
fi
passes "and not read again" tools/tidy build

sed 's/return list/list = 0;\n    return list/' src/base/bug.c >bug &&
    mv bug src/base/bug.c
catches "a wild pointer" "clang-analyzer-core.NullDereference" tools/tidy build
says "the place is told as we know it" "src/base/bug.c:5"

finish
