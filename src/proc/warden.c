/* warden.c - find the program allm-warden */
#define _GNU_SOURCE             /* dladdr, secure_getenv */
#include "proc/warden.h"

#include "base/buf.h"
#include "base/status.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

/* The folder that contains the library, or the program that it is linked into,
 * without its last slash; empty: not known. */
static void library_folder(char folder[PATH_MAX])
{
    Dl_info info;
    char file[PATH_MAX];
    folder[0] = 0;
    if (!dladdr((void *)(uintptr_t)warden_path, &info) || !info.dli_fname)
        return;
    /* A static program is known by the name with which it was called. */
    bool has_folder = strchr(info.dli_fname, '/') != NULL;
    if (!realpath(has_folder ? info.dli_fname : "/proc/self/exe", file))
        return;
    *strrchr(file, '/') = 0;
    memcpy(folder, file, strlen(file) + 1);
}

static const char *relative_path(struct arena *a)
{
    char folder[PATH_MAX];
    library_folder(folder);
    struct buf path = buf_in(a, 2 * PATH_MAX);
    buf_text(&path, folder);
    buf_text(&path, "/../libexec/allm/allm-warden");
    return path.ptr;
}

const char *warden_path(struct arena *a, const allm_error **error)
{
    const char *named = secure_getenv("ALLM_WARDEN");
    const char *near = relative_path(a);
    *error = NULL;
    if (named && *named)
        near = named;           /* then no other place counts */
    if (near && !access(near, X_OK))
        return arena_text(a, near);
    if (near != named && !access(ALLM_WARDEN_PATH, X_OK))
        return ALLM_WARDEN_PATH;
    *error = status_error(
        a, ALLM_ERR_TOOL, "warden_missing",
        "no external process can be started, because the program allm-warden "
        "is missing; searched: %s%s%s; install it, or set ALLM_WARDEN to its "
        "path",
        near ? near : "", near == named ? "" : ", ",
        near == named ? "" : ALLM_WARDEN_PATH);
    return NULL;
}
