/* address.h - the URLs and headers of OpenAI and of compatible servers */
#pragma once

#include "provider/extra.h"

/* A quirk of the dialects of tasks: URLs as Azure has them. */
enum { OPENAI_ADDRESS_AZURE = 1 };

struct openai_address {
    const char *path;           /* such as "/embeddings" */
    const char *content;        /* the type of the body; NULL: JSON */
    const char *accept;         /* the type of the response; NULL: JSON */
    bool azure;
};

/*
 * Write the URL and the headers, including the caller's own.  The URL is the
 * call's base_url and the path; for Azure it is
 * BASE/openai/deployments/MODEL/PATH?api-version=...  The base may already end
 * in the path, or in the path of chats.  Returns NULL, or an error.
 */
const allm_error *openai_address_write(const struct extra *x, allm_http *http,
                                       const struct openai_address *to);

/* Write the caller's own headers, and those of organization and project. */
const allm_error *openai_address_headers(const struct extra *x,
                                         allm_http *http);

/* As openai_address_write(), for a task: `azure` is the quirk above. */
const allm_error *openai_address_task(const struct extra *x, allm_http *http,
                                      const char *path);
