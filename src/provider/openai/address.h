/* address.h - where OpenAI, and all who look like it, are asked */
#ifndef PROVIDER_OPENAI_ADDRESS_H
#define PROVIDER_OPENAI_ADDRESS_H

#include "provider/extra.h"

/* A quirk of those who are asked by whole documents: Azure's addresses. */
enum { OPENAI_ADDRESS_AZURE = 1 };

struct openai_address {
    const char *path;           /* such as "/embeddings" */
    const char *content;        /* the type of the body; NULL: JSON */
    const char *accept;         /* that of the answer; NULL: JSON */
    bool azure;
};

/*
 * Write the address and the headers, the caller's own included.  The address is
 * the call's base_url and the path; in the way of Azure
 * BASE/openai/deployments/MODEL/PATH?api-version=...  A base that ends in a
 * path already, its own or that of chats, is understood.  NULL, or an error.
 */
const allm_error *openai_address_write(const struct extra *x, allm_http *http,
                                       const struct openai_address *to);

/* The caller's own headers, and those of organization and project. */
const allm_error *openai_address_headers(const struct extra *x,
                                         allm_http *http);

/* The same for a task whose call has the quirk above. */
const allm_error *openai_address_task(const struct extra *x, allm_http *http,
                                      const char *path);

#endif
