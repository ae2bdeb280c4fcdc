/* walls.c - limits, privileges and Landlock, as the tool's process sets them */
#include "walls.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ------------------------------------------------------------ Landlock --- */

/* As in linux/landlock.h, which may be older than the kernel. */
enum {
    CALL_CREATE_RULESET = 444,
    CALL_ADD_RULE = 445,
    CALL_RESTRICT_SELF = 446,
    RULE_PATH = 1,
    RULE_PORT = 2,
    GET_VERSION = 1
};

#define FS_EXECUTE (UINT64_C(1) << 0)
#define FS_WRITE_FILE (UINT64_C(1) << 1)
#define FS_READ_FILE (UINT64_C(1) << 2)
#define FS_READ_DIR (UINT64_C(1) << 3)
#define FS_REFER (UINT64_C(1) << 13)     /* link and rename elsewhere */
#define FS_TRUNCATE (UINT64_C(1) << 14)
#define FS_IOCTL_DEV (UINT64_C(1) << 15)
#define FS_ABI_1 ((UINT64_C(1) << 13) - 1)
#define NET_BIND (UINT64_C(1) << 0)
#define NET_CONNECT (UINT64_C(1) << 1)
#define SCOPE_ALL UINT64_C(3)           /* abstract sockets, signals */

struct ruleset {
    uint64_t files, net, scoped;
};

struct path_rule {
    uint64_t allowed;
    int32_t parent;
} __attribute__((packed));

struct port_rule {
    uint64_t allowed, port;
};

int landlock_version(void)
{
    long v = syscall(CALL_CREATE_RULESET, NULL, 0, GET_VERSION);
    return v < 0 ? 0 : (int)v;
}

/* What a version of the kernel can restrict. */
static uint64_t known_rights(int version)
{
    return FS_ABI_1 | (version >= 2 ? FS_REFER : 0) |
           (version >= 3 ? FS_TRUNCATE : 0) | (version >= 5 ? FS_IOCTL_DEV : 0);
}

static uint64_t path_rights(enum access access, bool folder)
{
    uint64_t rights = FS_READ_FILE | FS_READ_DIR;
    if (access != ACCESS_READ)
        rights |= FS_EXECUTE;
    if (access == ACCESS_WRITE || access == ACCESS_PRIVATE)
        rights = ~FS_IOCTL_DEV;
    if (!folder)
        rights &= FS_EXECUTE | FS_WRITE_FILE | FS_READ_FILE | FS_TRUNCATE;
    return rights;
}

/* A path that the tool cannot reach anyway needs no rule. */
static bool is_absent(int error)
{
    return error == ENOENT || error == ENOTDIR || error == EACCES ||
           error == ELOOP;
}

static int allow_path(int rules, const char *path, enum access access,
                      uint64_t known)
{
    struct stat st;
    struct path_rule rule = { .parent = open(path, O_PATH | O_CLOEXEC) };
    if (rule.parent < 0)
        return is_absent(errno) ? 0 : errno;
    int error = fstat(rule.parent, &st) ? errno : 0;
    rule.allowed = path_rights(access, S_ISDIR(st.st_mode)) & known;
    if (!error && syscall(CALL_ADD_RULE, rules, RULE_PATH, &rule, 0))
        error = errno;
    close(rule.parent);
    return error;
}

static int allow_all(const struct orders *o, int rules, struct ruleset *set,
                     const char **path)
{
    int error = 0;
    for (size_t i = 0; set->files && !error && i < o->path_count; i++) {
        *path = o->path[i];
        error = allow_path(rules, o->path[i], o->access[i], set->files);
    }
    for (size_t i = 0; set->net && !error && i < o->port_count; i++) {
        struct port_rule rule = { NET_CONNECT, o->port[i] };
        *path = "port";
        if (syscall(CALL_ADD_RULE, rules, RULE_PORT, &rule, 0))
            error = errno;
    }
    return error;
}

