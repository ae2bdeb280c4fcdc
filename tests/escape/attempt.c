/*
 * attempt.c - one attempt to leave the sandbox per name
 *
 * usage: attempt NAME         exit status 0: it succeeded; 1: it was refused
 *        attempt --no-namespaces COMMAND...   run it where they are forbidden
 *        attempt --no-landlock COMMAND...     run it where it does not exist
 *
 * The variables OUTSIDE (a folder, in which `secret` is a file), LINK (to it),
 * HOST (a process id), PORT, ABSTRACT (of listeners), TERMINAL, SHARED (memory)
 * and QUEUE say what to reach, MANY how many processes; HOME may be written.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/fs.h>
#include <linux/fscrypt.h>
#include <linux/netlink.h>
#include <linux/seccomp.h>
#include <linux/vm_sockets.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mount.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

/* A path below the folder that a variable names; two may be in use. */
static const char *path_in(const char *variable, const char *name)
{
    static char paths[2][4096];
    static int next;
    const char *folder = getenv(variable);
    char *path = paths[next++ % 2];
    snprintf(path, sizeof paths[0], "%s/%s", folder ? folder : "/none", name);
    return path;
}

static const char *secret(void)
{
    return path_in("OUTSIDE", "secret");
}

static bool can_read(const char *path)
{
    char byte;
    int fd = open(path, O_RDONLY);
    return fd >= 0 && read(fd, &byte, 1) == 1;
}

/* --------------------------------------------------------------- files --- */

static bool read_key(void)
{
    return can_read(secret());
}
static bool read_shadow(void)
{
    return can_read("/etc/shadow");
}

static bool read_environ(void)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%s/environ", getenv("HOST"));
    return can_read(path);
}

static bool list_outside(void)
{
    return open(getenv("OUTSIDE"), O_RDONLY | O_DIRECTORY) >= 0;
}

static bool write_outside(void)
{
    return open(path_in("OUTSIDE", "new"), O_WRONLY | O_CREAT, 0600) >= 0;
}

static bool change_outside(void)
{
    int fd = open(secret(), O_WRONLY);
    return fd >= 0 && write(fd, "x", 1) == 1;
}

static bool truncate_outside(void)
{
    return !truncate(secret(), 3);
}
static bool remove_outside(void)
{
    return !unlink(secret());
}

static bool mkdir_outside(void)
{
    return !mkdir(path_in("OUTSIDE", "folder"), 0700);
}

static bool symlink_outside(void)
{
    return !symlink("/etc", path_in("OUTSIDE", "link"));
}

static bool link_inside(void)
{
    return !link(secret(), path_in("HOME", "stolen"));
}

/* What may be read could be changed by another name. */
static bool link_readable(void)
{
    const char *name = path_in("HOME", "mine");
    return !link(path_in("READABLE", "file"), name) &&
           open(name, O_WRONLY) >= 0;
}

static bool rename_inside(void)
{
    return !rename(secret(), path_in("HOME", "stolen"));
}

static bool run_outside(void)
{
    pid_t pid = fork();
    int status = 1;
    if (pid == 0) {
        execl(path_in("OUTSIDE", "program"), "program", NULL);
        _exit(1);
    }
    return waitpid(pid, &status, 0) == pid && !status;
}

/* A descriptor of the path alone, opened again by way of /proc. */
static bool reopen_path(void)
{
    char path[64];
    int fd = open(secret(), O_PATH);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return can_read(path);
}

static bool run_descriptor(void)
{
    static char name[] = "program";
    char *argv[] = { name, NULL };
    pid_t pid = fork();
    int status = 1;
    if (pid == 0) {
        int fd = open(path_in("OUTSIDE", "program"), O_PATH);
        syscall(SYS_execveat, fd, "", argv, argv + 1, AT_EMPTY_PATH);
        _exit(1);
    }
    return waitpid(pid, &status, 0) == pid && !status;
}

/* The file of a link that was put where the orders name a folder. */
static bool read_through_link(void)
{
    return can_read(path_in("LINK", "secret"));
}

static bool list_through_link(void)
{
    return open(getenv("LINK"), O_RDONLY | O_DIRECTORY) >= 0;
}

