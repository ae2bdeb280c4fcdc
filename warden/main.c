/*
 * main.c - allm-warden: the parent of one external process
 *
 *      library --3--> instructions, "--", "term" or "kill"; its end is ours
 *              <-4--- what happened: one line each (docs/sandbox.md)
 *
 *      warden --> tool                     without a pid namespace
 *      warden --> init (pid 1) --> tool    with one
 *
 * Invariants
 *   (1) The tool and its descendants are in one process group, and are children
 *       of the warden or of init when their parents end.
 *   (2) "ended" is written when no descendant is left.
 *   (3) No memory is allocated after the start.
 */
#include "orders.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CONTROL = 3, REPORT = 4 };

static struct orders orders;
static char **command;
static int signals, host;       /* all signals are read here; our parent */
static pid_t first;             /* our first child: the tool, or init */
static bool reaped;             /* it: its number may be another's now */
static bool is_init;            /* we are pid 1 of a namespace */

/* What is in force, as far as it is known. */
static struct {
    unsigned id[2];             /* user, group */
    int landlock;               /* the kernel's ABI version; or less than 1 */
    bool mounts, pids;          /* the second wall */
    bool pid_max;               /* the namespace limits its processes */
} state;

/* In memory that the warden shares with init and the tool until exec. */
static struct shared {
    enum wall missing;          /* try again without it; WALL_COUNT: none */
    int error;                  /* why it is missing */
    const char *path;
    bool ended;                 /* the tool: its status */
    int status;
    struct rusage use;
} * shared;

/* A line is written at once, because several processes write. */
static void report(const char *what, const char *name, int n, const char *path)
{
    char line[1024];
    n = snprintf(line, sizeof line, "%s %s %d %.900s \n", what, name, n, path);
    (void)!write(REPORT, line, (size_t)n);
}

static void give_up(const char *what, const char *name, const char *path)
{
    report(what, name, errno, path);
    _exit(127);
}

/* A part that is not in force: nothing runs if it is required. */
static void demand(enum wall wall, bool in_force, const char *path)
{
    if (in_force || orders.off[wall])
        return;
    if (orders.required[wall])
        give_up("refused", wall_names[wall], path);
    report("missing", wall_names[wall], errno, path);
}

/* The warden tries again without this part of the second wall. */
static void do_without(enum wall wall, const char *path)
{
    *shared = (struct shared){ wall, errno, path, .status = SIGKILL };
    _exit(127);
}

/* The system's headers may be older than the kernel. */
enum {
    CALL_OPEN_TREE = 428, CALL_MOVE_MOUNT = 429, CALL_CLOSE_RANGE = 436,
    CALL_OPENAT2 = 437, CALL_MOUNT_SETATTR = 442, CALL_CREATE_RULESET = 444,
    CALL_ADD_RULE = 445, CALL_RESTRICT_SELF = 446, CALL_PIDFD_OPEN = 434,
    CALLS = 480, BLOCK = 32, NO_LINKS = 4, MOUNT_READ_ONLY = 1, TREE_CLONE = 1,
    WHOLE_TREE = 0x8000, GET_VERSION = 1, BOTH_FDS = 0x44, RULE_PATH = 1,
    X32 = 1 << 30, RULE_PORT = 2, NET_BIND = 1, NET_CONNECT = 2, SCOPE_ALL = 3,
    FS_EXECUTE = 1, FS_WRITE_FILE = 2, FS_READ_FILE = 4, FS_TRUNCATE = 0x4000,
    FS_READ = FS_READ_FILE | 8 /* folders */, FS_CHANGE = 0x7fff /* but DEV */,
    FS_OF_FILES = FS_EXECUTE | FS_WRITE_FILE | FS_READ_FILE | FS_TRUNCATE
};

/* What does not exist, or is out of reach anyway. */
static bool is_absent(void)
{
    return errno == ENOENT || errno == ENOTDIR || errno == EACCES ||
           errno == ELOOP;
}

/* It was resolved and approved: a link in its place is not followed. */
static int open_path(size_t i)
{
    const uint64_t how[] = { O_PATH | O_CLOEXEC, 0, NO_LINKS };
    return (int)syscall(CALL_OPENAT2, AT_FDCWD, orders.path[i], how, 24);
}

