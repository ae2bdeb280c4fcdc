/* response_head.c - find values in the headers of a response */
#include "run/response_head.h"

#include "base/nocase.h"

const char *response_head_find(const allm_http_head *head, const char *name)
{
    for (size_t i = 0; i < head->header_count; i++)
        if (nocase_is(slice_of(head->header[2 * i]), name))
            return head->header[2 * i + 1];
    return NULL;
}

const char *response_head_id(const allm_http_head *head)
{
    static const char *const names[] = { "x-request-id", "request-id",
                                         "x-goog-request-id", "cf-ray" };
    const char *id = NULL;
    for (size_t i = 0; head && !id && i < sizeof names / sizeof *names; i++)
        id = response_head_find(head, names[i]);
    return id;
}
