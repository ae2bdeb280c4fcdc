/*
 * disk.c - sessions in files
 *
 * A file holds the tagged JSON form and nothing behind it, not even a newline:
 * so a file that was cut off anywhere is no document, and is refused.
 *
 * Links are followed first: what is locked, and replaced when it is written, is
 * the file that is meant.
 */
#include "session/disk.h"

#include "base/file.h"
#include "base/status.h"
#include "json/json.h"
#include "json/parse.h"

#include <errno.h>
#include <stdint.h>
#include <sys/stat.h>

enum { LIMIT = 256 * 1024 * 1024 };

/* An error of a file; NULL: no memory for it. */
static const allm_error *tell(struct arena *a, const char *reason,
                              const char *path, const char *sentence,
                              const char *why)
{
    return status_error(a, ALLM_ERR_STORE, reason,
                        "the session file \"%s\" %s%s%s", path, sentence,
                        why ? ": " : "", why ? why : "");
}

static const allm_error *tell_unwritable(struct arena *a, const char *path,
                                         const char *verb, int why)
{
    return status_error(a, ALLM_ERR_STORE, "unwritable_session",
                        "the session file \"%s\" cannot be %s: %s; check its "
                        "folder and the permissions",
                        path, verb, file_error_words(why));
}

static const allm_error *no_path(struct arena *a)
{
    return status_error(a, ALLM_ERR_MISUSE, "missing_path",
                        "the path of the session file is "
                        "missing or empty");
}

/* The file that is meant, and can be a session.  NULL, or what is wrong, which
 * has this reason. */
static const allm_error *find_file(struct arena *a, const char **path,
                                   const char *reason)
{
    struct stat info;
    const char *given = *path;
    if (!given || !*given)
        return no_path(a);
    int why = file_follow(a, given, path);
    if (why)
        return why == ENOMEM ? status_nomem()
                             : tell(a, reason, given, "is a link to nowhere",
                                    file_error_words(why));
    if (stat(*path, &info) != 0 || S_ISREG(info.st_mode) ||
        S_ISDIR(info.st_mode))
        return NULL;            /* of a folder the system has a word to say */
    return tell(a, reason, given, "is no file, but a device or a pipe", NULL);
}

/* ------------------------------------------------------------------- lock --- */

static const allm_error *take_lock(struct lock *l, struct arena *a,
                                   const char *path)
{
    int why = lock_take(l, a->mem, path);
    if (!why)
        return NULL;
    if (why == ENOMEM)
        return status_nomem();
    if (why == EWOULDBLOCK)
        return tell(a, "session_locked", path,
                    "is in use by somebody else; wait until they are done",
                    NULL);
    return tell_unwritable(a, path, "locked", why);
}

/* ------------------------------------------------------------------ faults --- */

/* A session may wait for no call at all: then it goes on without a message. */
static bool is_harmless(const allm_json *pair)
{
    return json_is(allm_json_at(pair, 0), "pending_tool_calls") &&
           json_is(allm_json_at(pair, 1), "required_for_status");
}

/* Is it one that can be used again?  NULL, or the fault, in the arena. */
static const allm_error *find_fault(const allm_session_record *r,
                                    struct arena *a, const char *path)
{
    allm_error *found = allm_validate_session(r);
    const allm_error *error = NULL;
    size_t harmless = 0;
    for (size_t i = 0; found && i < allm_json_count(found->errors); i++)
        harmless += is_harmless(allm_json_at(found->errors, i));
    if (found && (found->kind == ALLM_ERR_NOMEM || !found->errors))
        error = status_nomem();
    else if (found && harmless < allm_json_count(found->errors))
        error = tell(a, "damaged_session", path, "would be of no use",
                     found->message);
    allm_error_free(found);
    return error;
}

/* -------------------------------------------------------------------- save --- */