static bool write_through_link(void)
{
    return open(path_in("LINK", "new"), O_WRONLY | O_CREAT, 0600) >= 0;
}

static bool can_read_host(const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "/proc/%s/%s", getenv("HOST"), name);
    return can_read(path);
}

static bool read_root_of_host(void)
{
    return can_read_host("root/etc/passwd");
}
static bool read_map_of_host(void)
{
    return can_read_host("maps");
}

/* The kernel's choice of whom to end when memory is short. */
static bool change_oom_of_host(void)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%s/oom_score_adj", getenv("HOST"));
    int fd = open(path, O_WRONLY);
    return fd >= 0 && write(fd, "900", 3) == 3;
}

/* A setting of the kernel: its owner is root, with or without capabilities. */
static bool open_setting(void)
{
    return open("/proc/sys/kernel/core_pattern", O_WRONLY) >= 0;
}

static bool open_terminal(void)
{
    return open(getenv("TERMINAL"), O_RDWR | O_NOCTTY) >= 0;
}

static bool share_memory_file(void)
{
    const char *path = "/dev/shm/allm-escape";
    int fd = open(path, O_RDWR | O_CREAT, 0600);
    unlink(path);
    return fd >= 0;
}

/* Attributes have content, such as where a file was downloaded from. */
static bool read_attribute(void)
{
    char value[16];
    return getxattr(secret(), "user.allm", value, sizeof value) > 0;
}
static bool list_attributes(void)
{
    return listxattr(secret(), NULL, 0) > 0;
}

/* ------------------------------------------------------------ metadata --- */

/* Flags of a file, such as "no dump", by a descriptor for reading. */
static bool flags_readable(void)
{
    int fd = open(path_in("READABLE", "file"), O_RDONLY), flags = 0;
    return fd >= 0 && !ioctl(fd, FS_IOC_GETFLAGS, &flags) &&
           !ioctl(fd, FS_IOC_SETFLAGS, &(int){ flags ^ FS_NODUMP_FL });
}

static bool version_readable(void)
{
    int fd = open(path_in("READABLE", "file"), O_RDONLY);
    return fd >= 0 && !ioctl(fd, FS_IOC_SETVERSION, &(int){ 7 });
}

static bool chmod_outside(void)
{
    return !chmod(secret(), 0644);
}
static bool chown_outside(void)
{
    return !chown(secret(), getuid(), getgid());
}

/* A file that may be read can be opened, and changed by its descriptor. */
static bool fchmod_readable(void)
{
    int fd = open(path_in("READABLE", "file"), O_RDONLY);
    return fd >= 0 && !fchmod(fd, 0640);
}

/* The permissions that it has: other processes need it. */
static bool chmod_device(void)
{
    struct stat st;
    return !stat("/dev/null", &st) && !chmod("/dev/null", st.st_mode & 07777);
}

/* What the caller gave us is on a mount of its own. */
static bool chmod_input(void)
{
    return !fchmod(0, 0666);
}

static bool xattr_outside(void)
{
    return !syscall(SYS_setxattr, secret(), "user.allm", "x", 1, 0);
}

/* ------------------------------------------------------------- network --- */

static struct sockaddr_in loopback(void)
{
    return (struct sockaddr_in){
        .sin_family = AF_INET,
        .sin_port = htons((uint16_t)atoi(getenv("PORT"))),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };
}

static bool connect_inet(int type)
{
    struct sockaddr_in to = loopback();
    int fd = socket(AF_INET, type, 0);
    return fd >= 0 && !connect(fd, (struct sockaddr *)&to, sizeof to);
}

static bool connect_tcp(void)
{
    return connect_inet(SOCK_STREAM);
}
static bool connect_udp(void)
{
    return connect_inet(SOCK_DGRAM);
}

/* The orders of these two have another port. */
static bool connect_other_port(void)
{
    return connect_inet(SOCK_STREAM);
}

