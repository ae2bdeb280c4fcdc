/*
 * filter.c - refuse system calls by number: tables that become a BPF program
 *
 * The architecture and the x32 numbers are checked first, and kill.  A refused
 * call fails with EPERM; io_uring and clone3 fail with ENOSYS, so that programs
 * fall back to what can be filtered.
 */
#include "walls.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
# define ARCHITECTURE AUDIT_ARCH_X86_64
# define X32_BIT 0x40000000u
#elif defined(__aarch64__)
# define ARCHITECTURE AUDIT_ARCH_AARCH64
# define X32_BIT 0u
#else
# define ARCHITECTURE 0u        /* this wall is missing */
# define X32_BIT 0u
#endif

/* Numbers are those of calls that the headers may not know; they are the same
 * on every architecture. */
static const uint32_t missing_calls[] = {
    425, 426, 427, 435,                 /* io_uring_*, clone3 */
};

static const uint32_t kernel_calls[] = {
    SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_kcmp,
    438, 440,                           /* pidfd_getfd, process_madvise */
    SYS_mount, SYS_umount2, SYS_chroot, SYS_pivot_root, SYS_setns, SYS_unshare,
    428, 429, 430, 431, 432, 433,       /* open_tree, move_mount, fs* */
    442, 467,                           /* mount_setattr, open_tree_attr */
    SYS_bpf, SYS_perf_event_open, SYS_kexec_load, SYS_init_module,
    SYS_finit_module, SYS_delete_module, SYS_add_key, SYS_request_key,
    SYS_keyctl, SYS_userfaultfd, SYS_open_by_handle_at, SYS_reboot, SYS_swapon,
    SYS_swapoff, SYS_settimeofday, SYS_clock_settime, SYS_clock_adjtime,
    SYS_adjtimex, SYS_sethostname, SYS_setdomainname, SYS_quotactl,
    443,                                /* quotactl_fd */
    SYS_acct, SYS_syslog, SYS_vhangup, SYS_fanotify_init,
#ifdef __x86_64__
    SYS_kexec_file_load, SYS_iopl, SYS_ioperm, SYS_modify_ldt, SYS_uselib,
#else
    294,                                /* kexec_file_load */
#endif
};

static const uint32_t staying_calls[] = { SYS_setsid, SYS_setpgid };

/* By path, and by descriptor, which may be open for reading only. */
static const uint32_t metadata_calls[] = {
    SYS_fchmod, SYS_fchmodat, SYS_fchown, SYS_fchownat, SYS_setxattr,
    SYS_lsetxattr, SYS_fsetxattr, SYS_removexattr, SYS_lremovexattr,
    SYS_fremovexattr,
    452, 463, 466, 469,                 /* fchmodat2, *xattrat, file_setattr */
#ifdef __x86_64__
    SYS_chmod, SYS_chown, SYS_lchown,
#endif
};

enum { PROGRAM_MOST = 512 };

struct program {
    struct sock_filter code[PROGRAM_MOST];
    unsigned short len;
};

static void add_code(struct program *p, struct sock_filter code)
{
    if (p->len < PROGRAM_MOST)
        p->code[p->len++] = code;
}

#define ADD(p, ...) add_code((p), (struct sock_filter)__VA_ARGS__)
#define RETURN(value) BPF_STMT(BPF_RET | BPF_K, (value))
#define REFUSE(error) RETURN(SECCOMP_RET_ERRNO | (error))
#define LOAD(member) \
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, \
             (uint32_t)offsetof(struct seccomp_data, member))
#define UNLESS(value, skip) \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, (skip))
#define WHEN(value, skip) \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), (skip), 0)

static void refuse_calls(struct program *p, const uint32_t *calls, size_t count,
                         uint32_t error)
{
    for (size_t i = 0; i < count; i++) {
        ADD(p, UNLESS(calls[i], 1));
        ADD(p, REFUSE(error));
    }
}

