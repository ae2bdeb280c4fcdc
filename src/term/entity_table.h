/* entity_table.h - the names of HTML 5, which tools/embed-entities writes */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* "NAME\0TEXT\0NAME\0...", sorted by name, and where each name begins. */
extern const unsigned char entity_text[];
extern const uint16_t entity_start[];
extern const size_t entity_count;