/* A name with a NUL before it, or a path with one behind it. */
static bool connect_unix(const char *name, bool abstract)
{
    struct sockaddr_un to = { .sun_family = AF_UNIX };
    size_t len = strlen(name) + 1;
    snprintf(to.sun_path + abstract, sizeof to.sun_path - abstract, "%s", name);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len);
    return fd >= 0 && !connect(fd, (struct sockaddr *)&to, size);
}

static bool connect_socket(void)
{
    return connect_unix(path_in("OUTSIDE", "socket"), false);
}

static bool connect_abstract(void)
{
    return connect_unix(getenv("ABSTRACT"), true);
}

/* The kernel treats a raw socket of this family as one for datagrams. */
static bool send_from_pair(void)
{
    struct sockaddr_un to = { .sun_family = AF_UNIX };
    int pair[2];
    snprintf(to.sun_path, sizeof to.sun_path, "%s",
             path_in("OUTSIDE", "datagrams"));
    return !socketpair(AF_UNIX, SOCK_RAW, 0, pair) &&
           sendto(pair[0], "x", 1, 0, (struct sockaddr *)&to, sizeof to) == 1;
}

/* To a port that is not in the list: data may be sent with the connection. */
static bool connect_by_sending(void)
{
    struct sockaddr_in to = loopback();
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    return fd >= 0 && sendto(fd, "x", 1, MSG_FASTOPEN | MSG_NOSIGNAL,
                             (struct sockaddr *)&to, sizeof to) == 1;
}

/* Without bind(), the kernel chooses a port. */
static bool listen_anywhere(void)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    return fd >= 0 && !listen(fd, 1);
}

static bool open_alg(void)
{
    return socket(AF_ALG, SOCK_SEQPACKET, 0) >= 0;
}
static bool open_packet(void)
{
    return socket(AF_PACKET, SOCK_DGRAM, 0) >= 0;
}
static bool open_vsock(void)
{
    return socket(AF_VSOCK, SOCK_STREAM, 0) >= 0;
}
static bool open_netlink(void)
{
    return socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE) >= 0;
}
static bool open_raw(void)
{
    return socket(AF_INET, SOCK_RAW, IPPROTO_ICMP) >= 0;
}

/* ----------------------------------------------------- other processes --- */

static pid_t host(void)
{
    return atoi(getenv("HOST"));
}

static bool kill_host(void)
{
    return !kill(host(), 0);
}

static bool signal_pidfd(void)
{
    int fd = (int)syscall(SYS_pidfd_open, host(), 0);
    return fd >= 0 && !syscall(SYS_pidfd_send_signal, fd, 0, NULL, 0);
}

/* As good as a signal: 0 seconds of CPU time end a process. */
static bool limit_host(void)
{
    struct rlimit r;
    return !prlimit(host(), RLIMIT_CPU, NULL, &r) &&
           !prlimit(host(), RLIMIT_CPU, &r, NULL);
}

static bool slow_host(void)
{
    return !setpriority(PRIO_PROCESS, (id_t)host(), 19);
}

/* In a terminal, the group has the warden and its caller, too. */
static bool slow_group(void)
{
    setpriority(PRIO_PGRP, 0, 19);      /* fails if one of them refuses */
    return getpriority(PRIO_PROCESS, 0) == 19;
}

static bool pin_host(void)
{
    cpu_set_t set;
    return !sched_getaffinity(host(), sizeof set, &set) &&
           !sched_setaffinity(host(), sizeof set, &set);
}

static bool idle_host(void)
{
    struct sched_param none = { 0 };
    return !sched_setscheduler(host(), SCHED_BATCH, &none);
}

static bool rate_host(void)
{
    struct sched_param none = { 0 };
    return !sched_setparam(host(), &none);
}

static bool slow_disk_of_host(void)
{
    enum { PROCESS = 1, LOWEST = 2 << 13 | 7 };
    return !syscall(SYS_ioprio_set, PROCESS, host(), LOWEST);
}

