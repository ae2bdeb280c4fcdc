/* test_clients.c - one HTTP client for each set of options */
#include "net/clients.h"

#include "harness/check.h"
#include "loop/poll.h"

#include <stdio.h>

/* Other certificates, proxies or addresses are not shared by accident. */
static void each_option_has_its_own_client(void)
{
    static const struct {
        const char *why;
        struct client_opts opts;
    } rows[] = {
        { "none", { .ca_file = NULL } },
        { "certificates", { .ca_file = "/a.pem" } },
        { "others", { .ca_file = "/b.pem" } },
        { "no proxy", { .proxy = "" } },
        { "a proxy", { .proxy = "http://127.0.0.1:9" } },
        { "a name", { .user_agent = "x" } },
        { "another time", { .max_idle_ms = 1 } },
        { "fewer connections", { .max_connections = 1 } },
        { "HTTP/2", { .http2 = true } },
        { "public addresses", { .public_only = true } },
    };
    enum { ROWS = sizeof rows / sizeof *rows };
    const allm_transport *made[ROWS];
    char copy[32];
    struct poll poll;
    struct clients all;
    CHECK_ALWAYS(!poll_init(&poll));
    clients_init(&all, mem_default(), &poll);
    for (size_t i = 0; i < ROWS; i++) {
        struct client_opts same = rows[i].opts;
        check_row(rows[i].why);
        made[i] = clients_transport(&all, &rows[i].opts);
        CHECK(made[i] != NULL);
        for (size_t k = 0; k < i; k++)
            CHECK(made[i] != made[k]);
        if (same.ca_file) {
            snprintf(copy, sizeof copy, "%s", same.ca_file);
            same.ca_file = copy;
        }
        CHECK(clients_transport(&all, &same) == made[i]);
    }
    CHECK_INT(clients_open(&all), 0);
    clients_release(&all);
    poll_release(&poll);
}

TESTS = { TEST(each_option_has_its_own_client), TESTS_END };
