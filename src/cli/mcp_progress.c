/* mcp_progress.c - progress of tools, on its way to an MCP client */
#include "cli/mcp_progress.h"

#include "term/mem.h"

#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct mcp_progress *first, **last = &first; /* by lock */
static int ends[2] = { -1, -1 }; /* a byte while reports wait */

void mcp_progress_open(void)
{
    if (pipe(ends))
        return;
    for (int i = 0; i < 2; i++) {
        fcntl(ends[i], F_SETFD, FD_CLOEXEC);
        fcntl(ends[i], F_SETFL, O_NONBLOCK);
    }
}

int mcp_progress_fd(void)
{
    return ends[0];
}

void mcp_progress_take(void *ud, const allm_tool_progress *p)
{
    struct mcp_progress *own = term_alloc(sizeof *own);
    (void)ud;
    own->call_id = term_copy(p->call_id, strlen(p->call_id));
    own->message = p->message ? term_copy(p->message, strlen(p->message))
                              : NULL;
    own->progress = p->progress;
    own->total = p->total;
    pthread_mutex_lock(&lock);
    bool wake = !first;
    *last = own;
    last = &own->next;
    pthread_mutex_unlock(&lock);
    if (wake)
        (void)!write(ends[1], "", 1);
}

struct mcp_progress *mcp_progress_next(void)
{
    char bytes[64];
    pthread_mutex_lock(&lock);
    struct mcp_progress *p = first;
    if (p)
        first = p->next;
    if (!first) {
        last = &first;
        while (ends[0] >= 0 && read(ends[0], bytes, sizeof bytes) > 0)
            ;
    }
    pthread_mutex_unlock(&lock);
    return p;
}

void mcp_progress_free(struct mcp_progress *p)
{
    term_free(p->call_id);
    term_free(p->message);
    term_free(p);
}

void mcp_progress_close(void)
{
    struct mcp_progress *p;
    while ((p = mcp_progress_next()))
        mcp_progress_free(p);
    for (int i = 0; i < 2 && ends[0] >= 0; i++)
        close(ends[i]);
    ends[0] = ends[1] = -1;
}
