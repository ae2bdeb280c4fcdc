/* server_conf.h - the entry of an MCP server, as in an mcpServers file */
#pragma once

#include "base/home.h"
#include "proc/orders.h"
#include "toolbox/jail.h"

enum server_compact { SERVER_COMPACT_AUTO, SERVER_COMPACT_ON,
                      SERVER_COMPACT_OFF };

/* Lives in the toolbox's memory.  Members that we do not know are ignored. */
struct server_conf {
    const char *name;
    const char *command;        /* stdio; NULL: HTTP */
    const allm_json *args;      /* texts; or NULL */
    const allm_json *env;       /* an object; or NULL */
    const char *dir;            /* absolute */
    const allm_json *sandbox;   /* as "needs"; NULL: files and net are free */

    const char *url;            /* HTTP */
    const allm_json *headers;   /* an object of texts; or NULL */
    const char *auth;           /* "env:NAME", "file:PATH", "cmd:COMMAND"; or
                                   NULL */

    const allm_json *filter;    /* of its tools; or NULL */
    const allm_json *manifest;  /* or NULL */
    bool trust, disabled, required;
    enum server_compact compact;
    uint32_t timeout_ms;        /* of a call */
    uint32_t start_ms;
};

enum { SERVER_TIMEOUT_MS = 300 * 1000, SERVER_START_MS = 10 * 1000 };

/* Read an entry into the home; grants as in needs_check().  NULL, or the error
 * (reason invalid_server). */
const allm_error *server_conf_read(struct server_conf *c,
                                   struct allm_home *home, const char *name,
                                   const allm_json *entry, const char *root,
                                   const allm_json *grants);

/* The value of a variable or header, in the arena or the entry: a number or a
 * switch as JSON.  NULL: there is none, or no memory. */
const char *server_conf_value(struct arena *a, const allm_json *v);

/*
 * What its process needs: *j is opened in the arena and must be closed; *argv
 * ends with NULL.  NULL, or the error.
 */
const allm_error *server_conf_jail(const struct server_conf *c,
                                   enum orders_mode mode, struct arena *a,
                                   struct jail *j, const char *const **argv);
