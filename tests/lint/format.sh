#!/bin/sh
# format.sh - tools/format enforces the look and leaves alignment alone
# shellcheck source=tests/lint/plant
. "$(dirname "$0")/plant"

check() { "$tools/format" --check .; }

# A machine without clang-format: an empty PATH.
python=$(python3 -c 'import sys; print(sys.executable)')
check_bare() { PATH=$garden/bare "$python" "$tools/format" --check .; }
catches "a missing clang-format fails the check" \
    "clang-format 14 is missing" check_bare

if check 2>&1 | grep -q 'is missing'; then
    skip "the look of the C files" "there is no clang-format 14"
    finish
fi

fresh
plant src/base/fine.c <<'END'
/*
 * fine.c - the look of our style page, and what the author may align
 */
#include "base/mem.h"

enum { RED = 1,     GREEN = 2,
       BLUE = 3 };

static const struct {
    const char *name;
    int n;
} table[] = {
    { "a",    1 }, { "bb",   2 },
    { "cccc", 3 }, { "dddd", 4 },
};

#define TWO_LINES(x)    \
    ((x)    + 1)

struct pair {
    int a;          /* the first */
    int longer;     /* the second */
};

/* A line of its own for the attribute. */
__attribute__((noinline))
static int name(int n, const char *text)
{
    switch (n) {
    case RED:    return 1;
    case GREEN:  return 2;
    case BLUE:
        return text[0];
    default:     break;
    }
    if (!text) {
        n++;
        return n;       /* why */
    }
    struct pair p = { 1, 2 };
    while (n < 3)
        n += TWO_LINES(p.a) + table[0].n;
    return n;
}
END
passes "our look, tables and trailing comments" check

# Each file of this tree has one fault.
fresh
bad() { printf '%b' "$2" >"src/base/$1.c"; }
bad brace 'int f(void) {\n    return 1;\n}\n'
bad indent 'int f(void)\n{\n  return 1;\n}\n'
bad pointer 'int f(char* a);\n'
bad case 'int f(int n)\n{\n    switch (n) {\n        case 1:\n'\
'            return 1;\n    }\n    return 2;\n}\n'
bad block 'int f(int n)\n{\n    if (n)\n    {\n        n++;\n'\
'        n--;\n    }\n    return 2;\n}\n'
bad columns 'int f(int first_parameter, int second_parameter,'\
' int third_parameter, int fourth);\n'
bad behind 'int f(int n)\n{\n    if (n) return 1;\n    return 2;\n}\n'
bad table 'static const int t[] = { 1,\n    2, 3, 4, 5, 6, 7, 8, 9, 10,'\
' 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24 };\n'
catches "a tree full of faults" "format: " check
says "a brace on the line of a function" "format: src/base/brace.c:1"
says "an indent of two" "format: src/base/indent.c:3"
says "a pointer glued to its type" "format: src/base/pointer.c:1"
says "an indented case" "format: src/base/case.c:4"
says "a brace on its own line inside" "format: src/base/block.c:3"
says "a line of more than 80 columns" "format: src/base/columns.c:1"
says "a statement on the line of its if" "format: src/base/behind.c:3"
says "a table of more than 80 columns" "format: src/base/table.c:1"

# ---- include/, which is laid out as a page

fresh
plant include/allm_page.h <<'END'
#include "allm.h"
#include "allm_first.h"
#include "allm_chapter.h"

typedef struct allm_pair { double value; bool set; } allm_pair;

typedef struct allm_columns {
    size_t            size;
    const allm_json  *options;        /* aligned with the others */
    allm_status       (*read)(void *self, const allm_json *first,
                              const allm_json *second);
    bool            (*ready)(void *);
                                      /* continues the line above */
} allm_columns;

ALLM_API const allm_columns *
allm_columns_new(const allm_columns *fields);
END
passes "columns, breaks and short structs in include/" check
bad_header() { printf '%b' "$2" >"include/$1.h"; }
bad_header indent 'struct a {\n  int a;\n};\n'
bad_header pointer 'int f(char* a);\n'
bad_header blank 'int f(void);\n\n\nint g(void);\n'
bad_header brace 'struct a\n{\n    int a;\n};\n'
catches "headers full of faults" "format: " check
says "an indent of two in a header" "format: include/indent.h:2"
says "a pointer glued to its type in a header" "format: include/pointer.h:1"
says "two blank lines in a header" "format: include/blank.h:3"
says "a brace on its own line in a header" "format: include/brace.h:1"

# ---- columns

fresh
printf '/* %075d */\n' 0 >src/base/wide.c
catches "a comment that ends in column 81" "src/base/wide.c:1 has more" check
printf '/* %074d */\n' 0 >src/base/wide.c
passes "one that ends in column 80" check

# ---- writing

fresh
printf 'int f(void) { return   1; }\n' >src/base/bad.c
"$tools/format" --write . >"$garden/said"
says "it says what it rewrote" "rewrote src/base/bad.c"
passes "and what it rewrote is right" check

finish
