#!/bin/sh
# banned.sh - check-banned.sh finds banned functions by name and by symbol
# shellcheck source=tests/lint/plant
. "$(dirname "$0")/plant"

check() { "$tools/check-banned.sh" . archives; }

fresh
passes "a clean tree, although comments and texts have the words" check

words='strcpy strcat sprintf vsprintf strtok atoi atol gets alloca rand srand
localtime ctime setjmp longjmp printf fprintf vprintf vfprintf puts putchar
fputs perror exit _exit abort system sleep usleep'

fresh
for word in $words; do echo "int use_$word(void) { return $word(1); }"; done \
    >>src/base/mem.h
catches "banned functions in the source" "banned: src/base/mem.h" check
for word in $words; do
    says "$word" "int use_$word(void) { return $word(1); }"
done

fresh
for word in $words; do
    echo "extern int $word(); int (*use_$word)() = $word;"
done >>src/json/json.c
build json
catches "banned functions by symbol" "banned: " check
for word in $words; do
    says "$word as a symbol" "json_json.c.o needs $word"
done

for header in ctype.h setjmp.h; do
    fresh
    echo "#include <$header>" >>src/json/json.c
    catches "$header" "#include <$header>" check
done

for stream in stdout stderr; do
    fresh
    echo "void *json_out(void) { return $stream; }" >>src/json/json.c
    catches "$stream" "return $stream;" check
done

fresh
plant src/json/say.c <<'END'
#include <stdio.h>
#define SAY put##s
#define JOIN(a, b) a##b
int say(void) { return JOIN(put, s)("hello"); }
END
build json
catches "a call hidden by a macro" "json_say.c.o needs puts" check

fresh
echo 'int abort(void); int lib_n(void) { return abort(); }' |
    $CC -w -shared -fPIC -x c - -o archives/liballm.so
catches "a symbol of the shared library" "liballm.so needs abort" check

fresh
plant src/json/fine.c <<'END'
/* exit(1), abort(); printf("x") */
#include <stdio.h>
struct table { int (*exit)(int); };
int on_exit_of(int);
int fine_call(struct table *t, struct table u, char *out)
{
    t->exit(1);
    u.exit(2);
    snprintf(out, 3, "abort(%d)", 1);
    return on_exit_of('"') + '\'';      // puts("x")
}
END
build json
passes "members, other names, comments and texts" check

fresh
plant src/cli/main.c <<'END'
#include <stdio.h>
#include <stdlib.h>
int main(void) { puts("hello"); exit(0); }
END
build cli
passes "the program may print and exit" check

fresh
echo 'void _exit(int); void term_end(void) { _exit(1); }' |
    plant src/term/mem.c
build term
passes "the memory of the program may end it" check
mv src/term/mem.c src/term/other.c
build term
catches "the rest of its layer may not" "term_other.c.o needs _exit" check

fresh
plant scenario/main.c <<'END'
#include <stdio.h>
int main(void) { puts("hello"); return 0; }
END
passes "the one that runs scenarios may print" check
echo 'int use(const char *s) { exit(atoi(s)); }' >>scenario/main.c
catches "but do nothing unsafe" "banned: scenario/main.c:3" check

finish
