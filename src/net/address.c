/* address.c - which addresses are on the public Internet (IANA registries) */
#include "net/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

static const struct {
    uint8_t first[4];
    unsigned bits;
} hidden4[] = {
    { { 0, 0, 0, 0 }, 8 },          /* this network */
    { { 10, 0, 0, 0 }, 8 },         /* private */
    { { 100, 64, 0, 0 }, 10 },      /* shared, behind a carrier's NAT */
    { { 127, 0, 0, 0 }, 8 },        /* loopback */
    { { 168, 63, 129, 16 }, 32 },   /* a metadata service */
    { { 169, 254, 0, 0 }, 16 },     /* link-local, metadata services */
    { { 172, 16, 0, 0 }, 12 },      /* private */
    { { 192, 0, 0, 0 }, 24 },       /* protocols */
    { { 192, 0, 2, 0 }, 24 },       /* documentation */
    { { 192, 88, 99, 0 }, 24 },     /* relays of 6to4 */
    { { 192, 168, 0, 0 }, 16 },     /* private */
    { { 198, 18, 0, 0 }, 15 },      /* benchmarks */
    { { 198, 51, 100, 0 }, 24 },    /* documentation */
    { { 203, 0, 113, 0 }, 24 },     /* documentation */
    { { 224, 0, 0, 0 }, 3 },        /* multicast, reserved, broadcast */
};

/* Of these, version 4 is inside, at byte `at`. */
static const struct {
    uint8_t first[12];
    unsigned bits, at;
} inside6[] = {
    { { 0 }, 96, 12 },                                      /* compatible */
    { { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff }, 96, 12 },   /* mapped */
    { { 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0 }, 96, 12 },   /* SIIT */
    { { 0, 0x64, 0xff, 0x9b }, 96, 12 },                    /* NAT64 */
    { { 0x20, 0x02 }, 16, 2 },                              /* 6to4 */
};

static bool starts_with(const uint8_t *bytes, const uint8_t *first,
                        unsigned bits)
{
    unsigned whole = bits / 8, rest = bits % 8;
    if (memcmp(bytes, first, whole) != 0)
        return false;
    uint8_t mask = (uint8_t)(0xFF00 >> rest);
    return !rest || (bytes[whole] & mask) == (first[whole] & mask);
}

static bool is_public4(const uint8_t *bytes)
{
    for (size_t i = 0; i < sizeof hidden4 / sizeof *hidden4; i++)
        if (starts_with(bytes, hidden4[i].first, hidden4[i].bits))
            return false;
    return true;
}

/* Only 2000::/3 is global unicast; of it, 2001::/23 and the documentation are
 * not. */
static bool is_public6(const uint8_t *bytes)
{
    static const uint8_t global[] = { 0x20 };
    static const uint8_t special[] = { 0x20, 0x01, 0x00 };
    static const uint8_t paper[] = { 0x20, 0x01, 0x0d, 0xb8 };
    for (size_t i = 0; i < sizeof inside6 / sizeof *inside6; i++)
        if (starts_with(bytes, inside6[i].first, inside6[i].bits))
            return inside6[i].at == 12 && inside6[i].first[10] == 0 &&
                           inside6[i].first[1] == 0 && !inside6[i].first[8]
                       ? false              /* ::1, :: and the old form */
                       : is_public4(bytes + inside6[i].at);
    return starts_with(bytes, global, 3) && !starts_with(bytes, special, 23) &&
           !starts_with(bytes, paper, 32);
}

bool address_is_public(const struct sockaddr *address)
{
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    uint8_t bytes[4];
    if (address->sa_family == AF_INET) {
        memcpy(&v4, address, sizeof v4);
        memcpy(bytes, &v4.sin_addr, sizeof bytes);
        return is_public4(bytes);
    }
    if (address->sa_family != AF_INET6)
        return false;
    memcpy(&v6, address, sizeof v6);
    return is_public6(v6.sin6_addr.s6_addr);
}
