/* test_keys.c - the sources of keys, and their precedence */
#include "engine/keys.h"

#include "base/buf.h"

#include "harness/noun.h"
#include "harness/watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Every key in this file contains it, so that a leak is found by one word. */
#define SECRET "sk-S3CRET"

/* ------------------------------------------------------------ the world --- */

/* An environment for the test: NAME, value, NAME, value, ..., NULL. */
static const char *from_list(void *ud, const char *name)
{
    for (const char *const *v = ud; v && *v; v += 2)
        if (!strcmp(v[0], name))
            return v[1];
    return NULL;
}

/* A .env file for the test. */
struct place {
    char folder[200];
    char file[300];
};

static bool make_place(struct place *p)
{
    const char *tmp = getenv("TMPDIR");
    snprintf(p->folder, sizeof p->folder, "%.150s/allm-test-XXXXXX",
             tmp ? tmp : "/tmp");
    if (!mkdtemp(p->folder)) {
        check_skip("no temporary folder");
        return false;
    }
    snprintf(p->file, sizeof p->file, "%s/dotenv", p->folder);
    return true;
}

static void clear_place(struct place *p)
{
    unlink(p->file);
    rmdir(p->folder);
}

static void write_file(const struct place *p, const char *text)
{
    FILE *f = fopen(p->file, "wb");
    if (f)
        fputs(text, f);
    CHECK_ALWAYS(f && fclose(f) == 0);
}

/* Is the key of a provider this one, from there?  NULL: there is none. */
static void check_key(const allm_keys *k, const char *provider,
                      const char *call_key, const char *key, const char *source)
{
    const char *from = "unset";
    allm_text *t = allm_keys_get(k, provider, call_key, &from);
    CHECK_TEXT(allm_text_bytes(t, NULL), key);
    CHECK_TEXT(from, source);
    if (key)
        CHECK_WELL(allm_text_error(t));
    else
        CHECK_ERROR(allm_text_error(t), ALLM_ERR_ENGINE, "missing_key",
                    provider);
    allm_text_free(t);
}

/* ------------------------------------------------------ the five levels --- */

enum { CALL = 1, RUNTIME = 2, CONFIG = 4, ENV = 8, DOTENV = 16, ALL = 31 };

static const struct {
    int level;
    const char *source, *key;
} levels[] = {
    { CALL, "opts", SECRET "-1" },       { RUNTIME, "runtime", SECRET "-2" },
    { CONFIG, "app_config", SECRET "-3" }, { ENV, "env", SECRET "-4" },
    { DOTENV, "dotenv", SECRET "-5" },
};

/* A store with a key, or with an empty one, at each level of a set. */
static allm_keys *store_with(int set, int empty, const struct place *p)
{
    const char *full[] = { "OPENAI_API_KEY", SECRET "-4", NULL };
    const char *none[] = { "OPENAI_API_KEY", "", NULL };
    static const char *kept[3];
    allm_json *config = noun_json(set & CONFIG ? "{'openai': '" SECRET "-3'}"
                                  : empty & CONFIG ? "{'openai': ''}"
                                                   : "{'other': '" SECRET
                                                     "-x'}");
    memcpy(kept, set & ENV ? full : none, sizeof kept);
    bool has_env = (set | empty) & ENV;
    if (p)
        write_file(p, set & DOTENV     ? "OPENAI_API_KEY=" SECRET "-5\n"
                      : empty & DOTENV ? "OPENAI_API_KEY=\n"
                                       : "");
    allm_keys *k = allm_keys_new(
        ALLM(keys_opts, .config = config, .load_dotenv = p != NULL,
             .dotenv_path = p ? p->file : NULL, .env = from_list,
             .env_ud = (void *)(uintptr_t)(has_env ? kept : NULL)));
    if ((set | empty) & RUNTIME)
        allm_keys_put(k, "openai", set & RUNTIME ? SECRET "-2" : "");
    allm_json_free(config);
    return k;
}