/* Of the memory that the runner shares with its user's processes. */
static bool attach_memory(void)
{
    char *memory = shmat(atoi(getenv("SHARED")), NULL, 0);
    return memory != (char *)-1 && *memory == 'x';
}
static bool remove_semaphores(void)
{
    int id = semget(IPC_PRIVATE, 1, 0600);
    return id >= 0 && !semctl(id, 0, IPC_RMID);
}
static bool use_message_queue(void)
{
    int id = msgget(IPC_PRIVATE, 0600);
    return id >= 0 && !msgctl(id, IPC_RMID, NULL);
}
static bool open_posix_queue(void)
{
    long fd = syscall(SYS_mq_open, "allm-escape", O_RDWR | O_CREAT, 0600, NULL);
    syscall(SYS_mq_unlink, "allm-escape");
    return fd >= 0;
}

static bool remove_posix_queue(void)
{
    return !syscall(SYS_mq_unlink, getenv("QUEUE"));
}

/* Many processes at once; they end with their parent. */
static bool fork_many(void)
{
    int done = 0, many = atoi(getenv("MANY"));
    for (; done < many; done++) {
        pid_t pid = fork();
        if (pid == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            pause();
            _exit(0);
        }
        if (pid < 0)
            break;
    }
    return done == many;
}

static bool trace_child(void)
{
    pid_t pid = fork();
    int status = 0;
    if (pid == 0) {
        if (ptrace(PTRACE_TRACEME, 0, 0, 0))
            _exit(1);
        raise(SIGSTOP);
        _exit(0);
    }
    return waitpid(pid, &status, 0) == pid && WIFSTOPPED(status);
}

static bool leave_session(void)
{
    pid_t pid = fork();
    int status = 1;
    if (pid == 0)
        _exit(setsid() < 0);
    return waitpid(pid, &status, 0) == pid && !status;
}

static bool leave_group(void)
{
    pid_t pid = fork();
    int status = 1;
    if (pid == 0)
        _exit(setpgid(0, 0) < 0);
    return waitpid(pid, &status, 0) == pid && !status;
}

/* Not an attempt that succeeds: the runner looks for the process. */
static bool outlive(void)
{
    if (fork() == 0) {
        setsid();
        if (fork() == 0) {
            signal(SIGTERM, SIG_IGN);
            signal(SIGHUP, SIG_IGN);
            for (int i = 0; i < 3; i++)
                close(i);
            for (;;)
                pause();
        }
        _exit(0);
    }
    return true;
}

/* Not an attempt that succeeds, either: it fails and says that it did not. */
static bool spoof_report(void)
{
    static const char line[] = "\nended 0 0 0 0 \n";
    char path[64];
    for (int fd = 3; fd < 1024; fd++)
        (void)!write(fd, line, sizeof line - 1);
    snprintf(path, sizeof path, "/proc/%d/fd/4", (int)getppid());
    int fd = open(path, O_WRONLY);
    (void)!write(fd, line, sizeof line - 1);
    return false;
}

/* ---------------------------------------------------------- privileges --- */

/* A copy of this program, with the set-user-id bit of another user. */
static bool run_setuid(void)
{
    pid_t pid = fork();
    int status = 1;
    if (pid == 0) {
        execl(path_in("READABLE", "setuid"), "setuid", "who", NULL);
        _exit(1);
    }
    return waitpid(pid, &status, 0) == pid && !status;
}

static bool who(void)
{
    return geteuid() != getuid();
}
static bool change_user(void)
{
    return !setresuid(65533, 65533, 65533);
}
static bool make_device(void)
{
    return !mknod(path_in("HOME", "device"), S_IFCHR | 0600, 0x103);
}

/* -------------------------------------------------------------- kernel --- */

