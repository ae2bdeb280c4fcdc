/* response_head.c - the id of a response, in its headers */
#include "run/response_head.h"

#include "base/nocase.h"

const char *response_head_id(const allm_http_head *head)
{
    static const char *const names[] = { "x-request-id", "request-id",
                                         "x-goog-request-id", "cf-ray" };
    const char *id = NULL;
    for (size_t i = 0; head && !id && i < sizeof names / sizeof *names; i++)
        id = nocase_header(head->header, head->header_count, names[i]);
    return id;
}
