#!/bin/sh
# layers.sh - check-layers.sh finds every way to break the order
# shellcheck source=tests/lint/plant
. "$(dirname "$0")/plant"

export CFLAGS=-Ifake
check() { "$tools/check-layers.sh" . archives; }

fresh
passes "a clean tree" check

# ---- includes

fresh
echo '#include "json/json.h"' >>src/base/mem.h
echo '#  include <json/json.h>' >>src/base/mem.c
echo '#include "mem.h"' >>src/base/version.c
echo '#include "allm.h"' | plant src/wire/sse.h
echo 'int util_do(void);' | plant src/util/do.h
echo 'int deep(void);' | plant src/base/deep/deep.h
catches "includes full of faults" "forbidden include" check
says "an include from above" \
    "base/mem.h includes json/json.h: base may not use json"
says "the same in angle brackets" \
    "base/mem.c includes json/json.h: base may not use json"
says "an include that does not name its layer" \
    'base/version.c includes "mem.h", which is not a src/LAYER/FILE.h'
says "the public header where it is not permitted" \
    "wire/sse.h includes allm.h: wire may not use api"
says "an unknown layer" "util is not named in LAYERS"
says "a folder in a layer that LAYERS does not name" \
    "base/deep is not named in LAYERS"

# ---- folders of a layer

# A layer "wire" with the folders "a" and "b", which use its shared file.
folders() {
    fresh
    printf 'wire/a\nwire/b\n' >>src/LAYERS
    echo 'int shared_code(void);' | plant src/wire/shared.h
    echo 'int shared_code(void) { return 1; }' | plant src/wire/shared.c
    echo 'int a_one(void);' | plant src/wire/a/one.h
    printf '%s\n' '#include "wire/a/one.h"' '#include "wire/shared.h"' \
        'int a_one(void) { return shared_code(); }' | plant src/wire/a/one.c
    echo 'int b_two(void) { return 2; }' | plant src/wire/b/two.c
    printf '%s\n' '#include "wire/a/one.h"' 'int b_two(void);' \
        'int list_all(void) { return a_one() + b_two(); }' |
        plant src/wire/list.c
    build wire
}

folders
passes "folders that use their layer, and a layer that uses its folders" check
echo '#include "wire/a/one.h"' >>src/wire/b/two.c
catches "a folder that includes its sibling" \
    "wire/b/two.c includes wire/a/one.h: wire/b may not use wire/a" check

folders
echo 'int a_one(void); int b_call(void) { return a_one(); }' >>src/wire/b/two.c
build wire
catches "a folder that calls its sibling" \
    "wire/b/two.c uses a_one of wire/a: wire/b may not use wire/a" check

folders
echo '#include "json/json.h"' >>src/wire/a/one.c
catches "a folder that uses what its layer may not" \
    "wire/a/one.c includes json/json.h: wire/a may not use json" check

folders
echo 'int deep(void) { return 1; }' | plant src/wire/a/deep/deep.c
catches "a file that is too deep" \
    "wire/a/deep/deep.c is not in src/LAYER/ or src/LAYER/FOLDER/" check

# ---- symbols

fresh
cat >>src/base/mem.c <<'END'
#include "allm.h"
int json_number(void);
int mem_n(void) { return json_number() + (int)allm_json_size(0, 0); }
END
build base
catches "a call without an include" \
    "base/mem.c uses json_number of json: base may not use json" check
says "a public function belongs to the layer that defines it" \
    "base/mem.c uses allm_json_size of json: base may not use json"

fresh
plant src/cli/main.c <<'END'
#include <allm.h>
int main(void) { return allm_version() == 0; }
END
build cli
passes "the program uses a public function" check

fresh
plant src/cli/main.c <<'END'
void *mem_get(unsigned long);
int main(void) { return mem_get(1) == 0; }
END
build cli
catches "the program uses an internal function" \
    "cli/main.c uses mem_get of base: cli may not use base" check

fresh
rm archives/libjson.a
catches "a layer that was not built" "libjson.a" check