static bool write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool good = fd >= 0 && write(fd, text, strlen(text)) > 0;
    close(fd);                  /* a mount with writers stays as it is */
    return good;
}

static const uint64_t read_only[4] = { MOUNT_READ_ONLY };
/* First clone what may be changed, but not devices: they can be written to. */
static void mounts_apply(void)
{
    static int place[ORDERS_PATHS], tree[ORDERS_PATHS]; /* exec closes them */
    const int clone = AT_EMPTY_PATH | TREE_CLONE | WHOLE_TREE | O_CLOEXEC;
    char map[64];
    struct stat st;
    prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);     /* else the maps belong to root */
    write_file("/proc/self/setgroups", "deny");
    for (int i = 0; i < 2; i++) {           /* the numbers stay as they are */
        snprintf(map, sizeof map, "%u %u 1", state.id[i], state.id[i]);
        if (!write_file(i ? "/proc/self/gid_map" : "/proc/self/uid_map", map))
            do_without(WALL_MOUNTS, "/proc/self/uid_map");
    }
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    if (mount("", "/", NULL, MS_REC | MS_PRIVATE, NULL))
        do_without(WALL_MOUNTS, "/");
    for (size_t i = 0; i < orders.path_count; i++) {
        tree[i] = -1;
        if (orders.access[i] < ACCESS_WRITE ||
            ((place[i] = open_path(i)) < 0 && is_absent()) ||
            (!fstat(place[i], &st) && S_ISCHR(st.st_mode)))
            continue;
        tree[i] = (int)syscall(CALL_OPEN_TREE, place[i], "", clone);
        if (tree[i] < 0)
            do_without(WALL_MOUNTS, orders.path[i]);
    }
    if (syscall(CALL_MOUNT_SETATTR, AT_FDCWD, "/", WHOLE_TREE, read_only, 32))
        do_without(WALL_MOUNTS, "/");
    for (size_t i = 0; i < orders.path_count; i++)
        if (tree[i] >= 0 &&
            syscall(CALL_MOVE_MOUNT, tree[i], "", place[i], "", BOTH_FDS))
            do_without(WALL_MOUNTS, orders.path[i]);
}

static void pids_apply(void)
{
    unsigned long long n = orders.limit[LIMIT_PROCS];
    char text[32];
    if (mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL))
        do_without(WALL_PIDS, "/proc");
    snprintf(text, sizeof text, "%llu", n + 300);     /* below: used once */
    state.pid_max = n && !orders.off[WALL_PROCESSES] &&
                    write_file("/proc/sys/kernel/pid_max", text);
    syscall(CALL_MOUNT_SETATTR, AT_FDCWD, "/proc", 0, read_only, 32);
}

/* The kernel counts the processes of a user in each user namespace: in one of
 * our own these are the tool's, else all tasks of the user. */
static void limits_apply(void)
{
    static const int resources[] = { RLIMIT_CPU, RLIMIT_AS, RLIMIT_FSIZE,
                              RLIMIT_NOFILE, RLIMIT_NPROC, RLIMIT_NPROC };
    for (int i = 0; i < LIMIT_LINGER; i++) {
        enum wall wall = i < LIMIT_PROCS ? WALL_AMOUNT : WALL_PROCESSES;
        uint64_t n = orders.limit[i];
        struct rlimit r = { n, n + (i == LIMIT_CPU) };  /* SIGXCPU, SIGKILL */
        if (n && !orders.off[wall] &&
            i != (state.mounts ? LIMIT_TASKS : LIMIT_PROCS) &&
            setrlimit((__rlimit_resource_t)resources[i], &r) && errno != EPERM)
            demand(wall, false, limit_names[i]);    /* EPERM: it was lower */
    }
}

/* Without a capability the bounding set stays; no_new_privs disarms it. */
static void privileges_apply(void)
{
    struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
    struct __user_cap_data_struct none[2] = { { 0, 0, 0 }, { 0, 0, 0 } };
    if (orders.off[WALL_PRIVILEGES])
        return;
    for (unsigned long cap = 0; !prctl(PR_CAPBSET_DROP, cap, 0, 0, 0);)
        cap++;
    bool good = !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
                !setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 }) &&
                !syscall(SYS_capset, &head, none);
    demand(WALL_PRIVILEGES, good, "no_new_privs");
}

