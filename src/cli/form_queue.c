/* form_queue.c - forms of MCP servers that wait for the user */
#include "cli/form_queue.h"

#include "term/mem.h"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

struct form {
    struct form *next;
    allm_elicitation *form;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct form *first, **last = &first; /* those that wait, by lock */
static void (*ask_one)(allm_elicitation *form);
static int ends[2] = { -1, -1 };            /* a byte for each of them */

bool form_queue_open(void (*ask)(allm_elicitation *form))
{
    ask_one = ask;
    if (ends[0] >= 0 || pipe(ends))
        return ends[0] >= 0;
    for (int i = 0; i < 2; i++)
        fcntl(ends[i], F_SETFD, FD_CLOEXEC);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    return true;
}

int form_queue_fd(void)
{
    return ends[0];
}

void form_queue_take(void *ud, allm_elicitation *form)
{
    struct form *f = term_alloc(sizeof *f);
    (void)ud;
    f->form = form;
    pthread_mutex_lock(&lock);
    *last = f;
    last = &f->next;
    pthread_mutex_unlock(&lock);
    (void)!write(ends[1], "", 1);
}

/* The next form; NULL: none waits. */
static allm_elicitation *take_form(void)
{
    char byte;
    pthread_mutex_lock(&lock);
    struct form *f = first;
    if (f)
        first = f->next;
    if (!first)
        last = &first;
    pthread_mutex_unlock(&lock);
    allm_elicitation *form = f ? f->form : NULL;
    if (f)
        (void)!read(ends[0], &byte, 1);
    term_free(f);
    return form;
}

void form_queue_close(void)
{
    allm_elicitation *form;
    while ((form = take_form()))
        allm_elicitation_free(form);
    for (int i = 0; i < 2 && ends[0] >= 0; i++)
        close(ends[i]);
    ends[0] = ends[1] = -1;
}

void form_queue_answer(void)
{
    allm_elicitation *form;
    while ((form = take_form())) {
        ask_one(form);
        allm_elicitation_free(form);
    }
}
