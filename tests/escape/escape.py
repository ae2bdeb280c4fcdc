#!/usr/bin/env python3
"""escape.py - attempts to leave the sandbox, and to outlive it

usage: escape.py WARDEN ATTEMPT HOST [--all]

Each row of ROWS is an attempt.  It runs three times: with the walls on, where
it must fail; with all walls off, where it must succeed, else the row is void;
and with only its own walls off, where it must succeed as well.  All this as
root and as another user (if we are root), with user namespaces and where they
are refused.  A row whose wall the warden reports as missing is not in force.

Then a host with 20 process trees is killed at random moments (5, or 50 with
--all): nothing may be left after a second.  As often, it cancels its calls,
lets them time out, and frees its toolbox, which has a server then: nothing may
be left a second later, where SIGTERM has two more.
"""
import contextlib
import ctypes
import fcntl
import json
import os
import pty
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

NOBODY = 65534
WALLS = "files net privileges kernel staying".split()
ALL_WALLS = ("files metadata net signals processes privileges kernel staying "
             "amount mounts pids")
MARK = "ALLM_ESCAPE_MARK"

# The walls that refuse an attempt.  Where the second wall refuses it as well,
# it is named, too.  "all": none of the others works without this one.
ROWS = {
    "read_key": "files",
    "read_shadow": "files",
    "read_environ": "files signals privileges mounts pids",
    "list_outside": "files",
    "write_outside": "files mounts",
    "change_outside": "files mounts",
    "truncate_outside": "files mounts",
    "remove_outside": "files mounts",
    "mkdir_outside": "files mounts",
    "symlink_outside": "files mounts",
    "link_inside": "files mounts",
    "link_readable": "files mounts",
    "rename_inside": "files mounts",
    "run_outside": "files",
    "reopen_path": "files",
    "run_descriptor": "files",
    "read_through_link": "files",
    "list_through_link": "files",
    "write_through_link": "files mounts",
    "read_root_of_host": "files signals privileges mounts pids",
    "read_map_of_host": "files signals privileges mounts pids",
    "change_oom_of_host": "files mounts pids",
    "open_setting": "files mounts",
    "open_terminal": "files",
    "share_memory_file": "files mounts",
    "read_attribute": "files",
    "list_attributes": "files",
    "chmod_outside": "metadata mounts",
    "chown_outside": "metadata mounts",
    "fchmod_readable": "metadata mounts",
    "chmod_device": "metadata mounts",
    "chmod_input": "metadata",
    "xattr_outside": "metadata mounts",
    "flags_readable": "metadata mounts",
    "version_readable": "metadata mounts",
    "connect_tcp": "net",
    "connect_udp": "net",
    "connect_socket": "net",
    "connect_abstract": "net signals",
    "send_from_pair": "net",
    "connect_other_port": "net",
    "connect_by_sending": "net",
    "listen_anywhere": "net",
    "open_alg": "net",
    "open_packet": "net privileges mounts",
    "open_vsock": "net",
    "open_netlink": "net",
    "open_raw": "net privileges mounts",
    "kill_host": "signals mounts pids",
    "signal_pidfd": "signals mounts pids",
    "limit_host": "signals mounts pids",
    "slow_host": "signals mounts pids",
    "slow_group": "signals mounts pids",
    "pin_host": "signals mounts pids",
    "idle_host": "signals mounts pids",
    "rate_host": "signals mounts pids",
    "slow_disk_of_host": "signals mounts pids",
    "find_pages_of_host": "files signals privileges mounts pids",
    "attach_memory": "signals",
    "remove_semaphores": "signals",
    "use_message_queue": "signals",
    "open_posix_queue": "files signals",
    "remove_posix_queue": "signals",
    "fork_many": "processes",
    "trace_child": "kernel",
    "leave_session": "staying",
    "leave_group": "staying",
    "run_setuid": "privileges mounts",
    "change_user": "privileges mounts",
    "make_device": "privileges mounts",
    "new_namespace": "kernel",
    "clone_namespace": "kernel",
    "clone_newer": "kernel",
    "open_filesystem": "kernel privileges mounts",
    "watch_everything": "kernel",
    "open_by_handle": "kernel files privileges mounts",
    "use_faults": "kernel",
    "compare_files": "kernel",
    "use_uring": "kernel",
    "use_keys": "kernel",
    "use_perf": "kernel privileges mounts",
    "read_other_memory": "kernel",
    "mount_something": "kernel privileges files mounts",
    "push_input": "kernel privileges mounts",
    "change_discipline": "kernel",
    "remove_file_key": "kernel",
    "old_interface": "files kernel net staying metadata signals mounts",
    "x32_interface": "files kernel net staying metadata signals mounts",
    "write_much": "amount",
    "open_many": "amount",
}
# Attempts with a list of ports, which does not have theirs.
WITH_PORTS = {"connect_other_port", "connect_by_sending", "listen_anywhere"}
# Attempts with a folder to write, where there is a link now.
WITH_LINK = {"read_through_link", "write_through_link"}
# Attempts in the group and the terminal of the caller.
IN_TERMINAL = {"chmod_input", "slow_group"}
# A process with capabilities cannot be slowed down by one without.
NEEDS_PRIVILEGES_AS_ROOT = {"slow_host", "pin_host", "idle_host", "rate_host",
                            "slow_disk_of_host"}
