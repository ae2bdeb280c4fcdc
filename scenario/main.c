/*
 * main.c - allm-scenario: run scenario files against the library
 *
 *      allm-scenario [--help] [--store URI] FILE...
 *
 * Prints TAP, one test per file; the exit status is 0 only if all passed.
 */
#include "engine.h"
#include "expect.h"
#include "kept.h"
#include "ops.h"
#include "shared_session.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

bool scenario_reject(struct scenario *s, const char *format, ...)
{
    va_list args;
    if (*s->fault)
        return false;           /* report only the first fault */
    va_start(args, format);
    vsnprintf(s->fault, sizeof s->fault, format, args);
    va_end(args);
    return false;
}

static bool is_word_in(const char *words, const char *word)
{
    size_t n = strlen(word);
    while (*words) {
        size_t len = strcspn(words, " ");
        if (len == n && !memcmp(words, word, n))
            return true;
        words += len + (words[len] == ' ');
    }
    return false;
}

bool scenario_check_members(struct scenario *s, const allm_json *object,
                            const char *where, const char *words)
{
    for (const allm_json *k = NULL; (k = allm_json_next(object, k));) {
        const char *name = allm_json_text(k, NULL);
        if (!is_word_in(words, name))
            return scenario_reject(s, "%s has an unknown member \"%.64s\"",
                                   where, name);
    }
    return true;
}

/* The whole file, which the caller frees; NULL: it cannot be read. */
static char *read_file(const char *path, size_t *len)
{
    FILE *f = fopen(path, "rb");
    char *text = NULL;
    size_t cap = 0, n = 0, got = 1;
    while (f && got) {
        if (n + 1 >= cap) {
            cap = cap ? cap * 2 : 65536;
            char *more = realloc(text, cap);
            if (!more)
                break;
            text = more;
        }
        got = fread(text + n, 1, cap - n - 1, f);
        n += got;
    }
    bool failed = !f || got || ferror(f);
    if (f)
        fclose(f);
    *len = n;
    if (!failed)
        return text;
    free(text);
    return NULL;
}

/* Deeper than the library's default, since a scenario may test that limit. */
enum { MAX_DEPTH = 1000 };

static bool load_scenario(struct scenario *s)
{
    size_t len = 0;
    errno = 0;
    char *text = read_file(s->file, &len);
    if (!text)
        return scenario_reject(s, "cannot be read: %s", strerror(errno));
    s->document = allm_json_parse(text, len,
                                  ALLM(json_opts, .max_depth = MAX_DEPTH));
    free(text);
    const allm_error *error = allm_json_error(s->document);
    const allm_json *name = allm_json_get(s->document, "name");
    const allm_json *run = allm_json_get(s->document, "run");
    if (error)
        return scenario_reject(s, "%s", error->message);
    if (allm_json_type_of(s->document) != ALLM_JSON_OBJECT)
        return scenario_reject(s, "a scenario must be an object");
    if (!scenario_check_members(s, s->document, "the scenario",
                                "name engine run comment description"))
        return false;
    if (allm_json_type_of(name) != ALLM_JSON_TEXT)
        return scenario_reject(s, "/name must be a string");
    if (allm_json_type_of(run) != ALLM_JSON_ARRAY || !allm_json_count(run))
        return scenario_reject(s, "/run must be a list of operations");
    s->outcome = calloc(allm_json_count(run), sizeof(allm_json *));
    return s->outcome && engine_make(s);
}

/* Does an operation need a store? */
static bool needs_store(const struct scenario *s)
{
    const allm_json *run = allm_json_get(s->document, "run");
    for (const allm_json *op = NULL; (op = allm_json_next(run, op));) {
        const char *name = allm_json_text(allm_json_get(op, "op"), NULL);
        if (ops_find_stored(name) || allm_json_get(op, "crash_at") ||
            allm_json_get(allm_json_get(op, "expect"), "records"))
            return true;
    }
    return false;
}

static void release_scenario(struct scenario *s)
{
    for (size_t i = 0; i < s->op_count; i++)
        allm_json_free(s->outcome[i]);
    free(s->outcome);
    engine_release(s);
    allm_json_free(s->document);
}

/* The row of a well-formed operation; NULL: rejected. */
static const struct op *check_op(struct scenario *s, const allm_json *op)
{
    char members[128];
    const allm_json *expected = allm_json_get(op, "expect");
    const char *name = allm_json_text(allm_json_get(op, "op"), NULL);
    const struct op *row = ops_find(name);
    if (!row) {
        scenario_reject(s, "unknown operation \"%.64s\"", name ? name : "");
        return NULL;
    }
    snprintf(members, sizeof members, "op expect comment description %s",
             row->members);
    if (!scenario_check_members(s, op, row->name, members))
        return NULL;
    if (expected && allm_json_type_of(expected) != ALLM_JSON_OBJECT) {
        scenario_reject(s, "\"expect\" must be an object");
        return NULL;
    }
    return row;
}