static void allow_path(int rules, size_t i, uint64_t known)
{
    const uint64_t rights[] = { FS_READ, FS_READ | FS_EXECUTE, FS_CHANGE,
                                FS_CHANGE };
    struct stat st;
    struct __attribute__((packed)) {
        uint64_t allowed;
        int32_t parent;
    } rule = { rights[orders.access[i]] & known, open_path(i) };
    if (rule.parent < 0 && is_absent())
        return;
    if (!fstat(rule.parent, &st) && !S_ISDIR(st.st_mode))
        rule.allowed &= FS_OF_FILES;
    if (syscall(CALL_ADD_RULE, rules, RULE_PATH, &rule, 0))
        give_up("refused", "files", orders.path[i]);
    close(rule.parent);
}

static void landlock_apply(void)
{
    int version = state.landlock;
    static const uint16_t known[] = { 0x1fff, 0x1fff, 0x3fff, 0x7fff, 0x7fff };
    uint64_t files = version < 5 ? known[version < 0 ? 0 : version] : 0xffff;
    bool ports = !orders.off[WALL_NET] && orders.net == NET_TCP && version >= 4;
    bool scopes = !orders.off[WALL_SIGNALS] && version >= 6;
    uint64_t set[] = { orders.off[WALL_FILES] || version < 1 ? 0 : files,
                       ports ? NET_BIND | NET_CONNECT : 0,
                       scopes ? SCOPE_ALL : 0 };
    if (!set[0] && !ports && !scopes)
        return;
    /* Older kernels refuse a struct with members that they do not know. */
    size_t size = scopes ? 24 : ports ? 16 : 8;
    int rules = (int)syscall(CALL_CREATE_RULESET, set, size, 0);
    for (size_t i = 0; set[0] && i < orders.path_count; i++)
        allow_path(rules, i, files);
    for (size_t i = 0; ports && i < orders.port_count; i++) {
        uint64_t rule[] = { NET_CONNECT, orders.port[i] };
        if (syscall(CALL_ADD_RULE, rules, RULE_PORT, rule, 0))
            give_up("refused", "net", "port");
    }
    if (syscall(CALL_RESTRICT_SELF, rules, 0))
        give_up("refused", "files", "Landlock");
}

#if defined(__x86_64__)
# define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
# define ARCHITECTURE AUDIT_ARCH_AARCH64
#else
# define ARCHITECTURE 0u        /* this wall is missing */
#endif

/* Numbers are those of calls that the headers may not know: 425 to 435 are
 * io_uring_* and clone3; from 472 on, unknown ones.  Attributes hold data. */
static const struct {
    enum wall wall;
    uint16_t error;
    uint32_t call[56];          /* no list has call 0 */
} lists[] = {
    { WALL_KERNEL, ENOSYS, { 425, 426, 427, 435, 472, 473, 474, 475, 476, 477,
                             478, 479 } },      /* and all that follow */
    { WALL_STAYING, EPERM, { SYS_setsid, SYS_setpgid } },
    { WALL_FILES, ENOTSUP, { SYS_getxattr, SYS_lgetxattr, SYS_listxattr,
                             SYS_llistxattr, 464, 465 } },
    { WALL_SIGNALS, EPERM, {    /* objects of other processes */
        SYS_shmget, SYS_shmat, SYS_shmctl, SYS_semget, SYS_semop, SYS_semctl,
        SYS_semtimedop, SYS_msgget, SYS_msgsnd, SYS_msgrcv, SYS_msgctl,
        SYS_mq_open, SYS_mq_unlink } },
    { WALL_METADATA, EPERM, {   /* 452: fchmodat2; *xattrat, file_* */
        SYS_fchmod, SYS_fchmodat, SYS_fchown, SYS_fchownat, SYS_setxattr,
        SYS_lsetxattr, SYS_fsetxattr, SYS_removexattr, SYS_lremovexattr,
#ifdef __x86_64__
        SYS_chmod, SYS_chown, SYS_lchown,
#endif
        SYS_fremovexattr, 452, 463, 466, 469 } },
    { WALL_KERNEL, EPERM, {
        SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_kcmp,
        SYS_mount, SYS_umount2, SYS_chroot, SYS_pivot_root, SYS_setns, SYS_acct,
        428, 429, 430, 431, 432, 433, 438, 440, 442, 443, 467,  /* as these */
        SYS_unshare, SYS_quotactl, SYS_bpf, SYS_perf_event_open, SYS_syslog,
        SYS_kexec_load, SYS_kexec_file_load, SYS_init_module, SYS_reboot,
        SYS_finit_module, SYS_delete_module, SYS_add_key, SYS_request_key,
        SYS_keyctl, SYS_userfaultfd, SYS_open_by_handle_at, SYS_swapon,
        SYS_swapoff, SYS_settimeofday, SYS_clock_settime, SYS_clock_adjtime,
#ifdef __x86_64__
        SYS_iopl, SYS_ioperm, SYS_modify_ldt, SYS_uselib,
#endif
        SYS_adjtimex, SYS_sethostname, SYS_setdomainname, SYS_vhangup,
        SYS_fanotify_init } },
};

