/* test_address.c - which addresses are public */
#include "net/address.h"

#include "harness/check.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

static bool is_public(const char *text)
{
    struct sockaddr_storage s = { .ss_family = AF_INET };
    struct sockaddr_in *v4 = (struct sockaddr_in *)(void *)&s;
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)(void *)&s;
    if (inet_pton(AF_INET, text, &v4->sin_addr) != 1) {
        s.ss_family = AF_INET6;
        CHECK_INT(inet_pton(AF_INET6, text, &v6->sin6_addr), 1);
    }
    return address_is_public((struct sockaddr *)&s);
}

static void knows_public_addresses(void)
{
    static const char *const rows[] = {
        "1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255",
        "100.128.0.0", "126.255.255.255", "128.0.0.1", "169.253.0.1",
        "172.15.255.255", "172.32.0.0", "192.167.0.1", "198.17.0.1",
        "223.255.255.255", "2606:4700:4700::1111", "2001:4860:4860::8888",
        "2a00::1", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2002:808:808::1",
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i]);
        CHECK(is_public(rows[i]));
    }
}

static void knows_other_addresses(void)
{
    static const char *const rows[] = {
        "0.0.0.0", "0.1.2.3", "10.0.0.0", "10.255.255.255", "100.64.0.0",
        "100.127.255.255", "127.0.0.1", "127.255.255.255", "169.254.169.254",
        "168.63.129.16", "172.16.0.0", "172.31.255.255", "192.0.0.1",
        "192.0.2.1",
        "192.168.255.255", "198.18.0.1", "198.19.255.255", "203.0.113.1",
        "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255", "::",
        "::1", "::7f00:1", "::ffff:127.0.0.1", "::ffff:10.0.0.1",
        "::ffff:169.254.169.254", "64:ff9b::10.0.0.1", "64:ff9b:1::1",
        "2002:7f00:1::", "2002:a00:1::", "fe80::1", "fec0::1", "fc00::1",
        "fd00:ec2::254", "ff02::1", "2001::1", "2001:db8::1", "100::1",
        "::ffff:0:127.0.0.1", "4000::1",
    };
    struct sockaddr_un path = { .sun_family = AF_UNIX };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i]);
        CHECK(!is_public(rows[i]));
    }
    CHECK(!address_is_public((struct sockaddr *)&path));
}

TESTS = {
    TEST_ONCE(knows_public_addresses),
    TEST_ONCE(knows_other_addresses),
    TESTS_END,
};