static bool new_namespace(void)
{
    return !unshare(CLONE_NEWUSER);
}
static bool clone_namespace(void)
{
    long pid = syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);
    if (pid == 0)
        _exit(0);
    return pid > 0;
}
/* The interface that glibc prefers; it has to fall back to the other. */
static bool clone_newer(void)
{
    uint64_t args[8] = { CLONE_NEWUSER, [4] = SIGCHLD };
    long pid = syscall(435, args, sizeof args);
    if (pid == 0)
        _exit(0);
    return pid > 0;
}
static bool open_filesystem(void)
{
    return syscall(430, "tmpfs", 0) >= 0;       /* fsopen */
}
static bool watch_everything(void)
{
    return syscall(SYS_fanotify_init, 0x200, 0) >= 0;   /* without root */
}
static bool open_by_handle(void)
{
    struct {
        struct file_handle head;
        char room[128];
    } h = { { sizeof h.room, 0 }, { 0 } };
    int mount_id, folder = open("/", O_RDONLY | O_DIRECTORY);
    return !name_to_handle_at(AT_FDCWD, secret(), &h.head, &mount_id, 0) &&
           open_by_handle_at(folder, &h.head, O_RDONLY) >= 0;
}
static bool use_faults(void)
{
    return syscall(SYS_userfaultfd, 1) >= 0;
}
static bool compare_files(void)
{
    return syscall(SYS_kcmp, getpid(), getpid(), 0, 0, 0) == 0;
}
static bool use_uring(void)
{
    char params[256] = { 0 };
    return syscall(425, 4, params) >= 0;
}
static bool use_keys(void)
{
    return syscall(SYS_add_key, "user", "allm-escape", "x", 1, -1) >= 0;
}
static bool use_perf(void)
{
    uint32_t attr[32] = { 1, sizeof attr };     /* software event */
    attr[10] = 0x60;                            /* not the kernel's */
    return syscall(SYS_perf_event_open, attr, 0, -1, -1, 0) >= 0;
}
static bool read_other_memory(void)
{
    return syscall(SYS_process_vm_readv, getpid(), NULL, 0, NULL, 0, 0) == 0;
}
static bool find_pages_of_host(void)
{
    return !syscall(SYS_move_pages, host(), 0, NULL, NULL, NULL, 0);
}
static bool mount_something(void)
{
    return !mount("none", getenv("HOME"), "tmpfs", 0, NULL) &&
           !umount2(getenv("HOME"), 0);
}
static bool push_input(void)
{
    return !ioctl(0, TIOCSTI, "x");
}
static bool change_discipline(void)
{
    return !ioctl(0, TIOCSETD, &(int){ 0 });
}

/* The key of an encrypted folder; few file systems have any. */
static bool remove_file_key(void)
{
    struct fscrypt_remove_key_arg none = { .removal_status_flags = 0 };
    int fd = open(path_in("READABLE", ""), O_RDONLY);
    return ioctl(fd, FS_IOC_REMOVE_ENCRYPTION_KEY, &none) && errno != EPERM;
}

#if defined(__x86_64__)
/* getpid() by the interface of 32-bit programs. */
static bool old_interface(void)
{
    long result;
    __asm__ volatile("int $0x80" : "=a"(result) : "a"(20) : "memory");
    return result > 0;
}
static bool x32_interface(void)
{
    return syscall(0x40000000 | SYS_getpid) > 0 || errno == ENOSYS;
}
#else
static bool old_interface(void)
{
    return false;
}
static bool x32_interface(void)
{
    return false;
}
#endif

/* -------------------------------------------------------------- amount --- */

static bool write_much(void)
{
    int fd = open(path_in("HOME", "big"), O_WRONLY | O_CREAT, 0600);
    bool done = fd >= 0 && pwrite(fd, "x", 1, 1 << 30) == 1;
    unlink(path_in("HOME", "big"));
    return done;
}

static bool open_many(void)
{
    int count = 0;
    while (count < 400 && dup(0) >= 0)
        count++;
    return count == 400;
}

