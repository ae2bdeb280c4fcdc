/* test_server_entry.c - commands and addresses of MCP servers */
#include "conf/server_entry.h"

#include "harness/check.h"

#include <stdio.h>
#include <string.h>

static void splits_at_blanks(void)
{
    static const struct {
        const char *line;
        size_t count;
        const char *joined; /* the words with | between them */
    } rows[] = {
        { "npx -y pkg", 3, "npx|-y|pkg" },
        { "  a\t b\n", 2, "a|b" },
        { "a 'b c' d", 3, "a|b c|d" },
        { "a \"b 'c\" d", 3, "a|b 'c|d" },
        { "a'b'\"c\"", 1, "abc" },
        { "a '' b", 3, "a||b" },
        { "a\\ b $HOME *", 4, "a\\|b|$HOME|*" },
        { "a 'b", 0, "" },
        { "", 0, "" },
        { "   ", 0, "" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char line[64], joined[64] = "";
        const char *words[SERVER_WORDS];
        check_row(rows[i].line);
        snprintf(line, sizeof line, "%s", rows[i].line);
        size_t n = server_entry_split(line, words);
        CHECK_INT(n, rows[i].count);
        for (size_t k = 0; k < n; k++) {
            size_t len = strlen(joined);
            snprintf(joined + len, sizeof joined - len, "%s%s", k ? "|" : "",
                     words[k]);
        }
        CHECK_TEXT(joined, rows[i].joined);
    }
}

static void refuses_too_many_words(void)
{
    char line[2 * SERVER_WORDS + 8];
    const char *words[SERVER_WORDS];
    memset(line, 0, sizeof line);
    for (size_t i = 0; i < SERVER_WORDS; i++)
        memcpy(line + 2 * i, "a ", 2);
    CHECK_INT(server_entry_split(line, words), SERVER_WORDS);
    memset(line, 0, sizeof line);
    for (size_t i = 0; i <= SERVER_WORDS; i++)
        memcpy(line + 2 * i, "a ", 2);
    CHECK_INT(server_entry_split(line, words), 0);
}

static void names_servers(void)
{
    static const struct {
        const char *line, *name;
    } rows[] = {
        { "/opt/bin/my-server --x", "my-server" },
        { "npx -y @modelcontextprotocol/server-everything",
          "server-everything" },
        { "npx -y @scope/pkg@1.2.3 stdio", "pkg" },
        { "uvx mcp-server-git==1.0", "mcp-server-git" },
        { "uv tool run thing", "thing" },
        { "python3 -m mcp_server.main", "mcp_server" },
        { "python ./dir/server.py", "server" },
        { "node build/index.js", "index" },
        { "npx", "npx" },
        { "./a+b", "a_b" },
        { "./.hidden", "server" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char line[128], name[SERVER_NAME];
        const char *words[SERVER_WORDS];
        check_row(rows[i].line);
        snprintf(line, sizeof line, "%s", rows[i].line);
        size_t n = server_entry_split(line, words);
        allm_json *entry = server_entry_command(words, n);
        server_entry_name(entry, name);
        CHECK_TEXT(name, rows[i].name);
        allm_json_free(entry);
    }
}

static void names_addresses(void)
{
    static const char *const headers[] = { "Authorization: Bearer x", "A:b" };
    static const char *const broken[] = { "no colon" };
    char name[SERVER_NAME];
    allm_json *entry = server_entry_url("https://docs.example.com/mcp", headers,
                                        2);
    server_entry_name(entry, name);
    CHECK_TEXT(name, "docs");
    allm_text *text = allm_json_write(entry, 0);
    CHECK_TEXT(allm_text_bytes(text, NULL),
               "{\"type\":\"http\",\"url\":\"https://docs.example.com/mcp\","
               "\"headers\":{\"Authorization\":\"Bearer x\",\"A\":\"b\"}}");
    allm_text_free(text);
    allm_json_free(entry);
    entry = server_entry_url("http://user@localhost:8080", NULL, 0);
    server_entry_name(entry, name);
    CHECK_TEXT(name, "localhost");
    allm_json_free(entry);
    CHECK(!server_entry_url("http://x", broken, 1));
}

TESTS = { TEST_ONCE(splits_at_blanks), TEST_ONCE(refuses_too_many_words),
          TEST_ONCE(names_servers), TEST_ONCE(names_addresses), TESTS_END };