/* All 32 sets, and so every pair. */
static void the_first_level_that_has_one_counts(void)
{
    struct place p;
    if (!make_place(&p))
        return;
    for (int set = 0; set <= ALL && check_whole(); set++) {
        static char row[40];
        snprintf(row, sizeof row, "levels %d", set);
        check_row(row);
        size_t first = 0;
        while (first < 5 && !(set & levels[first].level))
            first++;
        allm_keys *k = store_with(set, 0, &p);
        check_key(k, "openai", set & CALL ? SECRET "-1" : NULL,
                  first < 5 ? levels[first].key : NULL,
                  first < 5 ? levels[first].source : NULL);
        allm_keys_free(k);
    }
    clear_place(&p);
}

static void an_empty_key_counts_as_none(void)
{
    struct place p;
    if (!make_place(&p))
        return;
    for (size_t i = 0; i < 5 && check_whole(); i++) {
        check_row(levels[i].source);
        int below = ALL & ~(2 * levels[i].level - 1);
        allm_keys *k = store_with(below, levels[i].level, &p);
        check_key(k, "openai", i == 0 ? "" : NULL,
                  i < 4 ? levels[i + 1].key : NULL,
                  i < 4 ? levels[i + 1].source : NULL);
        allm_keys_free(k);
    }
    clear_place(&p);
}

/* ------------------------------------------------------------ the store --- */

static void what_was_put_is_found(void)
{
    allm_keys *k = allm_keys_new(NULL);
    CHECK_WELL(allm_keys_error(k));
    CHECK_INT(allm_keys_put(k, "my_test_provider", "sk-doctest"), ALLM_OK);
    check_key(k, "my_test_provider", NULL, "sk-doctest", "runtime");
    CHECK_INT(allm_keys_clear(k), ALLM_OK);
    check_key(k, "my_test_provider", NULL, NULL, NULL);
    allm_keys_free(k);
}

static void a_key_is_replaced_and_deleted(void)
{
    allm_keys *k = allm_keys_new(NULL);
    allm_keys_put(k, "a", "1");
    allm_keys_put(k, "b", "2");
    allm_keys_put(k, "c", "3");
    allm_keys_put(k, "b", "4");
    check_key(k, "a", NULL, "1", "runtime");
    check_key(k, "b", NULL, "4", "runtime");
    check_key(k, "c", NULL, "3", "runtime");
    CHECK_INT(allm_keys_delete(k, "b"), ALLM_OK);
    CHECK_INT(allm_keys_delete(k, "b"), ALLM_OK);
    CHECK_INT(allm_keys_delete(k, "never there"), ALLM_OK);
    check_key(k, "a", NULL, "1", "runtime");
    check_key(k, "b", NULL, NULL, NULL);
    check_key(k, "c", NULL, "3", "runtime");
    CHECK_INT(allm_keys_put(k, "c", ""), ALLM_OK);
    check_key(k, "c", NULL, NULL, NULL);
    allm_keys_free(k);
}

/* Only the store is emptied: the other levels shine through. */
static void deleting_uncovers_the_configuration(void)
{
    allm_keys *k = store_with(RUNTIME | CONFIG | ENV, 0, NULL);
    check_key(k, "openai", NULL, SECRET "-2", "runtime");
    CHECK_INT(allm_keys_delete(k, "openai"), ALLM_OK);
    check_key(k, "openai", NULL, SECRET "-3", "app_config");
    CHECK_INT(allm_keys_put(k, "openai", SECRET "-2"), ALLM_OK);
    CHECK_INT(allm_keys_clear(k), ALLM_OK);
    check_key(k, "openai", NULL, SECRET "-3", "app_config");
    allm_keys_free(k);
}

static void a_store_is_counted(void)
{
    allm_keys *k = allm_keys_new(NULL);
    allm_keys_put(k, "a", "1");
    allm_keys *again = allm_keys_keep(k);
    CHECK_ALWAYS(again == k);
    allm_keys_free(k);
    check_key(again, "a", NULL, "1", "runtime");
    allm_keys_free(again);
}