# Without no_new_privs an ordinary user cannot have Landlock or seccomp.
NEEDS_ALL_AS_USER = {"run_setuid", "read_environ", "read_root_of_host",
                     "read_map_of_host", "find_pages_of_host", "use_perf"}

# Rows that may be void: the attempt needs root; or what the kernel of the
# machine lacks, so that it fails without a warden, too; or the namespaces that
# are refused around the test.
ROOT_ONLY = {"read_shadow", "open_raw", "open_packet", "change_user",
             "make_device", "mount_something", "open_filesystem",
             "open_setting", "chmod_device"}
MAY_BE_VOID = {"open_vsock", "open_alg", "use_uring", "use_keys", "use_perf",
               "flags_readable", "watch_everything", "open_by_handle",
               "use_faults", "compare_files", "open_posix_queue",
               "remove_posix_queue", "version_readable", "find_pages_of_host",
               "push_input", "chmod_device", "old_interface", "x32_interface",
               "xattr_outside", "read_attribute", "list_attributes"}
NEEDS_NAMESPACES = {"new_namespace", "clone_namespace"}

failures = []
passed = 0


def check(good, what):
    global passed
    if good:
        passed += 1
    else:
        failures.append(what)
        print("not ok - " + what, flush=True)


def as_user(user):
    """Arguments of Popen: only root can become somebody else."""
    if os.geteuid():
        return {}
    return {"user": user, "group": user, "extra_groups": []}


def give(path, user):
    if not os.geteuid():
        os.chown(path, user, user)


def tasks():
    """All tasks of the machine."""
    with open("/proc/loadavg", encoding="ascii") as file:
        return int(file.read().split()[3].split("/")[1])


class Memory:
    """Memory that all processes of the user could attach."""

    def __init__(self):
        self.libc = ctypes.CDLL(None)
        self.libc.shmat.restype = ctypes.c_void_p
        self.number = self.libc.shmget(0, 4096, 0o1666)
        ctypes.memset(self.libc.shmat(self.number, None, 0), ord("x"), 1)

    def close(self):
        self.libc.shmctl(self.number, 0, None)


class Queue:
    """A POSIX message queue of the user, which is in no folder."""

    def __init__(self, user):
        self.user = user
        self.name = "allm-escape-%d" % os.getpid()
        self.libc = ctypes.CDLL("librt.so.1")

    def call(self, function, *args):
        if not os.geteuid():
            os.seteuid(self.user)
        result = getattr(self.libc, function)(
            ("/" + self.name).encode(), *args)
        os.seteuid(os.getuid())
        return result

    def make(self):
        number = self.call("mq_open", os.O_RDWR | os.O_CREAT, 0o600, None)
        if number >= 0:
            os.close(number)

    def close(self):
        self.call("mq_unlink")