/* Refuse a call if, or unless, the low word of an argument, of which the kernel
 * reads no more, has one of three values.  `net`: with this network, or with
 * each (-1).  Landlock does not see the port of MSG_FASTOPEN or listen().  A
 * pair of datagram sockets can send to others.  SELF: for the caller only. */
#define SOCKET(net) WALL_NET, (net), SYS_socket, UNLESS
#define TCP(call) WALL_NET, NET_TCP, SYS_##call
#define PAIR WALL_NET, -1, SYS_socketpair, UNLESS
#define IOCTL(wall) WALL_##wall, -1, SYS_ioctl, IF, 1
#define SELF(c, n, v) { WALL_SIGNALS, -1, SYS_##c, UNLESS, n, ~0u, { v, v, v } }
static const struct check {
    enum wall wall;
    int net;
    uint32_t call;
    enum { UNLESS, IF } kind;
    uint32_t arg, mask, value[3];
} checks[] = {
    { WALL_KERNEL, -1, SYS_clone, UNLESS, 0, 0x7e020000, { 0 } },   /* NEW* */
    { IOCTL(KERNEL), ~0u, { TIOCSTI, TIOCLINUX, TIOCSETD } },
    { IOCTL(KERNEL), ~0u, { 0xc0506617, 0xc0406618, 0xc0406619 } }, /* keys */
    { IOCTL(METADATA), 0xc000ff00, { 0x40006600, 0x40007600, 0x40005800 } },
    { IOCTL(METADATA), ~0u, { 0x6609, 0x660c, 0x800c6613 } },   /* of ext4 */
    { IOCTL(METADATA), 0xff00, { 0x9400, 0xf500, 0x7200 } },    /* Btrfs, FAT */
    { WALL_NET, NET_NONE, SYS_socket, IF, 0, 0, { 0 } },
    { SOCKET(NET_ALL), 0, ~0u, { AF_INET, AF_INET6, AF_NETLINK } },
    { SOCKET(NET_TCP), 0, ~0u, { AF_INET, AF_INET6, AF_INET } },
    { SOCKET(NET_TCP), 1, 0xf, { SOCK_STREAM, SOCK_STREAM, SOCK_STREAM } },
    { SOCKET(NET_TCP), 2, ~0u, { 0, IPPROTO_TCP, IPPROTO_TCP } },
    { TCP(sendto), UNLESS, 3, MSG_FASTOPEN, { 0 } },
    { TCP(sendmsg), UNLESS, 2, MSG_FASTOPEN, { 0 } },
    { TCP(sendmmsg), UNLESS, 3, MSG_FASTOPEN, { 0 } },
    { TCP(listen), IF, 0, 0, { 0 } },
    { PAIR, 0, ~0u, { AF_UNIX, AF_UNIX, AF_UNIX } },
    { PAIR, 1, 0xf, { SOCK_STREAM, SOCK_SEQPACKET, SOCK_STREAM } },
    SELF(prlimit64, 0, 0), SELF(sched_setaffinity, 0, 0),
    SELF(sched_setscheduler, 0, 0), SELF(sched_setattr, 0, 0),
    SELF(sched_setparam, 0, 0), SELF(setpriority, 0, 0),
    SELF(setpriority, 1, 0), SELF(ioprio_set, 0, 1), SELF(ioprio_set, 1, 0),
};

