#!/bin/sh
# lint.sh - tools/lint runs every check, even after one has failed
# shellcheck source=tests/lint/plant
. "$(dirname "$0")/plant"

fresh
mkdir -p tests .ci build/main
cp -r "$tools" tools
mv archives build/main/src
echo 'a ' >notes.md
catches "one failed check fails the whole" "words    FAILED" \
    tools/lint build/main
says "its words are shown" "white space at the end: notes.md"
for name in layers size names header manual banned links spell format shell \
    tidy; do
    says "$name ran, too" "$name "
done

printf '\nALLM_API int allm_undescribed(void);\n' >>include/allm.h
catches "a function without a description fails, too" "manual   FAILED" \
    tools/lint build/main
says "it is named" "allm_undescribed has no description"

finish
