/*
 * main.c - allm-scenario: run scenario files against the library
 *
 *      allm-scenario [--help] FILE...
 *
 * Prints TAP, one test a file; the exit status is 0 only if all passed.
 */
#include "engine.h"
#include "expect.h"
#include "ops.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

bool scenario_refuse(struct scenario *s, const char *format, ...)
{
    va_list args;
    if (*s->fault)
        return false;           /* the first one is told */
    va_start(args, format);
    vsnprintf(s->fault, sizeof s->fault, format, args);
    va_end(args);
    return false;
}

static bool is_among(const char *words, const char *word)
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

bool scenario_knows(struct scenario *s, const allm_json *object,
                    const char *where, const char *words)
{
    for (const allm_json *k = NULL; (k = allm_json_next(object, k));) {
        const char *name = allm_json_text(k, NULL);
        if (!is_among(words, name))
            return scenario_refuse(s, "%s has an unknown member \"%.64s\"",
                                   where, name);
    }
    return true;
}

/* The whole file, or NULL. */
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

/* Deeper than the library reads by itself: its limit may be what is tested. */
enum { MOST_DEPTH = 1000 };

static bool load(struct scenario *s)
{
    size_t len = 0;
    errno = 0;
    char *text = read_file(s->file, &len);
    if (!text)
        return scenario_refuse(s, "cannot be read: %s", strerror(errno));
    s->document = allm_json_parse(text, len,
                                  ALLM(json_opts, .max_depth = MOST_DEPTH));
    free(text);
    const allm_error *error = allm_json_error(s->document);
    const allm_json *name = allm_json_get(s->document, "name");
    const allm_json *run = allm_json_get(s->document, "run");
    if (error)
        return scenario_refuse(s, "%s", error->message);
    if (allm_json_type_of(s->document) != ALLM_JSON_OBJECT)
        return scenario_refuse(s, "a scenario is an object");
    if (!scenario_knows(s, s->document, "the scenario",
                        "name engine run comment description"))
        return false;
    if (allm_json_type_of(name) != ALLM_JSON_TEXT)
        return scenario_refuse(s, "/name must be a text");
    if (allm_json_type_of(run) != ALLM_JSON_ARRAY || !allm_json_count(run))
        return scenario_refuse(s, "/run must be a list of operations");
    s->outcome = calloc(allm_json_count(run), sizeof(allm_json *));
    return s->outcome && engine_make(s);
}

static void unload(struct scenario *s)
{
    for (size_t i = 0; i < s->op_count; i++)
        allm_json_free(s->outcome[i]);
    free(s->outcome);
    allm_session_free(s->session);
    engine_release(s);
    allm_json_free(s->document);
}

/* The row of an operation that is well formed; NULL: refused. */
static const struct op *check_op(struct scenario *s, const allm_json *op)
{
    char members[128];
    const allm_json *expected = allm_json_get(op, "expect");
    const char *name = allm_json_text(allm_json_get(op, "op"), NULL);
    const struct op *row = ops_find(name);
    if (!row) {
        scenario_refuse(s, "no operation is called \"%.64s\"",
                        name ? name : "");
        return NULL;
    }
    snprintf(members, sizeof members, "op expect comment description %s",
             row->members);
    if (!scenario_knows(s, op, row->name, members))
        return NULL;
    if (expected && allm_json_type_of(expected) != ALLM_JSON_OBJECT) {
        scenario_refuse(s, "\"expect\" must be an object");
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
    report_begin(&r, s);
    row->run(s, op, &r);
    allm_json *outcome = report_finish(&r, s);
    const allm_error *error = allm_json_error(outcome);
    if (error)
        scenario_refuse(s, "what it gave is no JSON: %s", error->message);
    bool ok = !*s->fault && expect_all(s, allm_json_get(op, "expect"), outcome);
    s->outcome[s->op_count++] = outcome;
    return ok;
}

/* All operations, up to one that cannot be understood. */
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

/* A name on one line; # would begin a directive of TAP. */
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
    if (load(s))
        return run_all(s);
    fprintf(s->notes, "# %s: %s\n", s->file,
            *s->fault ? s->fault : "out of memory");
    return false;
}

static bool run_file(const char *file, size_t number)
{
    char *notes = NULL;
    size_t notes_len = 0;
    struct scenario s = { .file = file };
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
    unload(&s);
    return ok;
}

static const char help[] =
    "usage: allm-scenario FILE...\n"
    "\n"
    "Run scenario files against the library: each scripts a model, makes calls\n"
    "and states what must come out.  Nothing is asked over a network.\n"
    "\n"
    "  -h, --help  show this\n"
    "\n"
    "stdout is TAP, one test for each file, then \"N passed, N failed\".\n"
    "\n"
    "exit codes:\n"
    "  0  all passed\n"
    "  1  a scenario failed, or is none\n"
    "  2  wrong usage\n";

/* 0 or 2: the program ends with this; -1: there are files to run. */
static int read_words(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        bool asked = !strcmp(argv[i], "--help") || !strcmp(argv[i], "-h");
        if (asked)
            return fputs(help, stdout) < 0 || fflush(stdout) ? 2 : 0;
        if (*argv[i] == '-') {
            fprintf(stderr,
                    "allm-scenario: there is no option \"%s\" "
                    "(a file of this name: ./%s); see --help\n",
                    argv[i], argv[i]);
            return 2;
        }
    }
    if (argc >= 2)
        return -1;
    fputs("usage: allm-scenario FILE...  (--help tells more)\n", stderr);
    return 2;
}

int main(int argc, char **argv)
{
    size_t failed = 0;
    int end = read_words(argc, argv);
    if (end >= 0)
        return end;
    for (int i = 1; i < argc; i++)
        failed += !run_file(argv[i], (size_t)i);
    printf("1..%d\n%zu passed, %zu failed\n", argc - 1,
           (size_t)argc - 1 - failed, failed);
    return failed != 0;
}