class Place:
    """The files, listeners and the process that attempts try to reach."""

    def __init__(self, user, programs):
        self.user = user
        self.top = tempfile.mkdtemp(prefix="allm-escape-", dir="/tmp")
        os.chmod(self.top, 0o755)
        self.warden, self.attempt = [
            shutil.copy(path, self.top) for path in programs]
        for name in ("home", "outside", "readable"):
            os.mkdir(os.path.join(self.top, name), 0o755)
            give(os.path.join(self.top, name), user)
        self.host = subprocess.Popen(["sleep", "1000"], **as_user(user))
        self.tcp = socket.create_server(("127.0.0.1", 0), backlog=1000)
        self.unix = socket.socket(socket.AF_UNIX)
        self.unix.bind(self.path("outside", "socket"))
        os.chmod(self.path("outside", "socket"), 0o777)
        self.unix.listen(1000)
        self.datagrams = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.datagrams.bind(self.path("outside", "datagrams"))
        os.chmod(self.path("outside", "datagrams"), 0o777)
        self.name = "allm-escape-%d" % os.getpid()
        self.abstract = socket.socket(socket.AF_UNIX)
        self.abstract.bind("\0" + self.name)
        self.abstract.listen(1000)
        os.symlink("outside", self.path("link"))
        self.memory = Memory()
        self.queue = Queue(user)
        self.master, self.slave = pty.openpty()
        give(os.ttyname(self.slave), user)
        os.chmod(os.ttyname(self.slave), 0o666)

    def path(self, *names):
        return os.path.join(self.top, *names)

    def reset(self):
        self.drain()
        self.queue.make()
        for name in ("home", "outside"):
            for entry in os.listdir(self.path(name)):
                if entry not in ("socket", "datagrams"):
                    whole = self.path(name, entry)
                    if os.path.isdir(whole) and not os.path.islink(whole):
                        os.rmdir(whole)
                    else:
                        os.unlink(whole)
        for path, mode in ((self.path("outside", "secret"), 0o600),
                           (self.path("readable", "file"), 0o600)):
            with open(path, "w", encoding="utf-8") as file:
                file.write("a secret")
            give(path, self.user)
            os.chmod(path, mode)
            with contextlib.suppress(OSError):  # not every file system has it
                os.setxattr(path, "user.allm", b"a secret")
        shutil.copy("/bin/true", self.path("outside", "program"))
        setuid = shutil.copy(self.attempt, self.path("readable", "setuid"))
        other = NOBODY if self.user == 0 else 0
        give(setuid, other)
        os.chmod(setuid, 0o4755)

    def close(self):
        self.host.kill()
        self.host.wait()
        for thing in (self.tcp, self.unix, self.datagrams, self.abstract,
                      self.memory, self.queue):
            thing.close()
        os.close(self.master)
        os.close(self.slave)
        shutil.rmtree(self.top)

    def drain(self):
        """Their queue is short."""
        self.datagrams.setblocking(False)
        try:
            while True:
                self.datagrams.recv(16)
        except BlockingIOError:
            pass

    def orders(self, off, name):
        lines = ["exec " + path for path in
                 ("/usr", "/bin", "/sbin", "/lib", "/lib64", self.attempt,
                  self.path("readable"))]
        lines += ["read /proc", "read /etc/ld.so.cache", "private /dev/null",
                  "private " + self.path("home"), "dir /",
                  "limit procs 64", "limit tasks %d" % (tasks() + 64),
                  "limit disk 67108864", "limit files 256",
                  "limit cpu 60", "limit linger 100"]
        for key, value in {
                "HOME": self.path("home"), "OUTSIDE": self.path("outside"),
                "READABLE": self.path("readable"), "HOST": self.host.pid,
                "PORT": self.tcp.getsockname()[1], "ABSTRACT": self.name,
                "LINK": self.path("link"), "MANY": max(600, tasks() + 300),
                "SHARED": self.memory.number, "QUEUE": self.queue.name,
                "TERMINAL": os.ttyname(self.slave),
                MARK: str(os.getpid())}.items():
            lines.append("env %s=%s" % (key, value))
        if name in WITH_PORTS:
            lines.append("net tcp 1")
        if name in WITH_LINK:
            lines.append("write " + self.path("link"))
        if name == "list_through_link":
            lines.append("read " + self.path("link"))
        if name in IN_TERMINAL:
            lines.append("terminal")
        for wall in WALLS:
            if wall not in off.split() and off != "all":
                lines.append("wall %s required" % wall)
        names = ALL_WALLS if off == "all" else off
        lines += ["wall %s off" % wall for wall in names.split()]
        return "\n".join(lines + ["--", ""])


def run(place, name, off, refused):
    """(exit status or None, the lines of the warden)"""
    control, theirs = socket.socketpair()
    report, write_end = os.pipe()
    command = [place.warden, place.attempt, name]
    if refused:
        lack = refused if isinstance(refused, str) else "--no-namespaces"
        command = [place.attempt, lack] + command

    def set_up():
        os.setpgrp()
        fds = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 50) for fd in
               (place.slave, 2, 2, theirs.fileno(), write_end)]
        for number, fd in enumerate(fds):
            os.dup2(fd, number, inheritable=True)

    process = subprocess.Popen(
        command, executable=command[0], env={}, close_fds=False,
        preexec_fn=set_up, **as_user(place.user))
    theirs.close()
    os.close(write_end)
    control.sendall(place.orders(off, name).encode())
    text = b""
    while True:
        piece = os.read(report, 65536)
        if not piece:
            break
        text += piece
    os.close(report)
    control.close()
    process.wait()
    lines = text.decode().splitlines()
    ended = [line.split() for line in lines if line.startswith("ended ")]
    stopped = any(line.split()[0] in ("refused", "failed") for line in lines)
    if not ended or stopped or int(ended[0][2]):
        return None, lines
    return int(ended[0][1]), lines


