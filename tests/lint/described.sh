#!/bin/sh
# described.sh - a public function without a description is found
# shellcheck source=tests/lint/plant
. "$(dirname "$0")/plant"

check() { "$tools/reference" --check include/*.h; }

fresh
passes "a description for two functions" check

# refuses WHY WORDS LINES: the lines follow allm_json_size
refuses() {
    fresh
    awk -v more="$3" '{ print } /allm_json_size/ { printf more }' \
        include/allm.h >new
    mv new include/allm.h
    catches "$1" "$2" check
}

refuses "a function below a blank line" \
    "include/allm.h:32: allm_one has no description" \
    '\nALLM_API int allm_one(void);\n'
refuses "one below a struct that is described" "allm_two has no description" \
    '\n/* A pair. */\ntypedef struct allm_p {\n    int a;\n} allm_p;\n'\
'\nALLM_API int\nallm_two(allm_p *);\n'
refuses "one below a comment that stands alone" "allm_three has no" \
    '\n/* About all of them. */\n\nALLM_API int allm_three(void);\n'
refuses "one below the heading of a section" "allm_four has no" \
    '\n/* ------ 1  Section --- */\nALLM_API int allm_four(void);\n'
fresh
plant include/allm_more.h <<'END'
/* allm_more.h - more */
ALLM_API int allm_five(void);
END
catches "one in another header" "include/allm_more.h:2: allm_five has no" check

finish
