/* orders.h - the instructions of a warden */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The parts of the sandbox; the last two are the second wall. */
enum wall { WALL_FILES, WALL_METADATA, WALL_NET, WALL_SIGNALS, WALL_PROCESSES,
            WALL_PRIVILEGES, WALL_KERNEL, WALL_STAYING, WALL_AMOUNT,
            WALL_MOUNTS, WALL_PIDS, WALL_COUNT };

/* From ACCESS_WRITE on, a path may be changed. */
enum { ACCESS_READ, ACCESS_EXEC, ACCESS_WRITE, ACCESS_PRIVATE };
enum { NET_NONE, NET_TCP, NET_ALL };

/* Seconds, bytes of address space and of a file, descriptors; processes in a
 * namespace, or tasks of the user; milliseconds that children outlive it. */
enum { LIMIT_CPU, LIMIT_MEMORY, LIMIT_DISK, LIMIT_FILES, LIMIT_PROCS,
       LIMIT_TASKS, LIMIT_LINGER, LIMIT_COUNT };
enum { ORDERS_PATHS = 512, ORDERS_PORTS = 64, ORDERS_ENV = 1024 };

struct orders {
    size_t path_count, port_count, env_count;
    const char *path[ORDERS_PATHS];
    int access[ORDERS_PATHS];
    uint64_t port[ORDERS_PORTS];
    char *env[ORDERS_ENV + 1];          /* terminated by NULL */
    const char *dir;                    /* the working directory, or NULL */
    int net;
    uint64_t limit[LIMIT_COUNT];        /* 0: none */
    bool off[WALL_COUNT], required[WALL_COUNT];
    bool write_list;                    /* a path has ACCESS_WRITE */
    bool terminal;                      /* stay in the caller's group */
};

extern const char *const wall_names[], *const limit_names[];

/* Read a line without its LF, and refer to it.  False: it is no instruction. */
bool orders_line(struct orders *o, char *line);
