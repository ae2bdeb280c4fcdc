/*
 * poison.h - mark bytes as inaccessible for AddressSanitizer
 *
 * An arena takes large blocks, so the sanitizer alone would notice neither an
 * access beyond a piece nor the use of a piece after a reset.  Without the
 * sanitizer these functions do nothing.
 */
#pragma once

#include <stddef.h>

#if defined(__SANITIZE_ADDRESS__)               /* gcc */
#define POISON_WORKS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)            /* clang */
#define POISON_WORKS 1
#endif
#endif

#ifdef POISON_WORKS
/* As in <sanitizer/asan_interface.h>, which is not installed everywhere. */
void __asan_poison_memory_region(const volatile void *p, size_t size);
void __asan_unpoison_memory_region(const volatile void *p, size_t size);
#endif

static inline void poison(const void *p, size_t size)
{
#ifdef POISON_WORKS
    __asan_poison_memory_region(p, size);
#else
    (void)p, (void)size;
#endif
}

static inline void unpoison(const void *p, size_t size)
{
#ifdef POISON_WORKS
    __asan_unpoison_memory_region(p, size);
#else
    (void)p, (void)size;
#endif
}
