/* openai_address.h - where OpenAI, and all who look like it, are asked */
#ifndef PROVIDER_OPENAI_ADDRESS_H
#define PROVIDER_OPENAI_ADDRESS_H

#include "provider/extra.h"

/* A quirk of those who are asked by whole documents: Azure's addresses. */
enum { OPENAI_ADDRESS_AZURE = 1 };

/*
 * Write the address: the call's base_url and a path, such as "/embeddings"; in
 * the way of Azure BASE/openai/deployments/MODEL/PATH?api-version=...  A base
 * that ends in a path already, its own or that of chats, is understood.
 */
allm_status openai_address_write(const struct extra *x, allm_http *http,
                                 const char *path, bool azure);

/* The headers of a request, and the caller's own.  `content`: the type of the
 * body; `accept`: that of the answer. */
allm_status openai_address_headers(const struct extra *x, allm_http *http,
                                   const char *content, const char *accept);

#endif
