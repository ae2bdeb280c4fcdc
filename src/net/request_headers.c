/* request_headers.c - the headers of a request, checked, in libcurl's form */
#include "net/request_headers.h"

#include "base/nocase.h"

#include "net/failure.h"

#include <string.h>

static const char invalid[] = "invalid_request";

/* ------------------------------------------------------------- checking --- */

static bool breaks_line(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 && *text != '\t')
            return true;
    return false;
}

static const allm_error *check_header(struct arena *why, const char *name,
                                      const char *value, const char *hint)
{
    if (!breaks_line(name) && !breaks_line(value))
        return NULL;
    return failure_refuse(why, invalid,
                          "the header %.64s has a line break or another "
                          "control character in it; %s",
                          breaks_line(name) ? "(its name)" : name, hint);
}

const allm_error *request_headers_check(const allm_http_view *view,
                                        struct arena *why)
{
    const allm_error *e = NULL;
    struct slice url = slice_of(view->url);
    if ((!nocase_starts(url, "https://") && !nocase_starts(url, "http://")) ||
        breaks_line(url.ptr))
        return failure_refuse(why, invalid,
                              "the address must begin with https:// (or "
                              "http://) and be one line; check base_url");
    if (view->secret_name)
        e = check_header(why, view->secret_name, view->secret_value,
                         "was the key copied with the end of its line?");
    for (size_t i = 0; !e && i < view->header_count; i++)
        e = check_header(why, view->header[2 * i], view->header[2 * i + 1],
                         "remove it");
    return e;
}

/* -------------------------------------------------------------- listing --- */

/* libcurl's forms: "Name: value"; "Name;" for an empty value; "Name:" removes a
 * header that libcurl would send itself. */
static bool add_line(struct arena *a, struct curl_slist **list,
                     const char *name, const char *between, const char *value)
{
    size_t n = strlen(name), b = strlen(between), v = strlen(value);
    struct curl_slist *item = arena_alloc(a, sizeof *item);
    char *line = arena_alloc(a, n + b + v + 1);
    if (!item || !line)
        return false;
    memcpy(line, name, n);
    memcpy(line + n, between, b);
    memcpy(line + n + b, value, v + 1);
    *item = (struct curl_slist){ .data = line, .next = *list };
    *list = item;
    return true;
}

static bool add_header(struct arena *a, struct curl_slist **list,
                       const char *name, const char *value)
{
    return add_line(a, list, name, *value ? ": " : ";", value);
}

/* In reverse, since each header is added in front. */
bool request_headers_list(struct arena *a, const allm_http_view *view,
                          struct curl_slist **out)
{
    bool typed = false;
    *out = NULL;
    bool ok = add_line(a, out, "Expect", ":", "");
    if (view->secret_name)
        ok = ok && add_header(a, out, view->secret_name, view->secret_value);
    for (size_t i = view->header_count; ok && i-- > 0;) {
        const char *name = view->header[2 * i];
        typed |= nocase_starts(slice_of(name), "content-type");
        ok = add_header(a, out, name, view->header[2 * i + 1]);
    }
    return ok && (typed || add_line(a, out, "Content-Type", ":", ""));
}