static void a_text_outlives_its_store(void)
{
    allm_keys *k = allm_keys_new(NULL);
    allm_keys_put(k, "a", "1");
    allm_text *t = allm_keys_get(k, "a", NULL, NULL);
    allm_keys_free(k);
    CHECK_TEXT(allm_text_bytes(t, NULL), "1");
    allm_text_free(t);
}

/* -------------------------------------------------------- configuration --- */

static void a_configuration_can_be_changed(void)
{
    allm_keys *k = store_with(CONFIG, 0, NULL);
    allm_json *other = noun_json("{'openai': 'new', 'cohere': null}");
    allm_json *wrong = noun_json("{'a': 'b', 'openai': 7}");
    check_key(k, "openai", NULL, SECRET "-3", "app_config");
    CHECK_INT(allm_keys_configure(k, other), ALLM_OK);
    check_key(k, "openai", NULL, "new", "app_config");
    check_key(k, "cohere", NULL, NULL, NULL);
    CHECK_INT(allm_keys_configure(k, wrong), ALLM_ERR_MISUSE);
    check_key(k, "openai", NULL, "new", "app_config");
    check_key(k, "a", NULL, NULL, NULL);
    CHECK_INT(allm_keys_configure(k, NULL), ALLM_OK);
    check_key(k, "openai", NULL, NULL, NULL);
    allm_json_free(other);
    allm_json_free(wrong);
    allm_keys_free(k);
}

static void a_configuration_is_an_object_of_texts(void)
{
    static const struct {
        const char *why, *config;
        bool fits;
    } rows[] = {
        { "empty", "{}", true },
        { "null is none", "null", true },
        { "a key that is null is none", "{'openai': null}", true },
        { "a list", "[['openai', 'k']]", false },
        { "a text", "'k'", false },
        { "false", "false", false },
        { "a number for a key", "{'openai': 1}", false },
        { "an object for a key", "{'openai': {'key': 'k'}}", false },
        { "false for a key", "{'openai': false}", false },
        { "a NUL in a key", "{'openai': 'a\\u0000b'}", false },
        { "after good ones", "{'a': 'x', 'b': 'y', 'openai': []}", false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].why);
        allm_json *config = noun_json(rows[i].config);
        allm_keys *k = allm_keys_new(ALLM(keys_opts, .config = config));
        if (rows[i].fits)
            CHECK_WELL(allm_keys_error(k));
        else
            CHECK_MISUSE(allm_keys_error(k), "invalid_config",
                         "an object with the keys");
        allm_keys_free(k);
        allm_json_free(config);
    }
}

/* ---------------------------------------------------------- environment --- */

static void variables_follow_from_the_name(void)
{
    static const struct {
        const char *provider, *variable;
    } rows[] = {
        { "openai", "OPENAI_API_KEY" },
        { "anthropic", "ANTHROPIC_API_KEY" },
        { "google", "GOOGLE_API_KEY" },
        { "gemini", "GEMINI_API_KEY" },
        { "cohere", "COHERE_API_KEY" },
        { "mistral", "MISTRAL_API_KEY" },
        { "fake", "FAKE_API_KEY" },
        { "voyage", "VOYAGE_API_KEY" },
        { "some_new_provider", "SOME_NEW_PROVIDER_API_KEY" },
        { "Mixed9", "MIXED9_API_KEY" },
        { "my-own.server", "MY_OWN_SERVER_API_KEY" },
        { "\xC3\xA4", "___API_KEY" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].provider);
        allm_text *t = allm_keys_variable(rows[i].provider);
        CHECK_WELL(allm_text_error(t));
        CHECK_TEXT(allm_text_bytes(t, NULL), rows[i].variable);
        allm_text_free(t);
    }
}

