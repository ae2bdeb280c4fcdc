/*
 * front.c - nghttpx in front of a test server, for TLS and HTTP/2
 *
 * openssl creates the certificates when they are first needed, in a folder of
 * the build that is removed when the program ends.
 */
#include "harness/front.h"

#include "harness/check.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* A line for each request: "r" if its TLS session was resumed, else ".". */
#define LOG_FORMAT "--accesslog-format=$tls_session_reused"

static char folder[256];        /* "": not made yet */

/* Start a program without output that does not outlive us; -1: failure.
 * nghttpx is not in every user's PATH. */
static pid_t start(const char *const *words)
{
    pid_t parent = getpid(), pid = fork();
    if (pid != 0)
        return pid;
    int nowhere = open("/dev/null", O_RDWR);
    dup2(nowhere, 0);
    dup2(nowhere, 1);
    dup2(nowhere, 2);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const char *path = getenv("PATH");
    char longer[4096];
    snprintf(longer, sizeof longer, "%s:/usr/sbin", path ? path : "/usr/bin");
    setenv("PATH", longer, 1);
    if (getppid() == parent)
        execvp(words[0], (char *const *)(const void *)words);
    _exit(127);
}

static bool run(const char *script)
{
    const char *const words[] = { "sh", "-ec", script, NULL };
    int status = 1;
    pid_t pid = start(words);
    return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

static void remove_folder(void)
{
    char script[512];
    snprintf(script, sizeof script, "rm -rf '%s'", folder);
    run(script);
}

static bool make_certificates(void)
{
    static const char script[] =
        "cd '%s'\n"
        "new='-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes'\n"
        "openssl req -x509 $new -days 2 -subj '/CN=authority of the tests' \\\n"
        "    -addext keyUsage=critical,keyCertSign \\\n"
        "    -keyout ca.key -out ca.pem\n"
        "openssl req -x509 $new -days 2 -subj '/CN=nobody of the tests' \\\n"
        "    -keyout stranger.key -out stranger.pem\n"
        "mkdir all\n"
        "cp ca.pem all/$(openssl x509 -hash -noout -in ca.pem).0\n"
        "leaf() {\n"
        "    openssl req $new -subj \"/CN=$1\" -keyout $1.key -out $1.csr\n"
        "    echo \"subjectAltName=$2\" >$1.ext\n"
        "    openssl x509 -req -in $1.csr -CA ca.pem -CAkey ca.key \\\n"
        "        -CAcreateserial -days 2 -extfile $1.ext -out $1.pem\n"
        "}\n"
        "leaf here IP:127.0.0.1\n"
        "leaf other DNS:other.example\n";
    char whole[sizeof script + sizeof folder];
    const char *build = getenv("BUILD_DIR");
    if (*folder)
        return true;
    snprintf(folder, sizeof folder, "%s/tls-XXXXXX", build ? build : "/tmp");
    if (!mkdtemp(folder))
        return false;
    atexit(remove_folder);
    snprintf(whole, sizeof whole, script, folder);
    return run(whole);
}

const char *front_authority(void)
{
    static char path[300];
    snprintf(path, sizeof path, "%s/ca.pem", folder);
    return path;
}

const char *front_authorities(void)
{
    static char path[300];
    snprintf(path, sizeof path, "%s/all", folder);
    return path;
}

const char *front_stranger(void)
{
    static char path[300];
    snprintf(path, sizeof path, "%s/stranger.pem", folder);
    return path;
}

static int socket_at(int port, struct sockaddr_in *at)
{
    *at = (struct sockaddr_in){ .sin_family = AF_INET };
    at->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    at->sin_port = htons((in_port_t)port);
    return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

/* A port that is free at the moment. */
static int free_port(void)
{
    struct sockaddr_in at;
    socklen_t len = sizeof at;
    int fd = socket_at(0, &at);
    int failed = bind(fd, (struct sockaddr *)&at, sizeof at) ||
                 getsockname(fd, (struct sockaddr *)&at, &len);
    close(fd);
    return failed ? -1 : ntohs(at.sin_port);
}

/* nghttpx does not report when it listens, so try to connect. */
static bool listens(const struct front *f)
{
    for (int i = 0; i < 1000; i++) {
        struct sockaddr_in at;
        int status, fd = socket_at(f->port, &at);
        bool open = connect(fd, (struct sockaddr *)&at, sizeof at) == 0;
        close(fd);
        if (open)
            return true;
        if (waitpid(f->pid, &status, WNOHANG) == f->pid)
            return false;
        poll(NULL, 0, 10);
    }
    return false;
}

static pid_t start_front(const struct front *f, int port, const char *name)
{
    char front[64], back[64], key[300], certificate[300], log[340];
    snprintf(front, sizeof front, "--frontend=127.0.0.1,%d", f->port);
    snprintf(back, sizeof back, "--backend=127.0.0.1,%d", port);
    snprintf(key, sizeof key, "%s/%s.key", folder, name);
    snprintf(certificate, sizeof certificate, "%s/%s.pem", folder, name);
    snprintf(log, sizeof log, "--accesslog-file=%s/%d.log", folder, f->port);
    const char *const words[] = { "nghttpx",         "--conf=/dev/null",
                                  "--single-process", "--no-ocsp",
                                  "--workers=1",     log,
                                  LOG_FORMAT,        front,
                                  back,              key,
                                  certificate,       NULL };
    return start(words);
}

bool front_init(struct front *f, int port, enum front_name name)
{
    *f = (struct front){ .pid = -1 };
    if (!make_certificates()) {
        check_skip("openssl is not here to make certificates");
        return false;
    }
    f->port = free_port();
    f->pid = start_front(f, port, name == FRONT_HERE ? "here" : "other");
    snprintf(f->url, sizeof f->url, "https://127.0.0.1:%d", f->port);
    if (f->pid > 0 && listens(f))
        return true;
    check_skip("nghttpx is not here to speak TLS (tools/bootstrap test)");
    front_release(f);
    return false;
}

void front_release(struct front *f)
{
    int status;
    if (f->pid > 0) {
        kill(f->pid, SIGKILL);
        waitpid(f->pid, &status, 0);
    }
    f->pid = -1;
}

struct front_counts front_count(const struct front *f)
{
    struct front_counts n = { 0, 0 };
    char path[300];
    snprintf(path, sizeof path, "%s/%d.log", folder, f->port);
    FILE *log = fopen(path, "r");
    for (int c; log && (c = getc(log)) != EOF;) {
        n.requests += c == '\n';
        n.resumed += c == 'r';
    }
    if (log)
        fclose(log);
    return n;
}
