/*
 * conversation.c - build, copy, branch and print a conversation
 *
 * A thread is a list of messages that only grows.  A copy is cheap, because it
 * shares the messages; a message added to one thread is not in the other.
 */
#include <allm.h>
#include <stdio.h>

static const struct {
    allm_role role;
    const char *text;
} opening[] = {
    { ALLM_ROLE_SYSTEM,    "You are a patient gardener." },
    { ALLM_ROLE_USER,      "When do I plant tulips?" },
    { ALLM_ROLE_ASSISTANT, "In autumn, before the first frost." },
};

static void show(const char *title, const allm_thread *thread)
{
    static const char *const who[] = { "?", "system", "user", "assistant",
                                       "tool" };
    printf("%s, %zu messages:\n", title, allm_thread_count(thread));
    for (size_t i = 0; i < allm_thread_count(thread); i++) {
        const allm_message *m = allm_thread_at(thread, i);
        printf("    %-9s  %s\n", who[m->role], m->text);
    }
}

int main(void)
{
    allm_status status = ALLM_OK;
    allm_thread *thread = allm_thread_new(NULL);

    for (size_t i = 0; i < 3 && status == ALLM_OK; i++)
        status = allm_thread_add(thread, opening[i].role, opening[i].text);

    /* From here on, each of two questions has its own thread. */
    allm_thread *branch = allm_thread_copy(thread);
    if (status == ALLM_OK)
        status = allm_thread_add(thread, ALLM_ROLE_USER, "How deep?");
    if (status == ALLM_OK)
        status = allm_thread_add(branch, ALLM_ROLE_USER, "And in a pot?");
    show("the thread", thread);
    show("its branch", branch);

    bool same = allm_thread_at(thread, 2) == allm_thread_at(branch, 2);
    printf("the third message of both is %s\n",
           same ? "one and the same" : "a copy");

    /* A message needs content.  A rejected one does not change the thread. */
    allm_status refused = allm_thread_add(branch, ALLM_ROLE_USER, NULL);
    printf("adding nothing: %s; the branch still has %zu messages\n",
           allm_status_name(refused), allm_thread_count(branch));

    allm_thread_free(branch);
    allm_thread_free(thread);
    return status == ALLM_OK ? 0 : 1;
}
