/*
 * list.h - scripts of the fake whose entries are lists
 *
 *      [["ok", [anything]], ["error", "content_filter", {"message": ...}]]
 *
 * One entry for each call.  The position is the one of the fake's scripts.
 */
#ifndef PROVIDER_FAKE_LIST_H
#define PROVIDER_FAKE_LIST_H

#include "provider/fake/log.h"

struct fake_list {
    struct fake_log *log;
    const allm_json *value;     /* what this call answers */
};

/* For an open(): the entry of this call in adapter_opts[name]. */
allm_status fake_list_open(struct fake_list *l, const allm_call *call,
                           const char *name, allm_sink *sink);

/* For its close(). */
void fake_list_close(struct fake_list *l);

#endif
