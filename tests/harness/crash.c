/* crash.c - sessions in a store whose handle dies at commit n */
#include "harness/crash.h"

#include "harness/stored.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct {
    allm_store *anchor;         /* keeps a store in memory alive */
    char folder[64], uri[192];
    bool on_disk;
    uint64_t at, commits;
    bool durable;
} crash;

static allm_status on_commit(void *ud, uint64_t count, bool durable)
{
    (void)ud;
    crash.commits = count;
    return crash.at == count && crash.durable == durable ? ALLM_ERR_STORE
                                                         : ALLM_OK;
}

void crash_begin(bool on_disk)
{
    static unsigned number;
    crash.on_disk = on_disk;
    if (on_disk) {
        if (!stored_folder(crash.folder, sizeof crash.folder))
            crash.folder[0] = '\0';
        snprintf(crash.uri, sizeof crash.uri, "sqlite:%s/s.db", crash.folder);
    } else {
        snprintf(crash.uri, sizeof crash.uri, "memory:crash%u", number++);
        crash.anchor = allm_store_open(crash.uri, NULL);
    }
}

void crash_begin_at(const char *uri)
{
    crash.on_disk = false;
    snprintf(crash.uri, sizeof crash.uri, "%s", uri);
}

void crash_end(void)
{
    static const char *const ends[] = { "", "-wal", "-shm", "-lock" };
    char path[128];
    allm_store_free(crash.anchor);
    crash.anchor = NULL;
    if (!crash.on_disk)
        return;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        snprintf(path, sizeof path, "%s/s.db%s", crash.folder, ends[i]);
        unlink(path);
    }
    rmdir(crash.folder);
}

allm_store *crash_open(uint64_t n, bool durable)
{
    crash.at = n;
    crash.durable = durable;
    crash.commits = 0;
    /* a server lets go of the sessions of a dead process when their time has
     * come */
    return allm_store_open(crash.uri,
                           ALLM(store_opts, .on_commit = on_commit,
                                .lease_ms = n ? 1 : 0, .holder = "test"));
}

uint64_t crash_commits(void)
{
    return crash.commits;
}

const char *crash_log(allm_store *s, const char *name)
{
    static char out[8192];
    size_t n = 0;
    allm_json *all = allm_store_records(s, name, 0, 0);
    out[0] = '\0';
    for (const allm_json *r = NULL; (r = allm_json_next(all, r));) {
        const char *type = allm_json_text(allm_json_get(r, "type"), NULL);
        if (n + 32 < sizeof out)
            n += (size_t)snprintf(out + n, sizeof out - n, "%s%s", n ? " " : "",
                                  type ? type : "?");
    }
    allm_json_free(all);
    return out;
}

size_t crash_count(allm_store *s, const char *name, const char *type)
{
    size_t n = 0;
    allm_json *all = allm_store_records(s, name, 0, 0);
    for (const allm_json *r = NULL; (r = allm_json_next(all, r));) {
        const char *found = allm_json_text(allm_json_get(r, "type"), NULL);
        n += found && !strcmp(found, type);
    }
    allm_json_free(all);
    return n;
}
