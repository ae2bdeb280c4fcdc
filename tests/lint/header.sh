#!/bin/sh
# header.sh - check-header.sh finds what other languages or a stable ABI cannot
# have
# shellcheck source=tests/lint/plant
. "$(dirname "$0")/plant"

# The other tests do not need a C++ compiler.
if ! command -v c++ >/dev/null && ! command -v g++ >/dev/null; then
    export CXX=true
fi
check() { "$tools/check-header.sh" .; }


fresh
passes "a clean header, although its comments have the words" check

# Faults that compile, all in one header.
fresh
sed '/^ALLM_API const char \*allm_version/r /dev/stdin' \
    "$garden/clean/include/allm.h" >include/allm.h <<'END'
static inline int allm_one(void) { return 1; }
ALLM_API int allm_print(const char *format, ...);
union allm_any { int a; char b; };
typedef struct allm_bits { unsigned a : 3; } allm_bits;
ALLM_API long allm_count(void);
typedef struct allm_big { unsigned long long n; } allm_big;
struct time_t;
struct FILE;
ALLM_API void allm_take(int n, allm_pair pair);
ALLM_API allm_pair allm_give(void);
ALLM_API void allm_tag(struct allm_pair pair);
typedef struct allm_calls { void (*call)(allm_pair); } allm_calls;
typedef allm_pair (*allm_fn)(void);
ALLM_API void allm_each(void (*each)(allm_pair));
ALLM_API const char *allm_version(void);
int allm_lost(void);
ALLM_API int version(void);
struct allm_naked { int a; };
enum allm_bare { ALLM_BARE };
END
catches "a header full of faults" "header: " check
says "an inline function" "inline function: include/allm.h:30"
says "a variadic function" "variadic function: include/allm.h:31"
says "a union" "union: include/allm.h:32"
says "a bit-field" "bit-field: include/allm.h:33"
says "long in a prototype" "long (its size differs): include/allm.h:34"
says "long in a struct" "long (its size differs): include/allm.h:35"
says "time_t" "time_t (its size differs): include/allm.h:36"
says "FILE" "FILE (belongs to one libc): include/allm.h:37"
by_value="struct by value: include/allm.h: allm_pair in"
says "a struct as parameter" "$by_value allm_take"
says "a struct as result" "$by_value allm_give"
says "a struct by its tag" "$by_value allm_tag"
says "a struct in a member that is called" "$by_value call"
says "a struct in a type of functions" "$by_value allm_fn"
says "a struct in a parameter that is called" "$by_value each"
says "a function declared twice" "declared twice: include/allm.h: allm_version"
says "a function that is not exported" \
    "function without ALLM_API: include/allm.h: allm_lost"
says "a function with a foreign name" \
    "name without allm_: include/allm.h: version"
says "a struct without a typedef" \
    "struct without a typedef: include/allm.h: allm_naked"
says "an enum without a typedef" \
    "enum without a typedef: include/allm.h: allm_bare"

fresh
echo 'struct allm_more { int n; };;' >>include/allm.h
catches "invalid C11" "include/allm.h is not valid c11" check

fresh
echo 'ALLM_API int allm_new(int new);' >>include/allm.h
if [ "${CXX-}" = true ]; then
    skip "invalid C++17" "there is no C++ compiler"
else
    catches "invalid C++17" "include/allm.h is not valid c++17" check
fi

# Each header of include/ is checked alone.

fresh
echo 'ALLM_API int allm_chapter(void);' >include/allm_chapter.h
catches "a chapter that needs another" \
    "include/allm_chapter.h is not valid c11" \
    check

fresh
printf '#include "allm.h"\nALLM_API long allm_chapter(void);\n' \
    >include/allm_chapter.h
catches "a fault in a chapter" \
    "long (its size differs): include/allm_chapter.h:2" check

fresh
{ echo '#include "allm.h"'; yes '/* x */' | head -n 349; } \
    >include/allm_chapter.h
passes "a header of 350 lines" check
echo '/* x */' >>include/allm_chapter.h
catches "a header of 351 lines" \
    "include/allm_chapter.h has 351 lines; a public header may have 350" check

finish