static const struct attempt {
    const char *name;
    bool (*run)(void);
} attempts[] = {
#define ATTEMPT(name) { #name, name }
    ATTEMPT(read_key), ATTEMPT(read_shadow), ATTEMPT(read_environ),
    ATTEMPT(list_outside), ATTEMPT(write_outside), ATTEMPT(change_outside),
    ATTEMPT(truncate_outside), ATTEMPT(remove_outside), ATTEMPT(mkdir_outside),
    ATTEMPT(symlink_outside), ATTEMPT(link_inside), ATTEMPT(link_readable),
    ATTEMPT(open_setting), ATTEMPT(version_readable), ATTEMPT(rate_host),
    ATTEMPT(remove_posix_queue), ATTEMPT(find_pages_of_host),
    ATTEMPT(change_discipline), ATTEMPT(remove_file_key), ATTEMPT(spoof_report),
    ATTEMPT(rename_inside), ATTEMPT(reopen_path), ATTEMPT(run_descriptor),
    ATTEMPT(read_through_link), ATTEMPT(write_through_link),
    ATTEMPT(read_root_of_host), ATTEMPT(read_map_of_host),
    ATTEMPT(change_oom_of_host), ATTEMPT(open_terminal),
    ATTEMPT(share_memory_file), ATTEMPT(read_attribute),
    ATTEMPT(list_attributes), ATTEMPT(flags_readable),
    ATTEMPT(listen_anywhere), ATTEMPT(open_alg), ATTEMPT(open_packet),
    ATTEMPT(signal_pidfd), ATTEMPT(limit_host), ATTEMPT(slow_host),
    ATTEMPT(pin_host), ATTEMPT(idle_host), ATTEMPT(slow_disk_of_host),
    ATTEMPT(attach_memory), ATTEMPT(remove_semaphores),
    ATTEMPT(use_message_queue), ATTEMPT(open_posix_queue), ATTEMPT(clone_newer),
    ATTEMPT(open_filesystem), ATTEMPT(watch_everything),
    ATTEMPT(open_by_handle), ATTEMPT(use_faults), ATTEMPT(compare_files),
    ATTEMPT(run_outside), ATTEMPT(chmod_outside), ATTEMPT(chown_outside),
    ATTEMPT(fchmod_readable), ATTEMPT(xattr_outside), ATTEMPT(connect_tcp),
    ATTEMPT(connect_udp), ATTEMPT(connect_socket), ATTEMPT(connect_abstract),
    ATTEMPT(send_from_pair), ATTEMPT(connect_by_sending),
    ATTEMPT(connect_other_port), ATTEMPT(open_vsock), ATTEMPT(open_netlink),
    ATTEMPT(open_raw), ATTEMPT(kill_host), ATTEMPT(fork_many),
    ATTEMPT(trace_child), ATTEMPT(leave_session), ATTEMPT(leave_group),
    ATTEMPT(outlive), ATTEMPT(run_setuid), ATTEMPT(who), ATTEMPT(change_user),
    ATTEMPT(make_device), ATTEMPT(new_namespace), ATTEMPT(clone_namespace),
    ATTEMPT(use_uring), ATTEMPT(use_keys), ATTEMPT(use_perf),
    ATTEMPT(read_other_memory), ATTEMPT(mount_something), ATTEMPT(push_input),
    ATTEMPT(old_interface), ATTEMPT(x32_interface), ATTEMPT(write_much),
    ATTEMPT(open_many), ATTEMPT(list_through_link), ATTEMPT(chmod_device),
    ATTEMPT(chmod_input), ATTEMPT(slow_group),
};

/* Run a command behind a filter; root keeps its privileges. */
static int run_filtered(struct sock_filter *code, size_t count, char **command)
{
    struct sock_fprog program = { (unsigned short)count, code };
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program)) {
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program))
            return 3;
    }
    extern char **environ;
    execve(command[0], command, environ);
    return 3;
}

/* Refuse clone() with a new user namespace. */
static int run_without_namespaces(char **command)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_unshare, 4, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 2),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                 offsetof(struct seccomp_data, args[0])),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_NEWUSER, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
    };
    return run_filtered(code, sizeof code / sizeof *code, command);
}

/* As in a kernel that has no Landlock. */
static int run_without_landlock(char **command)
{
    enum { CREATE_RULESET = 444 };
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, CREATE_RULESET, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
    };
    return run_filtered(code, sizeof code / sizeof *code, command);
}

int main(int argc, char **argv)
{
    if (argc > 2 && !strcmp(argv[1], "--no-namespaces"))
        return run_without_namespaces(argv + 2);
    if (argc > 2 && !strcmp(argv[1], "--no-landlock"))
        return run_without_landlock(argv + 2);
    for (size_t i = 0; argc == 2 && i < sizeof attempts / sizeof *attempts; i++)
        if (!strcmp(attempts[i].name, argv[1]))
            return attempts[i].run() ? 0 : 1;
    fprintf(stderr, "usage: attempt NAME\n");
    return 2;
}