static bool run_op(struct scenario *s, const allm_json *op)
{
    struct report r;
    const struct op *row = check_op(s, op);
    if (!row)
        return false;
    if (kept_is_dead(s) && row->run != op_restart)
        shared_session_reopen(s);
    report_begin(&r, s);
    row->run(s, op, &r);
    if (allm_json_get(allm_json_get(op, "expect"), "records"))
        kept_report_records(s, &r, "records", 0, 0);
    allm_json *outcome = report_finish(&r, s);
    const allm_error *error = allm_json_error(outcome);
    if (error)
        scenario_reject(s, "the outcome is not JSON: %s", error->message);
    bool ok = !*s->fault && expect_all(s, allm_json_get(op, "expect"), outcome);
    s->outcome[s->op_count++] = outcome;
    return ok;
}

/* Run all operations, up to one that is not valid. */
static bool run_all(struct scenario *s)
{
    bool all = true;
    size_t i = 0;
    const allm_json *run = allm_json_get(s->document, "run");
    for (const allm_json *op = NULL; (op = allm_json_next(run, op)); i++) {
        all = run_op(s, op) && all;
        if (!*s->fault)
            continue;
        fprintf(s->notes, "# /run/%zu: %s\n", i, s->fault);
        return false;
    }
    return all;
}

/* Print a name on one line; in TAP, # would begin a directive. */
static void print_name(const char *name)
{
    for (; *name; name++) {
        if (*name == '#')
            putchar('\\');
        putchar((unsigned char)*name < ' ' ? ' ' : *name);
    }
    putchar('\n');
}

static bool run_scenario(struct scenario *s)
{
    if (load_scenario(s)) {
        if (!s->kept.uri && needs_store(s))
            s->kept.uri = "memory:";
        bool ok = run_all(s);
        allm_session_free(s->session);
        if (kept_end(s) || !ok)
            return ok;
    }
    fprintf(s->notes, "# %s: %s\n", s->file,
            *s->fault ? s->fault : "out of memory");
    return false;
}

static bool run_file(const char *file, size_t number, const char *store)
{
    char *notes = NULL;
    size_t notes_len = 0;
    struct scenario s = { .file = file, .kept = { .uri = store } };
    s.notes = open_memstream(&notes, &notes_len);
    bool ok = s.notes && run_scenario(&s);
    const allm_json *name = allm_json_get(s.document, "name");
    printf("%s %zu - ", ok ? "ok" : "not ok", number);
    print_name(allm_json_type_of(name) == ALLM_JSON_TEXT
                   ? allm_json_text(name, NULL)
                   : file);
    if (s.notes)
        fclose(s.notes);
    if (!ok && notes)
        fputs(notes, stdout);
    free(notes);
    release_scenario(&s);
    return ok;
}

static const char help[] =
    "usage: allm-scenario [--store URI] FILE...\n"
    "\n"
    "Run scenario files against the library.  Each file scripts a model,\n"
    "makes calls and states the expected outcome.  No network is used.\n"
    "\n"
    "  --store URI  keep the sessions in this store: memory:, sqlite:PATH or\n"
    "               postgresql://...; they are removed at the end\n"
    "  -h, --help   show this\n"
    "\n"
    "stdout is TAP, one test for each file, then \"N passed, N failed\".\n"
    "\n"
    "exit codes:\n"
    "  0  all passed\n"
    "  1  a scenario failed or is not valid\n"
    "  2  wrong usage\n";

/* What the arguments say. */
struct arguments {
    const char *store;          /* NULL: none */
    int first;                  /* file */
};

static int reject_option(const char *option)
{
    fprintf(stderr,
            "allm-scenario: unknown option \"%s\" "
            "(for a file of this name, use ./%s); see --help\n",
            option, option);
    return 2;
}

/* Returns the exit code 0 or 2; -1: there are files to run. */
static int read_arguments(int argc, char **argv, struct arguments *out)
{
    *out = (struct arguments){ .first = 1 };
    for (int i = 1; i < argc; i++) {
        bool wants_help = !strcmp(argv[i], "--help") || !strcmp(argv[i], "-h");
        bool is_store = i == 1 && i + 1 < argc && !strcmp(argv[i], "--store");
        if (wants_help)
            return fputs(help, stdout) < 0 || fflush(stdout) ? 2 : 0;
        if (*argv[i] == '-' && !is_store)
            return reject_option(argv[i]);
        if (!is_store)
            continue;
        out->store = argv[++i];
        out->first = i + 1;
    }
    if (out->first < argc)
        return -1;
    fputs("usage: allm-scenario [--store URI] FILE...  (see --help)\n", stderr);
    return 2;
}

int main(int argc, char **argv)
{
    size_t failed = 0;
    struct arguments arguments;
    int end = read_arguments(argc, argv, &arguments);
    if (end >= 0)
        return end;
    int count = argc - arguments.first;
    for (int i = 0; i < count; i++)
        failed += !run_file(argv[arguments.first + i], (size_t)i + 1,
                            arguments.store);
    printf("1..%d\n%zu passed, %zu failed\n", count, (size_t)count - failed,
           failed);
    return failed != 0;
}
