/*
 * chat_complete.c - Tab in a chat: commands, models, sessions, files
 *
 * A word that begins with @ is a file, in any line.
 */
#include "cli/catalog.h"
#include "cli/chat_state.h"
#include "cli/exit.h"
#include "cli/session_store.h"
#include "cli/settings.h"
#include "cli/template_list.h"
#include "conf/member.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

static void add_word(struct bytes *words, const char *word, const char *after)
{
    bytes_text(words, word);
    bytes_text(words, after);
    bytes_byte(words, '\n');
}

static bool begins_with(const char *word, const char *begin)
{
    return !strncmp(word, begin, strlen(begin));
}

/* The files whose path begins like this, each after `front`. */
static void complete_file(const char *front, const char *begin,
                          struct bytes *words)
{
    char folder[4096], path[8192];
    const char *slash = strrchr(begin, '/');
    int n = slash ? (int)(slash - begin) + 1 : 0;
    snprintf(folder, sizeof folder, "%.*s", n, begin);
    DIR *dir = opendir(n ? folder : ".");
    for (struct dirent *e; dir && (e = readdir(dir));) {
        if (!begins_with(e->d_name, begin + n) ||
            (*e->d_name == '.' && begin[n] != '.') || strchr(e->d_name, '\n'))
            continue;
        snprintf(path, sizeof path, "%s%s", folder, e->d_name);
        DIR *inner = opendir(path);
        bytes_text(words, front);
        add_word(words, path, inner ? "/" : "");
        if (inner)
            closedir(inner);
    }
    if (dir)
        closedir(dir);
}

static void complete_model(const char *begin, struct bytes *words)
{
    const allm_json *aliases = settings_value("aliases"), *k = NULL;
    while ((k = allm_json_next(aliases, k)))
        if (begins_with(allm_json_text(k, NULL), begin))
            add_word(words, allm_json_text(k, NULL), "");
    allm_catalog *catalog = catalog_open();
    const allm_model_ref *m;
    for (size_t i = 0; catalog && (m = allm_catalog_at(catalog, i)); i++) {
        char name[512];
        snprintf(name, sizeof name, "%s:%s", m->provider ? m->provider : "",
                 m->id);
        if (begins_with(name, begin))
            add_word(words, name, "");
    }
    allm_catalog_free(catalog);
}

static void complete_session(const char *uri, const char *begin,
                             struct bytes *words)
{
    allm_store *store = NULL;
    if (!session_store_exists(uri) ||
        session_store_open(&store, uri, ALLM_STORE_NO_CREATE, 0) != END_DONE)
        return;
    allm_json *list = allm_store_list(store, ALLM(store_query, .limit = 200));
    const allm_json *all = allm_json_get(list, "sessions");
    for (const allm_json *s = NULL; (s = allm_json_next(all, s));) {
        const char *name = member_read(s, "name");
        if (name && begins_with(name, begin))
            add_word(words, name, "");
    }
    allm_json_free(list);
    allm_store_free(store);
}

static void complete_command(const char *begin, struct bytes *words)
{
    const char *name;
    for (size_t i = 0; (name = chat_commands_name(i)); i++)
        if (begins_with(name, begin))
            add_word(words, name, "");
}

struct found_names {
    const char *begin;
    struct bytes *words;
};

static void add_template(void *ud, const char *name, const char *path,
                         bool project)
{
    const struct found_names *f = ud;
    (void)path;
    (void)project;
    if (begins_with(name, f->begin))
        add_word(f->words, name, "");
}

/* What a command takes as its argument. */
static void complete_argument(const struct chat *c, const char *line,
                              const char *begin, struct bytes *words)
{
    static const struct {
        const char *command;
        bool model, session, file, template;
    } rows[] = {
        { "/model ", .model = true },    { "/attach ", .file = true },
        { "/file ", .file = true },      { "/save ", .file = true },
        { "/load ", .session = true, .file = true },
        { "/fork ", .session = true },   { "/template ", .template = true },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!begins_with(line, rows[i].command))
            continue;
        if (rows[i].model)
            complete_model(begin, words);
        if (rows[i].session)
            complete_session(c->ask->session.store, begin, words);
        if (rows[i].template)
            template_list_each(add_template,
                               &(struct found_names){ begin, words });
        if (rows[i].file)
            complete_file("", begin, words);
    }
}

size_t chat_complete(void *ud, const char *text, size_t at, struct bytes *words)
{
    char line[4096];
    if (at >= sizeof line)
        return at;
    memcpy(line, text, at);
    line[at] = '\0';
    size_t from = at, first = strcspn(line, " ");
    while (from && line[from - 1] != ' ' && line[from - 1] != '\n')
        from--;
    if (line[from] == '@') {
        complete_file("@", line + from + 1, words);
        return from;
    }
    if (*line != '/')
        return at;
    if (!line[first]) {
        complete_command(line, words);
        return 0;
    }
    complete_argument(ud, line, line + first + 1, words);
    return first + 1;
}