#define OFFSET(member) ((uint32_t)offsetof(struct seccomp_data, member))
#define LOAD BPF_LD | BPF_W | BPF_ABS
#define COMPARE BPF_JMP | BPF_JEQ | BPF_K
#define AT_LEAST BPF_JMP | BPF_JGE | BPF_K
#define RETURN BPF_RET | BPF_K

/* The kernel tries the filter with every number when it is installed.  So calls
 * are in blocks, which one comparison skips. */
static uint16_t refused[CALLS];         /* with this error; or 0 */
static struct sock_filter program[BPF_MAXINSNS] = {     /* there is room */
    BPF_STMT(LOAD, OFFSET(arch)), BPF_JUMP(COMPARE, ARCHITECTURE, 1, 0),
    BPF_STMT(RETURN, SECCOMP_RET_KILL_PROCESS), BPF_STMT(LOAD, OFFSET(nr)),
    BPF_JUMP(AT_LEAST, X32, 0, 1), BPF_STMT(RETURN, SECCOMP_RET_KILL_PROCESS),
};
static struct sock_fprog filter = { 6, program };

/* `yes` and `no` are how many instructions a comparison skips. */
static void add_code(unsigned code, uint32_t k, unsigned yes, unsigned no)
{
    program[filter.len++] = (struct sock_filter){ (uint16_t)code, (uint8_t)yes,
                                                  (uint8_t)no, k };
}

static void add_check(const struct check *c)
{
    bool hit = c->kind == IF;
    if (orders.off[c->wall] || (c->net >= 0 && c->net != orders.net))
        return;
    add_code(COMPARE, c->call, 0, 7);
    add_code(LOAD, OFFSET(args) + 8 * c->arg, 0, 0);
    add_code(BPF_ALU | BPF_AND | BPF_K, c->mask, 0, 0);
    add_code(COMPARE, c->value[0], 3 - hit, 0);
    add_code(COMPARE, c->value[1], 2 - hit, 0);
    add_code(COMPARE, c->value[2], !hit, hit);
    add_code(RETURN, SECCOMP_RET_ERRNO | EPERM, 0, 0);
    add_code(LOAD, OFFSET(nr), 0, 0);
}

static void add_block(uint32_t from)
{
    size_t begin = filter.len;
    add_code(AT_LEAST, from + BLOCK, 0, 0);
    for (uint32_t call = from; call < from + BLOCK; call++) {
        if (refused[call]) {
            add_code(COMPARE, call, 0, 1);
            add_code(RETURN, SECCOMP_RET_ERRNO | refused[call], 0, 0);
        }
        for (size_t i = 0; i < sizeof checks / sizeof *checks; i++)
            if (checks[i].call == call)
                add_check(&checks[i]);
    }
    program[begin].jt = (uint8_t)(filter.len - begin);
    add_code(RETURN, SECCOMP_RET_ALLOW, 0, 0);
    if (program[begin].jt == 1)
        filter.len = (unsigned short)begin;
}

static void filter_apply(void)
{
    bool alone = !orders.terminal;  /* not with the caller's files and group */
    orders.off[WALL_METADATA] |= orders.write_list || (state.mounts && alone);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        for (const uint32_t *c = lists[i].call; *c; c++)
            if (!orders.off[lists[i].wall])
                refused[*c] = lists[i].error;
    orders.off[WALL_SIGNALS] |= state.pids && alone;
    for (uint32_t call = 0; call < CALLS; call += BLOCK)
        add_block(call);
    if (!orders.off[WALL_KERNEL])
        add_code(RETURN, SECCOMP_RET_ERRNO | ENOSYS, 0, 0);
    add_code(RETURN, SECCOMP_RET_ALLOW, 0, 0);
    errno = ENOSYS;
    if (filter.len > 7 &&       /* else all walls are off */
        (!ARCHITECTURE || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter)))
        give_up("refused", "kernel", "seccomp");
}

