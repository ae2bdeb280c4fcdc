/*
 * disk.c - save and load session files
 *
 * A file contains the tagged JSON form and nothing after it, not even a
 * newline.  So a truncated file is never valid JSON, and is rejected.
 *
 * Symbolic links are followed first: the library locks and replaces the target.
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

/* An error about the file. */
static const allm_error *session_file_error(struct arena *a, const char *reason,
                                            const char *path,
                                            const char *problem,
                                            const char *why)
{
    return status_error(a, ALLM_ERR_STORE, reason,
                        "the session file \"%s\" %s%s%s", path, problem,
                        why ? ": " : "", why ? why : "");
}

static const allm_error *unwritable_error(struct arena *a, const char *path,
                                          const char *verb, int why)
{
    return status_error(a, ALLM_ERR_STORE, "unwritable_session",
                        "the session file \"%s\" cannot be %s: %s; check its "
                        "folder and the permissions",
                        path, verb, file_error_words(why));
}

static const allm_error *missing_path_error(struct arena *a)
{
    return status_error(a, ALLM_ERR_MISUSE, "missing_path",
                        "the path of the session file is missing "
                        "or empty");
}

/* Follow links, and check that *path can be a session file.  Returns NULL or an
 * error with this reason. */
static const allm_error *find_file(struct arena *a, const char **path,
                                   const char *reason)
{
    struct stat info;
    const char *given = *path;
    if (!given || !*given)
        return missing_path_error(a);
    int why = file_follow(a, given, path);
    if (why)
        return why == ENOMEM
                   ? status_nomem()
                   : session_file_error(a, reason, given,
                                        "is a symbolic link without a target",
                                        file_error_words(why));
    if (stat(*path, &info) != 0 || S_ISREG(info.st_mode) ||
        S_ISDIR(info.st_mode))
        return NULL;            /* for a folder, opening it fails */
    return session_file_error(a, reason, given,
                              "is not a regular file, but a device or a pipe",
                              NULL);
}

static const allm_error *lock_file(struct lock *l, struct arena *a,
                                   const char *path)
{
    int why = lock_take(l, a->mem, path);
    if (!why)
        return NULL;
    if (why == ENOMEM)
        return status_nomem();
    if (why == EWOULDBLOCK)
        return session_file_error(
            a, "session_locked", path,
            "is in use by another program or session; wait until it is freed",
            NULL);
    return unwritable_error(a, path, "locked", why);
}

/* A session may wait for tools without a pending call: it can continue without
 * a message. */
static bool is_harmless(const allm_json *pair)
{
    return json_is(allm_json_at(pair, 0), "pending_tool_calls") &&
           json_is(allm_json_at(pair, 1), "required_for_status");
}

/* Can the session be used after loading?  NULL, or an error in the arena. */
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
        error = session_file_error(a, "damaged_session", path,
                                   "does not contain a valid session",
                                   found->message);
    allm_error_free(found);
    return error;
}

/* Replace the file by the document, if it can be loaded again. */
static const allm_error *replace_file(struct arena *a, const char *path,
                                      struct slice bytes)
{
    const char *limit = json_too_much(bytes);
    if (limit)
        return session_file_error(
            a, "session_too_large", path,
            "is not written, because it could not be loaded again; begin "
            "a new session, or remove old messages, images and tool "
            "results; a session may have at most",
            limit);
    int why = file_write_private(a, path, bytes);
    if (!why)
        return NULL;
    return why == ENOMEM ? status_nomem()
                         : unwritable_error(a, path, "written", why);
}

static const allm_error *write_record(const allm_session *s, struct arena *a,
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
        error = bytes.ptr ? replace_file(a, path, bytes) : status_nomem();
    allm_text_free(text);
    return error;
}

allm_status disk_save(allm_session *s, const char *path)
{
    struct lock mine = LOCK_NONE;
    if (s->invalid)
        return s->error->kind;
    arena_reset(&s->scratch);
    s->error = NULL;
    const allm_error *error = find_file(&s->scratch, &path,
                                        "unwritable_session");
    if (!error && !lock_is_on(&s->lock, path))
        error = lock_file(&mine, &s->scratch, path);
    if (!error)
        error = write_record(s, &s->scratch, path);
    lock_drop(&mine);
    return error ? state_refuse(s, error) : ALLM_OK;
}

/* Decode the document. */
static allm_session *decode_session(struct arena *a, const char *path,
                                    struct slice bytes)
{
    allm_codec *codec = allm_codec_decode(bytes.ptr, bytes.len, NULL, NULL);
    const allm_session_record *r = allm_codec_value(codec, ALLM_TYPE_SESSION);
    const allm_error *error = codec ? allm_codec_error(codec) : status_nomem();
    if (error && error->kind != ALLM_ERR_NOMEM)
        error = session_file_error(a, "damaged_session", path,
                                   "is damaged, or is not a session",
                                   error->message);
    else if (!error && !r)
        error = session_file_error(a, "not_a_session", path,
                                   "contains something else than a session",
                                   NULL);
    else if (!error)
        error = find_fault(r, a, path);
    allm_session *s = error ? state_invalid(error)
                            : allm_session_from_record(r);
    allm_codec_free(codec);
    return s;
}

static allm_session *read_session(struct arena *a, const char *path,
                                  uint32_t flags)
{
    struct slice bytes = { 0 };
    int why = file_read(a, path, LIMIT, &bytes);
    if (!why)
        return decode_session(a, path, bytes);
    if (why == ENOENT && (flags & ALLM_SESSION_CREATE))
        return allm_session_new(NULL);
    if (why == ENOMEM)
        return state_invalid(status_nomem());
    return state_invalid(why == ENOENT
                             ? session_file_error(a, "session_not_found", path,
                                                  "does not exist", NULL)
                             : session_file_error(a, "unreadable_session", path,
                                                  "cannot be read",
                                                  file_error_words(why)));
}

/* Move the lock to the session. */
static allm_session *move_lock(allm_session *s, struct lock *l)
{
    if (!s || s->invalid)
        return s;
    s->lock = *l;
    *l = LOCK_NONE;
    return s;
}

allm_session *disk_load(const char *path, uint32_t flags)
{
    struct lock l = LOCK_NONE;
    struct arena a = arena_in(mem_default());
    const allm_error *error = find_file(&a, &path, "unreadable_session");
    if (!error && (flags & ALLM_SESSION_LOCK))
        error = lock_file(&l, &a, path);
    allm_session *s = error ? state_invalid(error)
                            : move_lock(read_session(&a, path, flags), &l);
    lock_drop(&l);
    arena_release(&a);
    return s;
}
