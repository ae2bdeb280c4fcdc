/* server_entry.c - the entry of an MCP server, from words of a command line */
#include "conf/server_entry.h"

#include "conf/member.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n';
}

/* Copy one word to its place; NULL: a quote is not closed. */
static char *copy_word(char *from, char **to)
{
    char quote = 0;
    for (; *from && (quote || !is_blank(*from)); from++) {
        bool closes = quote && *from == quote;
        bool opens = !quote && (*from == '\'' || *from == '"');
        if (!closes && !opens)
            *(*to)++ = *from;
        quote = opens ? *from : (char)(closes ? 0 : quote);
    }
    return quote ? NULL : from;
}

size_t server_entry_split(char *line, const char *words[SERVER_WORDS])
{
    size_t count = 0;
    char *to = line;
    for (char *at = line;;) {
        while (is_blank(*at))
            at++;
        if (!*at)
            return count;
        if (count == SERVER_WORDS)
            return 0;
        words[count++] = to;
        at = copy_word(at, &to);
        if (!at)
            return 0;
        bool last = !*at;
        *to++ = 0;
        if (last)
            return count;
        at++;
    }
}

allm_json *server_entry_command(const char *const *words, size_t count)
{
    allm_json_build *b = member_new_object();
    member_text(b, "command", words[0]);
    member_array(b, "args");
    for (size_t i = 1; i < count; i++)
        allm_json_build_text(b, words[i], ALLM_NUL_ENDED);
    allm_json_build_end(b);
    return member_done(b);
}

static bool put_header(allm_json_build *b, const char *header)
{
    const char *colon = strchr(header, ':');
    char name[128];
    if (!colon || colon == header || colon - header >= (long)sizeof name)
        return false;
    memcpy(name, header, (size_t)(colon - header));
    name[colon - header] = 0;
    member_text(b, name, colon + 1 + strspn(colon + 1, " "));
    return true;
}

allm_json *server_entry_url(const char *url, const char *const *headers,
                            size_t count)
{
    bool good = true;
    allm_json_build *b = member_new_object();
    member_text(b, "type", "http");
    member_text(b, "url", url);
    if (count) {
        member_object(b, "headers");
        for (size_t i = 0; i < count && good; i++)
            good = put_header(b, headers[i]);
        allm_json_build_end(b);
    }
    allm_json *entry = member_done(b);
    if (good)
        return entry;
    allm_json_free(entry);
    return NULL;
}

/* ------------------------------------------------------------- its name --- */

/* Programs whose first argument that is no flag is a package or a script. */
static const char *const runners[] = { "npx",  "bunx", "uvx",  "pipx", "node",
                                       "bun",  "deno", "uv",   "npm",  "pnpm",
                                       "yarn", "sh",   "bash", NULL };

/* Their words before the package. */
static const char *const verbs[] = { "run", "exec", "dlx", "x", "tool", NULL };

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool is_one_of(const char *word, const char *const *list)
{
    while (*list && strcmp(word, *list) != 0)
        list++;
    return *list != NULL;
}

/* The argument that says what is run; NULL: the program itself does. */
static const char *find_package(const char *program, const allm_json *args)
{
    bool python = !strncmp(program, "python", 6);
    const allm_json *at = NULL;
    if (!python && !is_one_of(program, runners))
        return NULL;
    while ((at = allm_json_next(args, at))) {
        const char *word = allm_json_text(at, NULL);
        if (word && *word != '-' && !is_one_of(word, verbs))
            return word;
    }
    return NULL;
}

/* "@scope/server-x@1.2" is "server-x", "a.b.py" is "a", "mcp==1.0" is "mcp". */
static void copy_name(const char *word, char name[SERVER_NAME])
{
    const char *base = base_of(word);
    size_t n = 0;
    for (; n < SERVER_NAME - 1 && base[n] && !strchr("@=<>~[.:?", base[n]);
         n++) {
        char c = base[n];
        bool fine = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                    (c >= '0' && c <= '9') || c == '-' || c == '_';
        name[n] = (char)(fine ? c : '_');
    }
    name[n] = 0;
    if (!n)
        snprintf(name, SERVER_NAME, "server");
}

void server_entry_name(const allm_json *entry, char name[SERVER_NAME])
{
    const char *url = member_read(entry, "url");
    const char *program = member_read(entry, "command");
    const char *host = url ? strstr(url, "://") : NULL;
    char label[SERVER_NAME];
    if (host) {
        const char *at = strchr(host + 3, '@'), *slash = strchr(host + 3, '/');
        host = at && (!slash || at < slash) ? at + 1 : host + 3;
        snprintf(label, sizeof label, "%.*s", (int)strcspn(host, ".:/?"), host);
        copy_name(label, name);
        return;
    }
    const char *package = program ? find_package(base_of(program),
                                                 allm_json_get(entry, "args"))
                                  : NULL;
    copy_name(package ? package : program ? program : "server", name);
}
