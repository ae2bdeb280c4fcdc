#!/bin/sh
# names.sh - check-names.sh finds one-word names that two files use
# shellcheck source=tests/lint/plant
. "$(dirname "$0")/plant"

check() { "$tools/check-names.sh" .; }

fresh
plant src/json/twice.c <<'END'
static int call_begin(int n) { return n; }
static int unique(int n) { return call_begin(n); }
END
plant src/base/twice.c <<'END'
static int call_begin(int n) { return n; }
/* begin( in a comment, begin() in a call, begin in a prototype */
int begin(int n);
END
passes "two words twice, one word once" check

plant src/json/first.h <<'END'
static inline int begin(int n) { return n; }
END
passes "one word in one file" check

plant src/wire/second.c <<'END'
static const struct a_long_type_name *
begin(int n)
{
    return n;
}
END
catches "one word in two files" \
    "begin() in src/wire/second.c:1 has the name of one in src/json/first.h" \
    check

finish