/* What the kernel's version and the namespaces decide. */
static void check_state(void)
{
    bool alone = state.pids && !orders.terminal;
    errno = ENOSYS;
    demand(WALL_FILES, state.landlock >= 1, "Landlock");
    demand(WALL_METADATA, state.mounts || !orders.write_list, "mounts");
    demand(WALL_NET, state.landlock > 3 || orders.net != NET_TCP, "Landlock 4");
    demand(WALL_SIGNALS, state.landlock >= 6 || alone, "Landlock 6");
    demand(WALL_PROCESSES, state.pid_max || state.id[0], "pid_max");
    errno = shared->error;
    demand(WALL_MOUNTS, state.mounts, shared->path);
    demand(WALL_PIDS, state.pids, shared->path);
}

static void run_tool(void)
{
    if (!orders.terminal)
        setpgid(0, 0);
    if (orders.dir && chdir(orders.dir))
        give_up("failed", "dir", orders.dir);
    check_state();
    sigprocmask(SIG_SETMASK, &(sigset_t){ { 0 } }, NULL);
    limits_apply();
    privileges_apply();
    landlock_apply();
    filter_apply();
    if (!strcmp(command[0], "-"))
        _exit(state.landlock);  /* at most 127, or -1 */
    execve(command[0], command, orders.env);
    give_up("failed", "exec", command[0]);
}

/* Reap what has ended; false: there are no children. */
static bool reap(void)
{
    int status;
    struct rusage use;
    pid_t pid;
    while ((pid = wait4(-1, &status, WNOHANG | __WALL, &use)) > 0) {
        if (pid == first && !reaped && (is_init || !state.pids))
            *shared = (struct shared){ shared->missing, shared->error,
                                       shared->path, true, status, use };
        reaped = reaped || pid == first;
    }
    return pid == 0;
}

/* A number is a child's own until we reap it, and so is that of its group. */
static void kill_all(void)
{
    char text[4096] = "", *end = text;
    if (is_init)
        _exit(0);               /* the kernel kills the rest of the namespace */
    int fd = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
    if (!reaped || fd < 0)      /* without the list there is no other way */
        kill(-first, SIGKILL);
    if (!reaped)
        kill(first, SIGKILL);   /* it may not be a group yet */
    (void)!read(fd, text, sizeof text - 1);     /* the last may be cut */
    for (pid_t pid; (pid = (pid_t)strtol(end, &end, 10)) > 1 && *end == ' ';)
        kill(getpgid(pid) == first ? -first : pid, SIGKILL);
    close(fd);
}

/* Sleep until something happens; true: kill everything. */
static bool wait_for_news(int ms)
{
    struct signalfd_siginfo news;
    char text[64];
    bool politely = false;      /* init passes it on */
    struct pollfd fds[] = { { is_init ? -1 : CONTROL, POLLIN, 0 },
                            { host, POLLIN, 0 }, { signals, POLLIN, 0 } };
    poll(fds, 3, ms);
    while (read(signals, &news, sizeof news) > 0)
        politely |= news.ssi_signo == SIGTERM && is_init;
    if (fds[0].revents || fds[1].revents) {     /* or a copy holds CONTROL */
        ssize_t n = fds[1].revents ? 0 : read(CONTROL, text, sizeof text);
        if (n <= 0 || memchr(text, 'k', (size_t)n))
            return true;
        politely = true;
    }
    if (politely && !reaped)
        kill(orders.terminal || (state.pids && !is_init) ? first : -first,
             SIGTERM);
    return false;
}

static void tend(void)
{
    int64_t last = INT64_MAX;   /* when the rest is killed */
    struct timespec t;
    while (reap()) {
        clock_gettime(CLOCK_MONOTONIC, &t);
        int64_t now = t.tv_sec * INT64_C(1000) + t.tv_nsec / 1000000;
        if (shared->ended && last == INT64_MAX)
            last = now + (int64_t)orders.limit[LIMIT_LINGER];
        int64_t ms = now < last ? last - now : 2;
        if (now >= last)
            kill_all();
        if (wait_for_news(last == INT64_MAX ? -1 : (int)ms))
            last = 0;
    }
}