static void gemini_has_two_variables(void)
{
    static const struct {
        const char *why, *provider, *env[5], *key;
    } rows[] = {
        { "its own", "gemini", { "GEMINI_API_KEY", "a" }, "a" },
        { "the other", "gemini", { "GOOGLE_API_KEY", "b" }, "b" },
        { "its own first", "gemini",
          { "GOOGLE_API_KEY", "b", "GEMINI_API_KEY", "a" }, "a" },
        { "an empty one is none", "gemini",
          { "GEMINI_API_KEY", "", "GOOGLE_API_KEY", "b" }, "b" },
        { "google has one", "google", { "GEMINI_API_KEY", "a" }, NULL },
        { "its own", "google", { "GOOGLE_API_KEY", "b" }, "b" },
        { "no other", "xai", { "XAI_TOKEN", "c" }, NULL },
        { "as its documents name it", "alibaba",
          { "DASHSCOPE_API_KEY", "d" }, "d" },
        { "or as its name asks", "alibaba", { "ALIBABA_API_KEY", "e" }, "e" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].why);
        allm_keys *k =
            allm_keys_new(ALLM(keys_opts, .env = from_list,
                               .env_ud = (void *)(uintptr_t)rows[i].env));
        check_key(k, rows[i].provider, NULL, rows[i].key,
                  rows[i].key ? "env" : NULL);
        allm_keys_free(k);
    }
}

static void the_real_environment_is_the_default(void)
{
    allm_keys *k = allm_keys_new(NULL);
    check_key(k, "allm_test_nobody_has_this", NULL, NULL, NULL);
    allm_keys_free(k);
}

/* -------------------------------------------------------- the .env file --- */

static allm_keys *store_of_file(const char *path)
{
    return allm_keys_new(ALLM(keys_opts, .load_dotenv = 1, .dotenv_path = path,
                              .env = from_list));
}

static void a_file_is_read_once_when_it_is_needed(void)
{
    struct place p;
    if (!make_place(&p))
        return;
    allm_keys *k = store_of_file(p.file);
    write_file(&p, "# keys\nexport A_API_KEY=\"one\"\n");
    check_key(k, "a", NULL, "one", "dotenv");   /* not before */
    write_file(&p, "A_API_KEY=two\nB_API_KEY=b\n");
    check_key(k, "a", NULL, "one", "dotenv");
    check_key(k, "b", NULL, NULL, NULL);
    allm_keys_clear(k);
    check_key(k, "a", NULL, "two", "dotenv");
    check_key(k, "b", NULL, "b", "dotenv");
    unlink(p.file);
    check_key(k, "b", NULL, "b", "dotenv");
    allm_keys_clear(k);
    check_key(k, "b", NULL, NULL, NULL);
    allm_keys_free(k);
    clear_place(&p);
}

static void a_file_that_is_not_there_is_empty(void)
{
    struct place p;
    if (!make_place(&p))
        return;
    allm_keys *k = store_of_file(p.file);
    check_key(k, "a", NULL, NULL, NULL);
    write_file(&p, "A_API_KEY=one\n");
    check_key(k, "a", NULL, NULL, NULL);        /* that, too, is remembered */
    allm_keys_free(k);
    clear_place(&p);
}

static void a_file_counts_only_if_requested(void)
{
    struct place p;
    if (!make_place(&p))
        return;
    write_file(&p, "A_API_KEY=one\n");
    allm_keys *k =
        allm_keys_new(ALLM(keys_opts, .dotenv_path = p.file, .env = from_list));
    check_key(k, "a", NULL, NULL, NULL);
    allm_keys_free(k);
    clear_place(&p);
}

static void an_unreadable_file_is_reported(void)
{
    struct place p;
    if (!make_place(&p))
        return;
    allm_keys *k = store_of_file(p.folder);     /* not a file */
    allm_text *t = allm_keys_get(k, "a", NULL, NULL);
    CHECK_MISUSE(allm_text_error(t), "unreadable_dotenv", "(it is a folder)");
    CHECK(!allm_text_bytes(t, NULL));
    allm_text_free(t);
    allm_keys_put(k, "a", "1");                 /* it is not used */
    check_key(k, "a", NULL, "1", "runtime");
    allm_keys_free(k);
    clear_place(&p);
}

