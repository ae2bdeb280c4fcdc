/*
 * json.c - parse, read, build and patch JSON, and handle invalid JSON
 *
 * Getters accept NULL and values of any type, so a chain of calls needs no
 * checks in between.
 */
#include <allm.h>
#include <inttypes.h>
#include <stdio.h>

static void show(const char *title, const allm_json *value)
{
    allm_text *text = allm_json_write(value, 0);
    const allm_error *error = allm_text_error(text);
    printf("%-9s%s\n", title,
           error ? error->message : allm_text_bytes(text, NULL));
    allm_text_free(text);
}

/* {"max_tokens": 500, "stop": null}, built without parsing */
static allm_json *build_patch(void)
{
    allm_json_build *b = allm_json_build_new(NULL);
    allm_json_build_object(b);
    allm_json_build_key(b, "max_tokens");
    allm_json_build_int(b, 500);
    allm_json_build_key(b, "stop");
    allm_json_build_null(b);
    allm_json_build_end(b);
    return allm_json_build_done(b);
}

int main(void)
{
    const char text[] = "{\"model\": \"small\", \"stop\": [\"END\"],"
                        " \"seed\": 9007199254740993}";
    allm_json *options = allm_json_parse(text, ALLM_NUL_ENDED, NULL);
    const allm_error *error = allm_json_error(options);
    if (error) {
        fprintf(stderr, "%s\n", error->message);
        allm_json_free(options);
        return 1;
    }
    show("parsed", options);

    int64_t seed = 0;
    allm_json_int64(allm_json_get(options, "seed"), &seed);
    printf("%-9s%" PRId64 ", which no double can hold\n", "seed", seed);
    printf("%-9s%s\n", "/stop/0",
           allm_json_text(allm_json_pointer(options, "/stop/0"), NULL));

    allm_json *patch = build_patch();
    allm_json *patched = allm_json_patch(options, patch);
    show("patch", patch);
    show("patched", patched);       /* a new value; `options` is unchanged */

    allm_json *bad = allm_json_parse("{\"tools\": [1, 2,]}", ALLM_NUL_ENDED,
                                     NULL);
    error = allm_json_error(bad);
    printf("%-9s%s\n", "refused", error ? error->message : "no");
    show("where", error ? error->metadata : NULL);

    allm_json_free(bad);
    allm_json_free(patched);
    allm_json_free(patch);
    allm_json_free(options);
    return 0;
}