/* fork(), into new namespaces; false: it is not possible. */
static bool start(unsigned long spaces, void (*run)(void))
{
    reaped = false;
    first = (pid_t)syscall(SYS_clone, spaces | SIGCHLD, 0, 0, 0, 0);
    if (first == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
        if (!is_init && !(spaces & CLONE_NEWPID))
            report("started", "pid", (int)getpid(), ""); /* it may kill us */
        run();
    }
    if (first > 0 && run == run_tool)
        close(STDOUT_FILENO);   /* its end is seen if the tool closes it */
    if (first > 0 && run == run_tool && !orders.terminal)
        setpgid(first, first);
    return first > 0;
}

static void run_in_space(void)
{
    mounts_apply();
    if (!state.pids)
        run_tool();
    pids_apply();
    is_init = true;
    if (!start(0, run_tool))
        give_up("failed", "fork", "");
    tend();
    _exit(0);
}

/* False: try again without the missing part of the second wall. */
static bool run_all(void)
{
    unsigned long spaces = state.mounts ? CLONE_NEWUSER | CLONE_NEWNS : 0;
    shared->missing = WALL_COUNT;
    shared->ended = false;
    spaces |= state.pids ? CLONE_NEWPID : 0;
    if (start(spaces, spaces ? run_in_space : run_tool)) {
        if (spaces & CLONE_NEWPID)      /* it does not know its number */
            report("started", "pid", (int)first, "");
        tend();
    } else if (spaces) {
        shared->missing = WALL_MOUNTS;
        shared->error = errno;
    } else {
        report("failed", "fork", errno, "");
    }
    state.mounts = state.mounts && shared->missing != WALL_MOUNTS;
    state.pids = state.pids && shared->missing == WALL_COUNT;
    return shared->missing == WALL_COUNT;
}

/* False: the library is gone, or wrong.  *more: "term" or "kill" came, too. */
static bool read_orders(bool *more)
{
    static char text[256 * 1024] = "\n";
    char *end = NULL, *rest = text, *line;
    for (size_t len = 1; !end; end = strstr(text, "\n--\n")) {
        ssize_t n = read(CONTROL, text + len, sizeof text - 1 - len);
        if (n <= 0)
            return false;
        len += (size_t)n;
    }
    *more = end[4];
    *end = 0;
    while ((line = strsep(&rest, "\n")))
        if (*line && !orders_line(&orders, line)) {
            report("failed", "orders", 0, line);
            return false;
        }
    return true;
}

/* Nothing but our five descriptors is inherited, or nothing runs. */
static bool set_up(void)
{
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    state.id[0] = geteuid();
    state.id[1] = getegid();
    state.landlock = (int)syscall(CALL_CREATE_RULESET, NULL, 0, GET_VERSION);
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return shared != MAP_FAILED && !fcntl(CONTROL, F_SETFD, FD_CLOEXEC) &&
           !fcntl(REPORT, F_SETFD, FD_CLOEXEC) &&
           !syscall(CALL_CLOSE_RANGE, REPORT + 1, ~0u, 0) &&
           (host = (int)syscall(CALL_PIDFD_OPEN, getppid(), 0)) &&
           (signals = signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK)) >= 0;
}

int main(int argc, char **argv)
{
    bool called_off;
    command = argv + 1;
    if (argc < 2 || !set_up()) {
        fputs("allm-warden: use \"allm sandbox -- COMMAND\"\n", stderr);
        return 2;
    }
    if (!read_orders(&called_off))
        return 1;
    if (!orders.terminal)
        setpgid(0, 0);
    state.mounts = !orders.off[WALL_MOUNTS];
    state.pids = state.mounts && !orders.off[WALL_PIDS];
    *shared = (struct shared){ .status = SIGKILL, .path = "namespaces" };
    while (!called_off && !run_all())
        ;
    const struct timeval *u = &shared->use.ru_utime, *k = &shared->use.ru_stime;
    dprintf(REPORT, "ended %d %d %lld %ld \n", WEXITSTATUS(shared->status),
            WTERMSIG(shared->status),
            (u->tv_sec + k->tv_sec) * 1000000LL + u->tv_usec + k->tv_usec,
            shared->use.ru_maxrss);
    return 0;
}
