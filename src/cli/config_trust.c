/*
 * config_trust.c - allm config trust: accept what a project's files set
 *
 * Trust is for exactly the bytes that were shown: a file is read once, shown,
 * and its digest recorded.  The files are .allm.json, .mcp.json next to it, and
 * the templates in .allm/templates.
 */
#include "cli/config_parts.h"
#include "cli/exit.h"
#include "cli/print.h"
#include "cli/settings.h"
#include "cli/template_list.h"
#include "conf/file.h"
#include "conf/trusted.h"
#include "term/mem.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct content {
    char path[PLACES_PATH];
    struct bytes text;
    char hex[65];
    bool optional; /* a template: trusted only if its digest is given */
};

/* All files of the project. */
struct project {
    struct content *at;
    size_t count;
    bool failed; /* an error was printed */
};

/* Load a file, if there is one. */
static void add_file(struct project *p, const char *path, bool optional)
{
    struct bytes text = { NULL, 0, 0 };
    int error = *path ? file_load(path, FILE_NO_LINKS, &text) : ENOENT;
    if (error) {
        if (error != ENOENT)
            print_fault("cannot trust %.500s: %s", path, file_says(error));
        p->failed |= error != ENOENT && !optional;
        bytes_release(&text);
        return;
    }
    p->at = term_resize(p->at, (p->count + 1) * sizeof *p->at);
    struct content *c = &p->at[p->count++];
    *c = (struct content){ .text = text, .optional = optional };
    if (!optional || !file_real(path, c->path))
        snprintf(c->path, sizeof c->path, "%s", path);
    allm_sha256(text.ptr, text.len, c->hex);
}

static void add_template(void *ud, const char *name, const char *path,
                         bool project)
{
    (void)name;
    if (project)
        add_file(ud, path, true);
}

static struct project load_project(void)
{
    const struct config *c = settings_config();
    struct project p = { NULL, 0, false };
    add_file(&p, c->project.path, false);
    add_file(&p, c->project.mcp_path, false);
    template_list_each(add_template, &p);
    if (!p.count && !p.failed) {
        print_fault("there is no .allm.json and no .allm/templates in this "
                    "directory or above");
        p.failed = true;
    }
    return p;
}

static void release_project(struct project *p)
{
    for (size_t i = 0; i < p->count; i++)
        bytes_release(&p->at[i].text);
    term_free(p->at);
}

static void show_content(const struct content *c)
{
    print_format("%s\nsha256 %s\n", c->path, c->hex);
    print_ended(bytes_string(&c->text), c->text.len);
}

static void show_project(const struct project *p)
{
    for (size_t i = 0; i < p->count; i++)
        show_content(&p->at[i]);
}

static bool is_given(const struct content *c, const struct flag_list *digests)
{
    for (size_t i = 0; i < digests->count; i++)
        if (!strcmp(digests->word[i], c->hex))
            return true;
    return false;
}

/* Ask on the terminal; only "yes" counts. */
static bool user_agrees(void)
{
    char line[16] = "";
    static const char question[] =
        "Trust these files? Their settings can run programs and send your "
        "prompts elsewhere.  [yes/no]";
    print_flush();
    print_aside(question, sizeof question - 1);
    ssize_t n = read(STDIN_FILENO, line, sizeof line - 1);
    return n > 0 && (!strcmp(line, "yes\n") || !strcmp(line, "y\n"));
}

/* Each file must be given, except templates; and at least one. */
static int compare_digests(const struct config_flags *f,
                           const struct project *p)
{
    bool any = false, all = true;
    for (size_t i = 0; i < p->count; i++) {
        bool given = is_given(&p->at[i], &f->digests);
        any |= given;
        all &= given || p->at[i].optional;
    }
    if (any && all)
        return END_DONE;
    print_fault("the content is not the one of --sha256; look at it with: "
                "allm config trust --show");
    return END_ASKED;
}

static int ask_for_trust(const struct project *p)
{
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) ||
        !isatty(STDERR_FILENO)) {
        print_fault("there is no terminal to ask on: look at the files with "
                    "\"allm config trust --show\", then use --sha256 HEX");
        return END_ASKED;
    }
    show_project(p);
    if (user_agrees())
        return END_DONE;
    print_note("nothing has changed");
    return END_ASKED;
}

static int record_trust(const struct config_flags *f, const struct project *p)
{
    for (size_t i = 0; i < p->count; i++) {
        const struct content *c = &p->at[i];
        bool left = f->digests.count && !is_given(c, &f->digests);
        int error = left ? 0 : trusted_set(c->path, &c->text);
        if (error)
            return print_misuse("cannot record the trust: %s",
                                error == ENOENT ? "there is no home directory"
                                                : file_says(error));
        print_note(left ? "%s is not trusted: its digest was not given"
                        : "%s is trusted, until it changes",
                   c->path);
    }
    return END_DONE;
}

int config_trust(const struct config_flags *f)
{
    struct project p = load_project();
    int code = p.failed ? END_USAGE : END_DONE;
    if (code == END_DONE && f->show) {
        show_project(&p);
    } else if (code == END_DONE) {
        code = f->digests.count ? compare_digests(f, &p) : ask_for_trust(&p);
        if (code == END_DONE)
            code = record_trust(f, &p);
    }
    release_project(&p);
    return code;
}

int config_untrust(char **argv)
{
    (void)argv;
    struct project p = load_project();
    int error = 0;
    for (size_t i = 0; !p.failed && !error && i < p.count; i++)
        error = trusted_set(p.at[i].path, NULL);
    if (error)
        print_fault("cannot change the trust: %s", file_says(error));
    bool failed = p.failed || error;
    release_project(&p);
    return failed ? END_USAGE : END_DONE;
}
