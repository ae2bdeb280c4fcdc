/* session_name.c - what -S, -c and --keep name: a file, or a stored session */
#include "cli/session_name.h"

#include "cli/exit.h"
#include "cli/print.h"
#include "cli/session_store.h"
#include "cli/settings.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static char chosen[160]; /* the name of -c or --keep */

bool session_name_is_file(const char *word)
{
    return strpbrk(word, "/.") != NULL;
}

int session_name_check_file(const char *path)
{
    static const char magic[] = "SQLite format 3";
    char head[sizeof magic] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t n = fd >= 0 ? read(fd, head, sizeof head) : 0;
    if (fd >= 0)
        close(fd);
    if (n != (ssize_t)sizeof head || memcmp(head, magic, sizeof head) != 0)
        return END_DONE;
    return print_misuse(
        "%s is a database, not a session; if it is a store, say --store "
        "sqlite:%s -S NAME",
        path, path);
}

/* Is there such a session?  Also true if the store cannot be read: whoever
 * opens it then reports why. */
static bool is_stored(const char *name, const char *uri)
{
    if (!session_store_exists(uri))
        return false;
    allm_store *store = NULL;
    bool found = true;
    if (session_store_open(&store, uri, ALLM_STORE_NO_CREATE, 0) == END_DONE) {
        allm_session *s = allm_session_open(store, name, 0);
        const allm_error *error = allm_session_error(s);
        found = !error || !error->reason ||
                strcmp(error->reason, "session_not_found") != 0;
        allm_session_free(s);
    }
    allm_store_free(store);
    return found;
}

int session_name_check(const char *name, const char *uri)
{
    if (access(name, F_OK) || is_stored(name, uri))
        return END_DONE;
    return print_misuse(
        "%s is a file here, and no session of the store has this name; for the "
        "file, say ./%s",
        name, name);
}

static int refuse_none(void)
{
    return print_misuse(
        "there is no session to continue; allm -S NAME begins one");
}

static int find_latest(const char *uri)
{
    allm_store *store = NULL;
    int code = session_store_open(&store, uri, ALLM_STORE_NO_CREATE, 0);
    allm_json *list =
        code == END_DONE ? allm_store_list(store, ALLM(store_query, .limit = 1))
                         : NULL;
    const char *name =
        allm_json_text(allm_json_pointer(list, "/sessions/0/name"), NULL);
    if (code == END_DONE && !list)
        code = session_store_fail(allm_store_error(store));
    else if (code == END_DONE && !name)
        code = refuse_none();
    snprintf(chosen, sizeof chosen, "%s", name ? name : "");
    allm_json_free(list);
    allm_store_free(store);
    return code;
}

/* A name that tells the time, with six digits that keep two calls apart. */
static void make_name(void)
{
    unsigned char bytes[3] = { 0 };
    char day[32] = "session";
    struct tm now;
    time_t seconds = time(NULL);
    int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        (void)!read(fd, bytes, sizeof bytes);
        close(fd);
    }
    if (gmtime_r(&seconds, &now))
        strftime(day, sizeof day, "%Y%m%d-%H%M%S", &now);
    snprintf(chosen, sizeof chosen, "%s-%02x%02x%02x", day, bytes[0], bytes[1],
             bytes[2]);
    print_note("session %s", chosen);
}

bool session_name_is_spare(const struct session_choice *c)
{
    return !c->word && !c->latest && !c->keep && !c->none && c->may_keep &&
           settings_true("keep", false);
}

int session_name_choose(const struct session_choice *c, const char **word)
{
    int code = END_DONE;
    bool keep = c->keep || session_name_is_spare(c);
    if ((c->word != NULL) + c->latest + c->keep + c->none > 1)
        return print_misuse("-S, -c, --keep and -n exclude each other");
    if (c->word && !*c->word)
        return print_misuse("-S needs a name or a file");
    if (c->latest)
        code = find_latest(c->store);
    else if (keep)
        make_name();
    *word = c->latest || keep ? chosen : c->word;
    return code;
}