/* Put the document in place of the file, if it can be loaded again. */
static const allm_error *replace(struct arena *a, const char *path,
                                 struct slice bytes)
{
    const char *much = json_too_much(bytes);
    if (much)
        return tell(a, "session_too_large", path,
                    "is not written, since it could not be loaded again; begin "
                    "a new session, or remove old messages, images and results "
                    "of tools: a session has at most",
                    much);
    int why = file_write_private(a, path, bytes);
    if (!why)
        return NULL;
    return why == ENOMEM ? status_nomem()
                         : tell_unwritable(a, path, "written", why);
}

static const allm_error *write_text(const allm_session *s, struct arena *a,
                                    const char *path)
{
    const allm_error *error = find_fault(s->record, a, path);
    if (error)
        return error;
    allm_text *text = allm_session_record_json(s->record, ALLM_FORM_TAGGED);
    struct slice bytes = { 0 };
    bytes.ptr = allm_text_bytes(text, &bytes.len);
    error = allm_text_error(text);
    if (error)
        error = status_retell(a, error);
    else
        error = bytes.ptr ? replace(a, path, bytes) : status_nomem();
    allm_text_free(text);
    return error;
}

allm_status disk_save(allm_session *s, const char *path)
{
    struct lock mine = LOCK_NONE;
    if (s->unfit)
        return s->error->kind;
    arena_reset(&s->told);
    s->error = NULL;
    const allm_error *error = find_file(&s->told, &path, "unwritable_session");
    if (!error && !lock_is_on(&s->lock, path))
        error = take_lock(&mine, &s->told, path);
    if (!error)
        error = write_text(s, &s->told, path);
    lock_drop(&mine);
    return error ? state_refuse(s, error) : ALLM_OK;
}

/* -------------------------------------------------------------------- load --- */

/* The session of a document. */
static allm_session *decode(struct arena *a, const char *path,
                            struct slice bytes)
{
    allm_codec *codec = allm_codec_decode(bytes.ptr, bytes.len, NULL, NULL);
    const allm_session_record *r = allm_codec_value(codec, ALLM_TYPE_SESSION);
    const allm_error *error = codec ? allm_codec_error(codec) : status_nomem();
    if (error && error->kind != ALLM_ERR_NOMEM)
        error = tell(a, "damaged_session", path, "is damaged, or no session",
                     error->message);
    else if (!error && !r)
        error = tell(a, "not_a_session", path,
                     "holds something else than a session", NULL);
    else if (!error)
        error = find_fault(r, a, path);
    allm_session *s = error ? state_unfit(error) : allm_session_from_record(r);
    allm_codec_free(codec);
    return s;
}

static allm_session *read_session(struct arena *a, const char *path,
                                  uint32_t flags)
{
    struct slice bytes = { 0 };
    int why = file_read(a, path, LIMIT, &bytes);
    if (!why)
        return decode(a, path, bytes);
    if (why == ENOENT && (flags & ALLM_SESSION_CREATE))
        return allm_session_new(NULL);
    if (why == ENOMEM)
        return state_unfit(status_nomem());
    return state_unfit(
        why == ENOENT
            ? tell(a, "session_not_found", path, "does not exist", NULL)
            : tell(a, "unreadable_session", path, "cannot be read",
                   file_error_words(why)));
}

/* The session holds the lock from now on. */
static allm_session *hold(allm_session *s, struct lock *l)
{
    if (!s || s->unfit)
        return s;
    s->lock = *l;
    *l = LOCK_NONE;
    return s;
}

allm_session *disk_load(const char *path, uint32_t flags)
{
    struct arena a;
    struct lock l = LOCK_NONE;
    arena_init(&a, mem_default());
    const allm_error *error = find_file(&a, &path, "unreadable_session");
    if (!error && (flags & ALLM_SESSION_LOCK))
        error = take_lock(&l, &a, path);
    allm_session *s = error ? state_unfit(error)
                            : hold(read_session(&a, path, flags), &l);
    lock_drop(&l);
    arena_release(&a);
    return s;
}