def succeeds(place, name, off, refused):
    place.reset()
    status, lines = run(place, name, off, refused)
    return status == 0, lines


def is_possible(place, name, refused):
    """Does it succeed without a warden?  Then its row must not be void."""
    place.reset()
    lines = place.orders("all", name).splitlines()
    command = [place.attempt, name]
    if refused:
        lack = refused if isinstance(refused, str) else "--no-namespaces"
        command = [place.attempt, lack] + command
    return subprocess.run(
        command, stdin=place.slave, check=False, **as_user(place.user),
        env=dict(line[4:].split("=", 1) for line in lines
                 if line.startswith("env "))).returncode == 0


def missing(lines):
    return {line.split()[1] for line in lines if line.startswith("missing ")}


def in_force(own, lines):
    """False: the warden said that this attempt is not confined here."""
    first = own.split()[0]
    return first not in missing(lines)


def try_rows(place, user, refused):
    where = "%s, %s" % ("root" if user == 0 else "another user",
                        "no namespaces" if refused else "namespaces")
    void, gaps = [], []
    for name, own in ROWS.items():
        row = "%s (%s)" % (name, where)
        done, lines = succeeds(place, name, "all", refused)
        if not done:
            allowed = (name in MAY_BE_VOID and
                       not is_possible(place, name, refused)) or \
                (user and name in ROOT_ONLY) or \
                (refused and name in NEEDS_NAMESPACES | {"run_setuid"}) or \
                (os.geteuid() and name == "run_setuid")
            check(allowed, row + ": void, it fails without walls: %s" % lines)
            void.append(name)
            continue
        done, lines = succeeds(place, name, "", refused)
        if not in_force(own, lines):
            gaps.append(name)
        else:
            check(not done, row + ": it succeeds: %s" % lines)
        if user and name in NEEDS_ALL_AS_USER:
            continue
        if user == 0 and name in NEEDS_PRIVILEGES_AS_ROOT:
            own += " privileges"
        done, lines = succeeds(place, name, own, refused)
        check(done, row + ": it fails without its own wall: %s" % lines)
    print("# %s: %d rows, %d void: %s; %d not in force: %s" % (
        where, len(ROWS), len(void), " ".join(void), len(gaps),
        " ".join(gaps)), flush=True)
    allowed = {"fork_many"} if refused and user == 0 else set()
    check(set(gaps) <= allowed, "%s: not in force: %s" % (where, gaps))


