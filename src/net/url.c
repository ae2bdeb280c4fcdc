/* url.c - parts of URLs, and relative ones, by libcurl */
#include "net/url.h"

#include <string.h>

#ifndef CURLU_PUNYCODE          /* before 7.88 */
#define CURLU_PUNYCODE 0
#endif

/* Without the flags, if the part has no such form. */
static char *part_of(struct arena *a, CURLU *u, CURLUPart part, unsigned flags)
{
    char *text = NULL;
    if (curl_url_get(u, part, &text, flags) != CURLUE_OK) {
        curl_free(text);            /* what it could not convert, if any */
        text = NULL;
        if (!flags || curl_url_get(u, part, &text, 0) != CURLUE_OK)
            return NULL;
    }
    char *copy = arena_text(a, text);
    curl_free(text);
    return copy;
}

static bool is_ascii(const char *text)
{
    while (*text && !(*text & 0x80))
        text++;
    return !*text;
}

static const char *lower_case(char *text)
{
    for (char *c = text; c && *c; c++)
        if (*c >= 'A' && *c <= 'Z')
            *c = (char)(*c + ('a' - 'A'));
    return text;
}

bool url_read(struct arena *a, const char *text, struct url *out)
{
    CURLU *u = curl_url();
    bool ok = u && curl_url_set(u, CURLUPART_URL, text,
                                CURLU_NON_SUPPORT_SCHEME) == CURLUE_OK;
    *out = (struct url){ .has_user = false };
    if (ok) {
        out->scheme = lower_case(part_of(a, u, CURLUPART_SCHEME, 0));
        out->host = lower_case(part_of(a, u, CURLUPART_HOST, CURLU_PUNYCODE));
        if (!out->host)
            out->host = "";
        out->has_user = part_of(a, u, CURLUPART_USER, 0) ||
                        part_of(a, u, CURLUPART_PASSWORD, 0);
    }
    curl_url_cleanup(u);
    return ok && out->scheme && !a->broken && is_ascii(out->host);
}

/* Without these parts, up to CURLUPART_URL. */
static const char *resolve(struct arena *a, const char *base, const char *text,
                           const CURLUPart *without)
{
    CURLU *u = curl_url();
    const char *whole = NULL;
    bool good = u && curl_url_set(u, CURLUPART_URL, base, 0) == CURLUE_OK &&
                curl_url_set(u, CURLUPART_URL, text,
                             CURLU_NON_SUPPORT_SCHEME) == CURLUE_OK;
    for (; good && *without != CURLUPART_URL; without++)
        good = curl_url_set(u, *without, NULL, 0) == CURLUE_OK;
    if (good)
        whole = part_of(a, u, CURLUPART_URL, 0);
    curl_url_cleanup(u);
    return whole;
}

const char *url_resolve(struct arena *a, const char *base, const char *text)
{
    static const CURLUPart none[] = { CURLUPART_URL };
    return resolve(a, base, text, none);
}

const char *url_show(struct arena *a, const char *base, const char *text)
{
    static const CURLUPart secret[] = { CURLUPART_USER, CURLUPART_PASSWORD,
                                        CURLUPART_QUERY, CURLUPART_FRAGMENT,
                                        CURLUPART_URL };
    return resolve(a, base, text, secret);
}

void parsed_url_release(struct parsed_url *u, struct mem mem)
{
    curl_url_cleanup(u->parts);
    mem_free(mem, u->text, u->size);
    *u = (struct parsed_url){ 0 };
}

CURLU *parsed_url_parts(const struct parsed_url *u, const char *text)
{
    return u->text && !strcmp(u->text, text) ? u->parts : NULL;
}

void parsed_url_set(struct parsed_url *u, struct mem mem, const char *text)
{
    if (parsed_url_parts(u, text))
        return;
    parsed_url_release(u, mem);
    u->size = strlen(text) + 1;
    u->text = mem_alloc(mem, u->size);
    u->parts = curl_url();
    if (!u->text || curl_url_set(u->parts, CURLUPART_URL, text, 0) != CURLUE_OK)
        parsed_url_release(u, mem);
    else
        memcpy(u->text, text, u->size);
}
