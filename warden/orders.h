/* orders.h - the instructions of a warden, and what they ask for */
#ifndef WARDEN_ORDERS_H
#define WARDEN_ORDERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The parts of the sandbox, in the order of wall_names.  The last two are the
 * second wall. */
enum wall {
    WALL_FILES, WALL_METADATA, WALL_NET, WALL_SIGNALS, WALL_PROCESSES,
    WALL_PRIVILEGES, WALL_KERNEL, WALL_STAYING, WALL_AMOUNT,
    WALL_MOUNTS, WALL_PIDS, WALL_COUNT
};

/* A private path may be changed like one of the write list. */
enum access { ACCESS_READ, ACCESS_EXEC, ACCESS_WRITE, ACCESS_PRIVATE };

enum net { NET_NONE, NET_TCP, NET_ALL };

/* Seconds, bytes of address space, bytes of a file, descriptors, processes, and
 * the milliseconds that children may outlive the tool. */
enum limit {
    LIMIT_CPU, LIMIT_MEMORY, LIMIT_DISK, LIMIT_FILES, LIMIT_PROCS, LIMIT_LINGER,
    LIMIT_COUNT
};

enum { ORDERS_PATHS = 512, ORDERS_PORTS = 64, ORDERS_ENV = 1024 };

#define LIMIT_NONE UINT64_MAX

struct orders {
    size_t path_count, port_count, env_count;
    const char *path[ORDERS_PATHS];
    enum access access[ORDERS_PATHS];
    uint16_t port[ORDERS_PORTS];
    char *env[ORDERS_ENV + 1];          /* terminated by NULL */
    const char *dir;                    /* the working directory, or NULL */
    enum net net;
    uint64_t limit[LIMIT_COUNT];        /* LIMIT_NONE: not limited */
    bool off[WALL_COUNT], required[WALL_COUNT];
    bool terminal;                      /* stay in the caller's group */
};

extern const char *const wall_names[WALL_COUNT];

/* No paths, no network, no limit, every wall on, none required. */
void orders_init(struct orders *o);

/* Read one line, without its LF; it is changed and referred to.  *done: it was
 * "--", the last one.  False: it is not an instruction. */
bool orders_line(struct orders *o, char *line, bool *done);

#endif