# ---- cycles

fresh
echo '#include "json/b.h"' | plant src/json/a.h
echo '#include "json/c.h"' | plant src/json/b.h
echo '#include "json/a.h"' | plant src/json/c.h
catches "headers that include each other" "include cycle" check
says "and says which" "json/b"

fresh
echo 'int a(void);' | plant src/json/a.h
echo 'int b(void);' | plant src/json/b.h
echo '#include "json/b.h"' | plant src/json/a.c
echo '#include "json/a.h"' | plant src/json/b.c
build json
catches "sources that include each other's header" "include cycle" check

# ---- names

fresh
cat >src/json/schema.c <<'END'
int allm_json_schema(void) { return 1; }
int allm_json_schema_new(void) { return 1; }
END
build json
passes "allm_LAYER_FILE and allm_LAYER_FILE_verb live in LAYER/FILE.c" check

fresh
cat >>src/base/mem.c <<'END'
int allm_nobody_knows(void) { return 1; }
int allm_version_old(void) { return 1; }
END
echo 'int allm_versions(void) { return 1; }' >>src/base/version.c
echo 'int allm_json_size_of(void) { return 1; }' >src/json/schema.c
build base json
catches "public functions in the wrong place" "misplaced public function" check
says "one without a file" \
    "allm_nobody_knows is in base/mem.c, but no file has its noun"
says "one in another's file" \
    "allm_version_old is in base/mem.c, but belongs in base/version.c"
says "one whose noun only begins alike" \
    "allm_versions is in base/version.c, but no file has its noun"
says "one with the layer but not the file" \
    "allm_json_size_of is in json/schema.c, but belongs in json/json.c"

# ---- headers alone

fresh
echo 'size_t json_size(void);' >src/json/size.h
sed '/stddef/d; /stdint/d' "$garden/clean/include/allm.h" >include/allm.h
catches "a header that leans on others" "header does not compile alone" check
says "it is named" "json/size.h"
says "the public one, too" "  allm.h"

# ---- private to one layer

fresh
echo '#include <yyjson.h>' | plant src/data/part.h
echo 'int yyjson_read(void); int mem_n(void) { return yyjson_read(); }' \
    >>src/base/mem.c
build base
catches "yyjson.h outside json" \
    "data/part.h includes yyjson.h, and src/RESTRICTED does not list it" check
says "a function of yyjson outside json" \
    "base/mem.c uses yyjson_read, which only json may"

fresh
echo 'int curl_easy_init(void); int mem_n(void) { return curl_easy_init(); }' \
    >>src/base/mem.c
build base
catches "a function of libcurl outside net" \
    "base/mem.c uses curl_easy_init, which only net may" check

fresh
echo 'base/mem.h  json/json data/part  # the file and one more' \
    >>src/RESTRICTED
echo '#include "base/mem.h"' | plant src/data/part.h
passes "a restricted header, where it is listed and in its own layer" check
echo '#include "base/mem.h"' | plant src/data/other.h
catches "a restricted header elsewhere in the layer" \
    "data/other.h includes base/mem.h, and src/RESTRICTED does not list it" \
    check
rm src/data/other.h
echo 'int part(void);' | plant src/data/part.h
catches "a file that is listed for nothing" \
    "data/part does not include base/mem.h, but src/RESTRICTED lists it" check

fresh
for function in malloc calloc realloc free strdup; do
    echo "void *$function(); void *use_$function() { return $function(1, 2); }"
done >>src/json/json.c
build json
catches "memory outside base" "forbidden outside its layer" check
for function in malloc calloc realloc free strdup; do
    says "$function, too" "json/json.c uses $function, which only base may"
done

fresh
echo 'term' >>src/LAYERS
cat <<'END' | plant src/term/mem.c
void *malloc(unsigned long);
void *term_get(void) { return malloc(1); }
END
build term
passes "the memory of the program" check
mv src/term/mem.c src/term/other.c
build term
catches "memory elsewhere in the program" \
    "term/other.c uses malloc, which only base may" check

finish
