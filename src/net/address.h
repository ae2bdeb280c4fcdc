/* address.h - which addresses are on the public Internet */
#pragma once

#include <stdbool.h>

struct sockaddr;

/*
 * Is it neither of this machine nor of a private network?  Loopback, private,
 * link-local (with the metadata services of clouds), shared (CGNAT), multicast,
 * reserved and unspecified addresses are not public, nor is an address of
 * version 6 that contains one of those.
 */
bool address_is_public(const struct sockaddr *address);
