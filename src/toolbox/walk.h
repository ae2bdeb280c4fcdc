/* walk.h - visit the files and folders below a folder, in the order of names */
#pragma once

#include "base/buf.h"
#include "toolbox/root.h"

enum walk_kind { WALK_FILE, WALK_FOLDER, WALK_LINK, WALK_OTHER };

/* Borrowed until visit() returns. */
struct walk_entry {
    const char *path;           /* relative to the root */
    const char *name;
    int dir;                    /* the open folder that contains it */
    enum walk_kind kind;
    unsigned depth;             /* 1: in the folder itself */
    bool last;                  /* of its folder */
    size_t size;                /* of the path */
};

struct ignore;

/*
 * The caller fills in the first members.  Links are not followed.  Without
 * `all`, .git is left out and so is what .gitignore excludes, with the rules
 * of all folders from the root on.
 */
struct walk {
    const struct root *root;
    struct mem mem;
    bool all;
    unsigned depth_most;        /* 0: WALK_DEPTH */
    bool (*visit)(void *ud, const struct walk_entry *e);    /* false: stop */
    void *ud;

    struct arena arena, scratch;
    struct buf path;
    bool stopped;
    size_t unread;              /* folders that could not be opened */
};

enum { WALK_DEPTH = 64 };

/* Returns 0, or an errno for the folder itself, or ENOMEM. */
int walk_below(struct walk *w, const char *path);

/* The path as it is shown: relative to the root, without "./" and a slash at
 * its end; "" for the root.  In the arena; NULL: out of memory. */
const char *walk_shown(const struct root *r, struct arena *a, const char *path);