int landlock_apply(const struct orders *o, const struct state *s,
                   const char **path)
{
    bool ports = !o->off[WALL_NET] && o->net == NET_TCP;
    struct ruleset set = { 0 };
    if (!o->off[WALL_FILES])
        set.files = known_rights(s->landlock);
    if (ports && s->landlock >= 4)
        set.net = NET_BIND | NET_CONNECT;
    if (!o->off[WALL_SIGNALS] && s->landlock >= 6)
        set.scoped = SCOPE_ALL;
    if (!set.files && !set.net && !set.scoped)
        return 0;
    /* Older kernels refuse a struct with members that they do not know. */
    size_t size = set.scoped ? sizeof set : set.net ? 16 : 8;
    int rules = (int)syscall(CALL_CREATE_RULESET, &set, size, 0);
    if (rules < 0)
        return errno;
    int error = allow_all(o, rules, &set, path);
    if (!error && syscall(CALL_RESTRICT_SELF, rules, 0))
        error = errno;
    close(rules);
    return error;
}

bool walls_write_list(const struct orders *o)
{
    struct stat st;
    for (size_t i = 0; i < o->path_count; i++)
        if (o->access[i] == ACCESS_WRITE && !stat(o->path[i], &st) &&
            (S_ISDIR(st.st_mode) || S_ISREG(st.st_mode)))
            return true;
    return false;
}

/* -------------------------------------------------------------- limits --- */

static int set_limit(int what, uint64_t most)
{
    struct rlimit old;
    if (getrlimit((__rlimit_resource_t)what, &old))
        return errno;
    rlim_t n = most < old.rlim_max ? (rlim_t)most : old.rlim_max;
    bool warns = what == RLIMIT_CPU && n < old.rlim_max;
    struct rlimit new = { n, n + warns };   /* SIGXCPU, then SIGKILL */
    return setrlimit((__rlimit_resource_t)what, &new) ? errno : 0;
}

/* All tasks of the machine: "0.10 0.20 0.30 2/345 6789". */
static uint64_t count_tasks(void)
{
    char text[128] = "";
    int fd = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    const char *slash = n > 0 ? strchr(text, '/') : NULL;
    return slash ? strtoull(slash + 1, NULL, 10) : 0;
}

/*
 * The kernel counts the processes of a user in each user namespace: in one of
 * our own these are the tool's.  Without one the limit must leave room for
 * everything that the user runs already.
 */
static uint64_t process_limit(const struct orders *o, const struct state *s)
{
    uint64_t procs = o->limit[LIMIT_PROCS];
    if (procs == LIMIT_NONE || s->mounts)
        return procs;
    uint64_t tasks = count_tasks();
    return tasks ? tasks + procs : LIMIT_NONE;
}

int limits_apply(const struct orders *o, const struct state *s)
{
    const struct {
        int what;
        enum wall wall;
        uint64_t most;
    } rows[] = {
        { RLIMIT_CPU, WALL_AMOUNT, o->limit[LIMIT_CPU] },
        { RLIMIT_AS, WALL_AMOUNT, o->limit[LIMIT_MEMORY] },
        { RLIMIT_FSIZE, WALL_AMOUNT, o->limit[LIMIT_DISK] },
        { RLIMIT_NOFILE, WALL_AMOUNT, o->limit[LIMIT_FILES] },
        { RLIMIT_NPROC, WALL_PROCESSES, process_limit(o, s) },
        { RLIMIT_CORE, WALL_PRIVILEGES, 0 },
    };
    int error = 0;
    for (size_t i = 0; !error && i < sizeof rows / sizeof *rows; i++)
        if (!o->off[rows[i].wall] && rows[i].most != LIMIT_NONE)
            error = set_limit(rows[i].what, rows[i].most);
    return error;
}

/* ---------------------------------------------------------- privileges --- */

/* The bounding set can only be reduced with a capability; without it, and with
 * no_new_privs, nothing can be gained from the set. */
int privileges_drop(void)
{
    struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
    struct __user_cap_data_struct none[2] = { { 0, 0, 0 }, { 0, 0, 0 } };
    for (unsigned long cap = 0; cap < 64; cap++)
        if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0))
            break;
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        return errno;
    return syscall(SYS_capset, &head, none) ? errno : 0;
}
