/* database.c - a PostgreSQL server of one's own, and a pooler in front */
#include "harness/database.h"

#include <dirent.h>
#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ----------------------------------------------------------- programs --- */

/* "/usr/lib/postgresql/VERSION/bin", or "" if the programs are in PATH. */
static const char *find_programs(char out[128])
{
    struct dirent *entry;
    DIR *dir = opendir("/usr/lib/postgresql");
    out[0] = '\0';
    while (dir && (entry = readdir(dir))) {
        char path[300];
        snprintf(path, sizeof path, "/usr/lib/postgresql/%s/bin/initdb",
                 entry->d_name);
        if (!access(path, X_OK))
            snprintf(out, 128, "/usr/lib/postgresql/%.40s/bin/", entry->d_name);
    }
    if (dir)
        closedir(dir);
    return out;
}

/* An ordinary user: the server refuses to run as root. */
static void drop_root(void)
{
    const struct passwd *user = getpwnam("postgres");
    if (geteuid())
        return;
    if (!user)
        user = getpwnam("nobody");
    if (!user || setgid(user->pw_gid) || setuid(user->pw_uid))
        _exit(126);
}

static void own_folder(const char *path)
{
    const struct passwd *user = getpwnam("postgres");
    if (!user)
        user = getpwnam("nobody");
    if (!geteuid() && user && chown(path, user->pw_uid, user->pw_gid))
        perror("chown");
}

/* Run a shell command as that user; its output goes to the folder's log. */
static int run_command(const struct database *d, const char *format, ...)
{
    char command[1024];
    int status = -1;
    va_list args;
    va_start(args, format);
    vsnprintf(command, sizeof command, format, args);
    va_end(args);
    pid_t child = fork();
    if (child == 0) {
        char log[128];
        drop_root();
        snprintf(log, sizeof log, "%s/log", d->folder);
        int fd = open(log, O_WRONLY | O_CREAT | O_APPEND, 0600);
        if (fd < 0 || chdir(d->folder) || dup2(fd, 1) < 0 || dup2(fd, 2) < 0)
            _exit(126);
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    if (child < 0 || waitpid(child, &status, 0) < 0)
        return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* The process whose number a file begins with; 0: there is none. */
static int read_pid(const struct database *d, const char *name)
{
    char path[128];
    int pid = 0;
    snprintf(path, sizeof path, "%s/%s", d->folder, name);
    FILE *file = fopen(path, "r");
    if (file && fscanf(file, "%d", &pid) != 1)
        pid = 0;
    if (file)
        fclose(file);
    return pid;
}

/* ------------------------------------------------------------- server --- */

bool database_restart(struct database *d)
{
    char bin[128];
    int code = run_command(d,
                           "%spg_ctl -D data -s -w -t 60 -l server.log -o "
                           "\"-k '%s' -h '' -c max_connections=200 "
                           "-c fsync=%s\" start",
                           find_programs(bin), d->folder,
                           getenv("ALLM_SYNC") ? "on" : "off");
    d->server = code ? 0 : read_pid(d, "data/postmaster.pid");
    return d->server != 0;
}

void database_stop(struct database *d, const char *mode)
{
    char bin[128];
    if (d->server)
        run_command(d, "%spg_ctl -D data -s -w -m %s stop", find_programs(bin),
                    mode);
    d->server = 0;
}

/* ------------------------------------------------------------- pooler --- */

static void start_pooler(struct database *d)
{
    char path[128];
    d->pooled[0] = '\0';
    if (run_command(d, "command -v pgbouncer"))
        return;
    snprintf(path, sizeof path, "%s/pooler.ini", d->folder);
    FILE *file = fopen(path, "w");
    if (!file)
        return;
    fprintf(file,
            "[databases]\n* = host=%s port=5432\n[pgbouncer]\n"
            "listen_port = 6432\nunix_socket_dir = %s\nauth_type = trust\n"
            "pool_mode = transaction\npidfile = %s/pooler.pid\n"
            "logfile = %s/pooler.log\nauth_file = %s/pooler.users\n",
            d->folder, d->folder, d->folder, d->folder, d->folder);
    fclose(file);
    chmod(path, 0644);
    if (run_command(d, "echo '\"postgres\" \"\"' >pooler.users"))
        return;
    if (run_command(d, "pgbouncer -q -d pooler.ini && for i in 1 2 3 4 5 6 7 8 "
                       "9; do [ -s pooler.pid ] && exit 0; sleep 0.2; done; "
                       "exit 1"))
        return;
    d->pooler = read_pid(d, "pooler.pid");
}

bool database_new(struct database *d)
{
    char bin[128];
    if (run_command(d,
                    "%spsql -q -h '%s' -U postgres -d postgres -c "
                    "'CREATE DATABASE t%u'",
                    find_programs(bin), d->folder, ++d->count))
        return false;
    snprintf(d->uri, sizeof d->uri, "postgresql://postgres@/t%u?host=%s",
             d->count, d->folder);
    if (d->pooler)
        snprintf(d->pooled, sizeof d->pooled, "%.140s&port=6432", d->uri);
    return true;
}

bool database_sql(struct database *d, const char *sql)
{
    char bin[128], path[128];
    snprintf(path, sizeof path, "%s/statements", d->folder);
    FILE *file = fopen(path, "w");
    if (!file)
        return false;
    fputs(sql, file);
    fclose(file);
    chmod(path, 0644);
    bool ok = !run_command(d,
                           "%spsql -q -v ON_ERROR_STOP=1 -h '%s' -U postgres "
                           "-d t%u -f statements",
                           find_programs(bin), d->folder, d->count);
    unlink(path);
    return ok;
}

const char *database_start(struct database *d)
{
    char bin[128];
    memset(d, 0, sizeof *d);
    snprintf(d->folder, sizeof d->folder, "/tmp/allm-pg-XXXXXX");
    if (!mkdtemp(d->folder))
        return "folder";
    own_folder(d->folder);
    if (run_command(d, "command -v %sinitdb", find_programs(bin)))
        return "postgresql";
    if (run_command(d,
                    "%sinitdb -D data -U postgres -A trust -E UTF8 "
                    "--locale=C --no-sync",
                    bin) ||
        !database_restart(d))
        return "postgresql";
    start_pooler(d);
    return NULL;
}

void database_remove(struct database *d)
{
    if (d->pooler)
        kill(d->pooler, SIGKILL);
    database_stop(d, "immediate");
    if (!strncmp(d->folder, "/tmp/allm-pg-", 13))
        run_command(d, "rm -rf data pooler.* .s.* server.log log");
    rmdir(d->folder);
}
