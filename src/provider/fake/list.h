/*
 * list.h - scripts with one entry per call
 *
 *      [["ok", [anything]], ["error", "content_filter", {"message": ...}]]
 *
 * They share the position of the engine's other scripts.
 */
#pragma once

#include "provider/fake/log.h"

struct fake_list {
    struct fake_log *log;
    const allm_json *value;     /* the result of this call */
};

/* For the adapter's open(): select the entry of this call in
 * adapter_opts[name]. */
allm_status fake_list_open(struct fake_list *l, const allm_call *call,
                           const char *name, allm_sink *sink);

/* For the adapter's close(). */
void fake_list_close(struct fake_list *l);