def marked(mark, warden=None):
    """The processes with our mark in their environment, and wardens."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/environ" % pid, "rb") as file:
                if ("%s=%s" % (MARK, mark)).encode() in file.read():
                    found.append(int(pid))
            if warden and os.readlink("/proc/%s/exe" % pid) == warden:
                found.append(int(pid))
        except OSError:
            pass
    return found


def try_without_landlock(place):
    """Nothing runs without a wall that is required."""
    status, lines = run(place, "who", "", "--no-landlock")
    check(status is None and any(line.startswith("refused files 38 Landlock")
                                 for line in lines),
          "it runs without Landlock: %s" % lines)
    status, lines = run(place, "who", "files", "--no-landlock")
    check(status is not None, "it does not run without both: %s" % lines)


def try_outliving(place, refused):
    for off in ("", "all", "staying", "staying mounts pids"):
        run(place, "outlive", off, refused)
        left = marked(str(os.getpid()))
        check(not left, "a process outlives its warden (walls off: %s)" % off)
        for pid in left:
            os.kill(pid, signal.SIGKILL)


def try_spoofing(place, refused):
    """Without walls, root may."""
    for off in ("", "all") if place.user else ("",):
        status, lines = run(place, "spoof_report", off, refused)
        check(status == 1, "the report is spoofed: %s" % lines)


class Host:
    """A host with 20 process trees, at a random moment of their lives."""

    SEED = int(os.environ.get("ALLM_SEED", "7"))
    choose = random.Random(SEED)
    number = 0

    def __init__(self, host, top, warden, words=()):
        Host.number += 1
        self.warden = warden
        self.mark = "%d-%d" % (os.getpid(), Host.number)
        self.process = subprocess.Popen(
            [host, "20", *words],
            env=dict(os.environ, ALLM_WARDEN=warden, TMPDIR=top,
                     **{MARK: self.mark}),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.process.stdout.readline()          # all have begun

    def wait_some_time(self, least):
        """Until enough run, and then a moment."""
        end = time.monotonic() + 20
        running = self.trees()
        while len(running) <= least and time.monotonic() < end:
            time.sleep(0.01)
            running = self.trees()
        check(len(running) > least,
              "only %d processes were running" % len(running))
        time.sleep(Host.choose.random() * 0.3)

    def trees(self):
        return [pid for pid in marked(self.mark, self.warden)
                if pid != self.process.pid]

    def check_end(self, what, limit):
        """How long it takes until nothing is left."""
        begin = time.monotonic()
        left = self.trees()
        while left and time.monotonic() < begin + limit:
            time.sleep(0.02)
            left = self.trees()
        took = time.monotonic() - begin
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        check(not left, "%s (seed %d): left are %s" % (what, Host.SEED, left))
        return took


def try_killing(host, top, warden, count):
    worst = 0
    for i in range(count):
        it = Host(host, top, warden)
        it.wait_some_time(20)
        it.process.kill()
        it.process.wait()
        worst = max(worst, it.check_end("kill %d" % i, 1))
        it.process.communicate()
    print("# %d kills, the last process ended after %d ms at most" % (
        count, worst * 1000), flush=True)


TREES = ["sleep 1000 & sleep 1000 & sleep 1000",
         "(sleep 1000 & (sleep 1000 & sleep 1000)); wait; sleep 1000",
         "trap '' TERM HUP; while :; do sleep 1; done",
         "sh -c 'sh -c \"sleep 1000\" & sleep 1000'"]


def write_tools(folder, timeout):
    """A folder of tools that are process trees."""
    os.mkdir(folder)
    for number, script in enumerate(TREES):
        path = os.path.join(folder, "tree%d" % number)
        with open(path, "w", encoding="ascii") as file:
            file.write("#!/bin/sh\n%s\n" % script)
        os.chmod(path, 0o755)
        with open(path + ".json", "w", encoding="ascii") as file:
            json.dump({"name": "tree%d" % number, "description": "A tree.",
                       "timeout": timeout, "needs": {"env": [MARK]}}, file)


def try_ending(word, host, top, warden, count):
    """Cancel, timeout and free: the host lives on."""
    worst = slowest = 0
    before = set(os.listdir(top))
    for i in range(count):
        folder = os.path.join(top, "tools")
        timeout = 1 + Host.choose.random() if word == "timeout" else 1000
        write_tools(folder, timeout)
        it = Host(host, top, warden, (word, folder))
        it.wait_some_time(20)
        it.process.stdin.write(b"now\n")
        it.process.stdin.flush()
        took = it.process.stdout.readline()
        check(took, "%s %d: the host has died" % (word, i))
        slowest = max(slowest, int(took or b"0"))
        limit = 1 if word == "free" else 3      # 2 s after SIGTERM
        worst = max(worst, it.check_end("%s %d" % (word, i), limit))
        it.process.communicate(b"end\n")
        shutil.rmtree(folder)
        left = set(os.listdir(top)) - before
        check(not left, "%s %d: folders are left: %s" % (word, i, left))
    check(slowest < 5000, "%s took %d ms" % (word, slowest))
    print("# %d times %s: it took %d ms, and the last process ended %d ms "
          "later at most" % (count, word, slowest, worst * 1000), flush=True)


def try_ends(host, programs, count):
    top = tempfile.mkdtemp(prefix="allm-kill-", dir="/tmp")
    warden = shutil.copy(programs[0], top)
    try_killing(host, top, warden, count)
    for word in ("cancel", "timeout", "free"):
        try_ending(word, host, top, warden, count)
    shutil.rmtree(top)


def main():
    programs, host = sys.argv[1:3], sys.argv[3]
    count = 50 if "--all" in sys.argv else 5
    users = [0, NOBODY] if os.geteuid() == 0 else [os.geteuid()]
    for user in users:
        for refused in (False, True):
            place = Place(user, programs)
            try:
                try_rows(place, user, refused)
                try_outliving(place, refused)
                try_spoofing(place, refused)
                if not refused:
                    try_without_landlock(place)
            finally:
                place.close()
    try_ends(host, programs, count)
    print("%d passed, %d failed" % (passed, len(failures)))
    return 1 if failures else 0


sys.exit(main())
