/* revision.c - the revisions of MCP that we speak, and how they differ */
#include "mcp/revision.h"

static const struct revision revisions[] = {
    /* name          modern header */
    { "2026-07-28",  true,  true  },
    { "2025-11-25",  false, true  },
    { "2025-06-18",  false, true  },
    { "2025-03-26",  false, false },
    { "2024-11-05",  false, false },
};

enum { REVISIONS = sizeof revisions / sizeof *revisions };

const struct revision *revision_modern(void)
{
    return &revisions[0];
}

const struct revision *revision_legacy(void)
{
    return &revisions[1];
}

const struct revision *revision_at(size_t index)
{
    return index < REVISIONS ? &revisions[index] : NULL;
}

const struct revision *revision_find(struct slice name)
{
    for (size_t i = 0; i < REVISIONS; i++)
        if (slice_is(name, revisions[i].name))
            return &revisions[i];
    return NULL;
}

const struct revision *revision_choose(const allm_json *names)
{
    const struct revision *best = NULL;
    const allm_json *v = NULL;
    if (!json_is_type(names, ALLM_JSON_ARRAY))
        return NULL;
    while ((v = allm_json_next(names, v))) {
        const struct revision *r = revision_find(json_slice(v));
        if (r && (!best || r < best))       /* the newest is the first */
            best = r;
    }
    return best;
}
