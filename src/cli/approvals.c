/* approvals.c - the calls of a session that wait for a decision */
#include "cli/approvals.h"

#include "cli/print.h"
#include "cli/toolbox.h"
#include "conf/member.h"

#include <string.h>

static struct approve_call call_of(const allm_json *row)
{
    return (struct approve_call){ member_or(row, "id", ""),
                                  member_or(row, "name", "?"),
                                  allm_json_get(row, "arguments"),
                                  allm_json_get(row, "reach") };
}

static bool is_decided(const allm_json *metadata, const char *id)
{
    const allm_json *list = allm_json_get(metadata, "approved");
    for (const allm_json *d = NULL; (d = allm_json_next(list, d));) {
        const char *own = member_read(d, "id");
        if (own && !strcmp(own, id))
            return true;
    }
    return false;
}

/* The next row that is not decided after `row`; NULL: no more. */
static const allm_json *next_row(const allm_json *metadata,
                                 const allm_json *row)
{
    const allm_json *list = allm_json_get(metadata, "approvals");
    while ((row = allm_json_next(list, row)) &&
           is_decided(metadata, call_of(row).id))
        ;
    return row;
}

size_t approvals_count(const allm_json *metadata)
{
    size_t n = 0;
    for (const allm_json *row = NULL; (row = next_row(metadata, row));)
        n++;
    return n;
}

bool approvals_decided(const allm_json *metadata)
{
    return allm_json_count(allm_json_get(metadata, "approvals")) &&
           !approvals_count(metadata);
}

bool approvals_next(const allm_json *metadata, struct approve_call *c)
{
    const allm_json *row = next_row(metadata, NULL);
    if (row)
        *c = call_of(row);
    return row != NULL;
}

static bool names_server(const struct approve_call *c)
{
    for (const allm_json *r = NULL; (r = allm_json_next(c->reach, r));) {
        const char *word = allm_json_text(r, NULL);
        if (word && !strncmp(word, "server ", 7))
            return true;
    }
    return false;
}

/* What allows the calls of n rows, of which this is one.  --yes does not
 * for a server, unless it is in the sandbox. */
static void advise(const struct approve_call *c, size_t n)
{
    print_fault("allow such calls with --approve %.100s=auto%s, or keep the "
                "session with -S NAME to decide later",
                n == 1 ? c->name : "TOOL", names_server(c) ? "" : " or --yes");
}

void approvals_report(const allm_json *metadata, const char *path)
{
    struct bytes list = { NULL, 0, 0 }, flags = { NULL, 0, 0 };
    struct approve_call c = { NULL, NULL, NULL, NULL };
    size_t n = approvals_count(metadata);
    for (const allm_json *row = NULL; (row = next_row(metadata, row));) {
        c = call_of(row);
        bytes_text(&list, list.len ? "; " : "");
        approve_title(&list, &c);
        bytes_format(&list, " (id %.100s)", c.id);
    }
    toolbox_words(&flags);
    if (n)
        print_fault("%zu call%s wait%s for your approval: %.600s", n,
                    n == 1 ? "" : "s", n == 1 ? "s" : "", bytes_string(&list));
    if (path && !n)
        print_fault("its calls are decided and have not run; to run them: "
                    "allm -S %s%s --approve all",
                    path, bytes_string(&flags));
    else if (path)
        print_fault("to decide: allm -S %s%s --approve all (or the id of a "
                    "call; or --deny all --why TEXT)",
                    path, bytes_string(&flags));
    else
        advise(&c, n);
    bytes_release(&list);
    bytes_release(&flags);
}