#define REFUSE_CALLS(p, table, error) \
    refuse_calls((p), (table), sizeof(table) / sizeof *(table), (error))

/* Of these arguments the kernel reads the low word only. */
static void check_kernel(struct program *p)
{
    const uint32_t spaces = CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC |
                            CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET |
                            CLONE_NEWCGROUP;
    REFUSE_CALLS(p, kernel_calls, EPERM);
    ADD(p, UNLESS(SYS_clone, 4));
    ADD(p, LOAD(args[0]));
    ADD(p, BPF_STMT(BPF_ALU | BPF_AND | BPF_K, spaces));
    ADD(p, WHEN(0, 1));
    ADD(p, REFUSE(EPERM));
    ADD(p, LOAD(nr));
    ADD(p, UNLESS(SYS_ioctl, 5));
    ADD(p, LOAD(args[1]));
    ADD(p, UNLESS(TIOCSTI, 1));
    ADD(p, REFUSE(EPERM));
    ADD(p, UNLESS(TIOCLINUX, 1));
    ADD(p, REFUSE(EPERM));
    ADD(p, LOAD(nr));
}

/* Which families socket() may use: none; TCP; or the internet, and the routing
 * socket that resolvers read.  socketpair() stays. */
static void check_net(struct program *p, enum net net)
{
    if (net == NET_NONE) {
        ADD(p, UNLESS(SYS_socket, 1));
        ADD(p, REFUSE(EPERM));
        return;
    }
    ADD(p, UNLESS(SYS_socket, net == NET_TCP ? 13 : 5));
    ADD(p, LOAD(args[0]));
    ADD(p, WHEN(AF_INET, 3));
    ADD(p, WHEN(AF_INET6, 2));
    ADD(p, WHEN(net == NET_ALL ? AF_NETLINK : AF_INET, 1));
    ADD(p, REFUSE(EPERM));
    if (net == NET_TCP) {
        ADD(p, LOAD(args[1]));
        ADD(p, BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xf));
        ADD(p, WHEN(SOCK_STREAM, 1));
        ADD(p, REFUSE(EPERM));
        ADD(p, LOAD(args[2]));          /* Landlock knows no other protocol */
        ADD(p, WHEN(0, 2));
        ADD(p, WHEN(IPPROTO_TCP, 1));
        ADD(p, REFUSE(EPERM));
    }
    ADD(p, LOAD(nr));
}

static void check_architecture(struct program *p)
{
    ADD(p, LOAD(arch));
    ADD(p, WHEN(ARCHITECTURE, 1));
    ADD(p, RETURN(SECCOMP_RET_KILL_PROCESS));
    ADD(p, LOAD(nr));
    if (X32_BIT) {
        ADD(p, BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, X32_BIT, 0, 1));
        ADD(p, RETURN(SECCOMP_RET_KILL_PROCESS));
    }
}

int filter_apply(const struct orders *o, const struct state *s)
{
    static struct program p;
    bool metadata = !o->off[WALL_METADATA] && !s->mounts && !s->write_list;
    if (o->off[WALL_KERNEL] && o->off[WALL_NET] && o->off[WALL_STAYING] &&
        !metadata)
        return 0;
    if (!ARCHITECTURE)
        return ENOSYS;
    check_architecture(&p);
    if (!o->off[WALL_KERNEL])
        REFUSE_CALLS(&p, missing_calls, ENOSYS);
    if (!o->off[WALL_STAYING])
        REFUSE_CALLS(&p, staying_calls, EPERM);
    if (metadata)
        REFUSE_CALLS(&p, metadata_calls, EPERM);
    if (!o->off[WALL_NET])
        check_net(&p, o->net);
    if (!o->off[WALL_KERNEL])
        check_kernel(&p);
    ADD(&p, RETURN(SECCOMP_RET_ALLOW));
    struct sock_fprog f = { .len = p.len, .filter = p.code };
    if (p.len == PROGRAM_MOST)
        return E2BIG;
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &f) ? errno : 0;
}