/* No process writes to the pipe: a reader would block forever. */
static void what_is_no_file_is_not_waited_for(void)
{
    struct place p;
    if (!make_place(&p))
        return;
    CHECK_ALWAYS(mkfifo(p.file, 0600) == 0);
    const char *const paths[] = { p.file, "/dev/zero" };
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        allm_keys *k = store_of_file(paths[i]);
        allm_text *t = allm_keys_get(k, "a", NULL, NULL);
        CHECK_MISUSE(allm_text_error(t), "unreadable_dotenv",
                     "(it is a pipe or a device, not a file)");
        allm_text_free(t);
        allm_keys_free(k);
    }
    clear_place(&p);
}

static void a_file_has_a_limit(void)
{
    struct place p;
    if (!make_place(&p))
        return;
    FILE *f = fopen(p.file, "wb");
    CHECK_ALWAYS(f && fseek(f, 1024 * 1024, SEEK_SET) == 0);
    fputs("x", f);
    CHECK_ALWAYS(fclose(f) == 0);
    allm_keys *k = store_of_file(p.file);
    allm_text *t = allm_keys_get(k, "a", NULL, NULL);
    CHECK_MISUSE(allm_text_error(t), "unreadable_dotenv", "(it is too large)");
    allm_text_free(t);
    allm_keys_free(k);
    clear_place(&p);
}

/* --------------------------------------------------------------- errors --- */

static void a_missing_key_tells_where_was_looked(void)
{
    static const struct {
        const char *provider;
        uint32_t dotenv;
        const char *sources, *words;
    } rows[] = {
        { "openai", 0,
          "{'checked_sources':['opts','runtime','app_config','env']}",
          "set OPENAI_API_KEY in the environment" },
        { "gemini", 1,
          "{'checked_sources':['opts','runtime','app_config','env',"
          "'dotenv']}",
          "set GEMINI_API_KEY or GOOGLE_API_KEY in the environment" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].provider);
        allm_keys *k = allm_keys_new(
            ALLM(keys_opts, .load_dotenv = rows[i].dotenv,
                 .dotenv_path = "/nonexistent.env", .env = from_list));
        allm_text *t = allm_keys_get(k, rows[i].provider, NULL, NULL);
        const allm_error *e = allm_text_error(t);
        CHECK_ERROR(e, ALLM_ERR_ENGINE, "missing_key", rows[i].words);
        CHECK_TEXT(GET(e, provider), rows[i].provider);
        CHECK_VALUE(GET(e, metadata), rows[i].sources);
        allm_text_free(t);
        allm_keys_free(k);
    }
}

/* Neither the sentence nor the JSON form of an error has a key in it. */
static void check_silent(const allm_error *e)
{
    CHECK(e);
    if (!e)
        return;
    CHECK_ALWAYS(!strstr(e->message, SECRET));
    for (uint32_t form = ALLM_FORM_TAGGED; form <= ALLM_FORM_PLAIN; form++) {
        allm_text *t = allm_error_json(e, form);
        const char *json = allm_text_bytes(t, NULL);
        CHECK_ALWAYS(!json || !strstr(json, SECRET));
        allm_text_free(t);
    }
}

static void check_silent_text(allm_text *t)
{
    check_silent(allm_text_error(t));
    allm_text_free(t);
}

static void no_error_has_a_key_in_it(void)
{
    struct place p;
    if (!make_place(&p))
        return;
    allm_keys *k = store_with(ALL, 0, &p);
    check_silent_text(allm_keys_get(k, "nobody", NULL, NULL));
    check_silent_text(allm_keys_get(k, "", SECRET, NULL));
    check_silent_text(allm_keys_get(k, NULL, SECRET, NULL));
    allm_keys_free(k);

    allm_json *wrong = noun_json("{'a': '" SECRET "', 'b': ['" SECRET "']}");
    k = allm_keys_new(ALLM(keys_opts, .config = wrong));
    check_silent(allm_keys_error(k));
    check_silent_text(allm_keys_get(k, "a", SECRET, NULL));
    allm_keys_free(k);
    allm_json_free(wrong);

    k = store_of_file(p.folder);
    allm_keys_put(k, "a", SECRET);
    check_silent_text(allm_keys_get(k, "b", NULL, NULL));
    allm_keys_free(k);
    clear_place(&p);
}

