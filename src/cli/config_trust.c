/*
 * config_trust.c - allm config trust: accept what a project's file sets
 *
 * Trust is for exactly the bytes that were shown: the file is read once, shown,
 * and its digest recorded.
 */
#include "cli/config_parts.h"
#include "cli/exit.h"
#include "cli/print.h"
#include "cli/settings.h"
#include "conf/file.h"
#include "conf/trusted.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

struct content {
    const char *path;
    struct bytes text;
    char hex[65];
    bool there;
};

/* Load one of the project's two files; false: an error was printed. */
static bool load_content(struct content *c, const char *path)
{
    c->path = path;
    int error = *path ? file_load(path, FILE_NO_LINKS, &c->text) : ENOENT;
    c->there = !error;
    allm_sha256(c->text.ptr, c->text.len, c->hex);
    if (!error || error == ENOENT)
        return true;
    print_fault("cannot trust %.500s: %s", path, file_says(error));
    return false;
}

static void show_content(const struct content *c)
{
    if (!c->there)
        return;
    print_format("%s\nsha256 %s\n", c->path, c->hex);
    print_bytes(bytes_string(&c->text), c->text.len);
    if (c->text.len && c->text.ptr[c->text.len - 1] != '\n')
        print_text("\n");
}

static bool is_given(const struct content *c, const struct flag_list *digests)
{
    for (size_t i = 0; i < digests->count; i++)
        if (!strcmp(digests->word[i], c->hex))
            return true;
    return !c->there;
}

/* Ask on the terminal; only "yes" counts. */
static bool user_agrees(void)
{
    char line[16] = "";
    print_text("Trust these files? Their settings can run programs and send "
               "your prompts elsewhere.  [yes/no] ");
    print_flush();
    ssize_t n = read(STDIN_FILENO, line, sizeof line - 1);
    return n > 0 && (!strcmp(line, "yes\n") || !strcmp(line, "y\n"));
}

static int compare_digests(const struct config_flags *f,
                           const struct content files[2])
{
    if (is_given(&files[0], &f->digests) && is_given(&files[1], &f->digests))
        return END_DONE;
    print_fault("the content is not the one of --sha256; look at it with: "
                "allm config trust --show");
    return END_ASKED;
}

static int ask_for_trust(const struct content files[2])
{
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
        print_fault("there is no terminal to ask on: look at the files with "
                    "\"allm config trust --show\", then use --sha256 HEX");
        return END_ASKED;
    }
    show_content(&files[0]);
    show_content(&files[1]);
    if (user_agrees())
        return END_DONE;
    print_note("nothing has changed");
    return END_ASKED;
}

static int record_trust(const struct content files[2])
{
    for (size_t i = 0; i < 2; i++) {
        int error = files[i].there ? trusted_set(files[i].path, &files[i].text)
                                   : 0;
        if (error) {
            print_fault("cannot record the trust: %s",
                        error == ENOENT ? "there is no home directory"
                                        : file_says(error));
            return END_USAGE;
        }
    }
    print_note("%s is trusted, until it changes", files[0].path);
    return END_DONE;
}

static int report_no_project(void)
{
    print_fault("there is no .allm.json in this directory or above");
    return END_USAGE;
}

int config_trust(const struct config_flags *f)
{
    struct content files[2] = { { .there = false }, { .there = false } };
    const struct config *c = settings_config();
    int code = c->project.found ? END_DONE : report_no_project();
    if (code == END_DONE && (!load_content(&files[0], c->project.path) ||
                             !load_content(&files[1], c->project.mcp_path)))
        code = END_USAGE;
    if (code == END_DONE && f->show) {
        show_content(&files[0]);
        show_content(&files[1]);
    } else if (code == END_DONE) {
        code = f->digests.count ? compare_digests(f, files)
                                : ask_for_trust(files);
        if (code == END_DONE)
            code = record_trust(files);
    }
    bytes_release(&files[0].text);
    bytes_release(&files[1].text);
    return code;
}

int config_untrust(void)
{
    const struct config *c = settings_config();
    if (!c->project.found)
        return report_no_project();
    int error = trusted_set(c->project.path, NULL);
    if (!error)
        return END_DONE;
    print_fault("cannot change the trust: %s", file_says(error));
    return END_USAGE;
}
