/* tunnel.c - a proxy that tunnels one connection to a port of this machine */
#include "harness/tunnel.h"

#include "harness/check.h"

#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const char answer[] = "HTTP/1.1 200 Led on\r\nX-Proxy: tunnel\r\n\r\n";

static struct sockaddr_in place_of(int port)
{
    struct sockaddr_in at = { .sin_family = AF_INET };
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    at.sin_port = htons((in_port_t)port);
    return at;
}

static int knock(int port)
{
    struct sockaddr_in at = place_of(port);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&at, sizeof at) == 0)
        return fd;
    close(fd);
    return -1;
}

static bool send_all(int fd, const char *bytes, size_t len)
{
    while (len) {
        ssize_t n = send(fd, bytes, len, MSG_NOSIGNAL);
        if (n <= 0)
            return false;
        bytes += n;
        len -= (size_t)n;
    }
    return true;
}

/* Read the head of the request, up to its blank line. */
static bool read_head(struct tunnel *t, int fd)
{
    size_t len = 0;
    while (len + 1 < sizeof t->asked && !strstr(t->asked, "\r\n\r\n")) {
        ssize_t n = recv(fd, t->asked + len, 1, 0);
        if (n <= 0)
            return false;
        len += (size_t)n;
    }
    return true;
}

/* Forward bytes from one side to the other; false: it closed. */
static bool pass_on(int from, int to)
{
    char bytes[4096];
    ssize_t n = recv(from, bytes, sizeof bytes, 0);
    return n > 0 && send_all(to, bytes, (size_t)n);
}

static void lead(int near, int far)
{
    struct pollfd both[2] = { { near, POLLIN, 0 }, { far, POLLIN, 0 } };
    bool open = true;
    while (open && poll(both, 2, -1) > 0)
        for (int i = 0; open && i < 2; i++)
            open = !both[i].revents || pass_on(both[i].fd, both[1 - i].fd);
}

static void *run(void *ud)
{
    struct tunnel *t = ud;
    int near = accept(t->listening, NULL, NULL);
    int far = near >= 0 && read_head(t, near) ? knock(t->port) : -1;
    if (far >= 0 && send_all(near, answer, sizeof answer - 1))
        lead(near, far);
    close(far);
    close(near);
    return NULL;
}

bool tunnel_init(struct tunnel *t)
{
    struct sockaddr_in at = place_of(0);
    socklen_t len = sizeof at;
    *t = (struct tunnel){ .port = 0 };
    t->listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (t->listening >= 0 &&
        !bind(t->listening, (struct sockaddr *)&at, sizeof at) &&
        !listen(t->listening, 1) &&
        !getsockname(t->listening, (struct sockaddr *)&at, &len)) {
        snprintf(t->url, sizeof t->url, "http://127.0.0.1:%d",
                 ntohs(at.sin_port));
        if (pthread_create(&t->thread, NULL, run, t) == 0)
            return true;
    }
    close(t->listening);
    check_skip("no sockets here");
    return false;
}

void tunnel_release(struct tunnel *t)
{
    shutdown(t->listening, SHUT_RDWR);  /* no client: stop waiting */
    pthread_join(t->thread, NULL);
    close(t->listening);
}