static void misuse_is_refused(void)
{
    static const char *const names[] = { NULL, "" };
    allm_keys *k = allm_keys_new(NULL);
    for (size_t i = 0; i < 2; i++) {
        CHECK_INT(allm_keys_put(k, names[i], "x"), ALLM_ERR_MISUSE);
        CHECK_INT(allm_keys_delete(k, names[i]), ALLM_ERR_MISUSE);
        allm_text *t = allm_keys_get(k, names[i], NULL, NULL);
        CHECK_MISUSE(allm_text_error(t), "invalid_provider", "\"openai\"");
        allm_text_free(t);
        t = allm_keys_variable(names[i]);
        CHECK_MISUSE(allm_text_error(t), "invalid_provider", "\"openai\"");
        allm_text_free(t);
    }
    CHECK_INT(allm_keys_put(k, "a", NULL), ALLM_ERR_MISUSE);
    allm_keys_free(k);
}

static void a_name_may_be_too_long(void)
{
    char name[5000];
    memset(name, 'a', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    allm_keys *k = allm_keys_new(NULL);
    allm_text *t = allm_keys_get(k, name, NULL, NULL);
    CHECK_MISUSE(allm_text_error(t), "invalid_provider", "too long");
    allm_text_free(t);
    allm_keys_free(k);
}

static void options_must_have_their_size(void)
{
    allm_keys_opts o = { .load_dotenv = 1 };
    allm_keys *k = allm_keys_new(&o);
    CHECK_MISUSE(allm_keys_error(k), "struct_size", "ALLM(keys_opts");
    CHECK_INT(allm_keys_put(k, "a", "x"), ALLM_ERR_MISUSE);
    CHECK_INT(allm_keys_clear(k), ALLM_ERR_MISUSE);
    CHECK_INT(allm_keys_configure(k, NULL), ALLM_ERR_MISUSE);
    allm_text *t = allm_keys_get(k, "a", "x", NULL);
    CHECK_MISUSE(allm_text_error(t), "struct_size", NULL);
    allm_text_free(t);
    allm_keys_free(k);
}

static void no_store_is_out_of_memory(void)
{
    const char *source = "unset";
    CHECK_INT(allm_keys_error(NULL)->kind, ALLM_ERR_NOMEM);
    CHECK_INT(allm_keys_put(NULL, "a", "x"), ALLM_ERR_NOMEM);
    CHECK_INT(allm_keys_delete(NULL, "a"), ALLM_ERR_NOMEM);
    CHECK_INT(allm_keys_clear(NULL), ALLM_ERR_NOMEM);
    CHECK_INT(allm_keys_configure(NULL, NULL), ALLM_ERR_NOMEM);
    CHECK(!allm_keys_get(NULL, "a", "x", &source));
    CHECK_TEXT(source, NULL);
    CHECK(!allm_keys_keep(NULL));
    allm_keys_free(NULL);
}

/* --------------------------------------------------------------- wiping --- */

/* Every operation of a store, with an allocator that checks freed memory. */
static void nothing_is_left_in_memory(void)
{
    struct place p;
    if (!make_place(&p))
        return;
    struct watch w = watch_for(SECRET);
    allm_allocator watching = watch_allocator(&w);
    allm_json *config = noun_json("{'a': '" SECRET "', 'b': '" SECRET "'}");
    write_file(&p, "X=1\nC_API_KEY=" SECRET "\n");
    allm_keys *k = allm_keys_new(ALLM(keys_opts, .config = config,
                                      .load_dotenv = 1, .dotenv_path = p.file,
                                      .allocator = &watching));
    allm_keys_put(k, "a", SECRET "-1");
    allm_keys_put(k, "a", SECRET "-2");
    allm_keys_put(k, "d", SECRET);
    check_key(k, "a", NULL, SECRET "-2", "runtime");
    check_key(k, "c", NULL, SECRET, "dotenv");
    check_key(k, "c", SECRET "-0", SECRET "-0", "opts");
    allm_keys_delete(k, "a");
    check_key(k, "a", NULL, SECRET, "app_config");
    allm_keys_configure(k, NULL);
    allm_keys_clear(k);
    check_key(k, "c", NULL, SECRET, "dotenv");
    allm_keys_free(k);
    CHECK_ALWAYS(w.leaked == 0 && w.live == 0);
    allm_json_free(config);
    clear_place(&p);
}

/* ------------------------------------------------------ for the library --- */

static void a_call_gets_a_secret(void)
{
    struct watch w = watch_for(SECRET);
    struct arena tell;
    struct secret key = { .ptr = NULL };
    const char *source = NULL;
    arena_init(&tell, watch_mem(&w));
    allm_keys *k = allm_keys_new(ALLM(keys_opts, .env = from_list));
    allm_keys_put(k, "a", SECRET "-1");
    CHECK_WELL(keys_look_up(k, "a", NULL, false, &tell, &key, &source));
    CHECK_TEXT(key.ptr, SECRET "-1");
    CHECK_TEXT(source, "runtime");
    CHECK_WELL(keys_look_up(k, "a", SECRET "-0", false, &tell, &key, &source));
    CHECK_TEXT(key.ptr, SECRET "-0");
    CHECK_TEXT(source, "opts");
    CHECK_ERROR(keys_look_up(k, "b", NULL, false, &tell, &key, &source),
                ALLM_ERR_ENGINE, "missing_key", "B_API_KEY");
    CHECK_TEXT(key.ptr, SECRET "-0");           /* nothing was changed */
    CHECK_TEXT(source, NULL);
    CHECK_WELL(keys_look_up(k, "b", NULL, true, &tell, &key, &source));
    CHECK_TEXT(source, NULL);                   /* optional: no error */
    CHECK_TEXT(key.ptr, SECRET "-0");
    secret_release(&key);
    arena_release(&tell);
    allm_keys_free(k);
    CHECK_ALWAYS(w.leaked == 0 && w.live == 0);
}

/* An engine without a store: the call's key and the environment. */
static void a_call_needs_no_store(void)
{
    struct arena tell;
    struct secret key = { .ptr = NULL };
    const char *source = NULL, *name = "allm_test_nobody_has_this";
    arena_init(&tell, mem_default());
    CHECK_WELL(keys_look_up(NULL, name, "k", false, &tell, &key, &source));
    CHECK_TEXT(key.ptr, "k");
    CHECK_TEXT(source, "opts");
    CHECK_ERROR(keys_look_up(NULL, name, "", false, &tell, &key, &source),
                ALLM_ERR_ENGINE, "missing_key",
                "ALLM_TEST_NOBODY_HAS_THIS_API_KEY");
    secret_release(&key);
    arena_release(&tell);
}

TESTS = {
    TEST(the_first_level_that_has_one_counts),
    TEST(an_empty_key_counts_as_none),
    TEST(what_was_put_is_found),
    TEST(a_key_is_replaced_and_deleted),
    TEST(deleting_uncovers_the_configuration),
    TEST(a_store_is_counted),
    TEST(a_text_outlives_its_store),
    TEST(a_configuration_can_be_changed),
    TEST(a_configuration_is_an_object_of_texts),
    TEST(variables_follow_from_the_name),
    TEST(gemini_has_two_variables),
    TEST(the_real_environment_is_the_default),
    TEST(a_file_is_read_once_when_it_is_needed),
    TEST(a_file_that_is_not_there_is_empty),
    TEST(a_file_counts_only_if_requested),
    TEST(an_unreadable_file_is_reported),
    TEST(what_is_no_file_is_not_waited_for),
    TEST(a_file_has_a_limit),
    TEST(a_missing_key_tells_where_was_looked),
    TEST(no_error_has_a_key_in_it),
    TEST(misuse_is_refused),
    TEST(a_name_may_be_too_long),
    TEST(options_must_have_their_size),
    TEST(no_store_is_out_of_memory),
    TEST(nothing_is_left_in_memory),
    TEST(a_call_gets_a_secret),
    TEST(a_call_needs_no_store),
    TESTS_END
};
