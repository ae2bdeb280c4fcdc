/* test_trust.c - where CA certificates are looked for, and in which order */
#include "net/trust.h"

#include "harness/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];

/* An empty file of this name in a new directory, or none if it is NULL. */
static const char *dir_with(const char *name)
{
    static char path[128];
    snprintf(folder, sizeof folder, "/tmp/allm-trust-XXXXXX");
    if (!mkdtemp(folder))
        return NULL;
    if (name) {
        snprintf(path, sizeof path, "%s/%s", folder, name);
        FILE *f = fopen(path, "w");
        if (f)
            fclose(f);
    }
    return folder;
}

static void remove_dir(const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name ? name : "none");
    unlink(path);
    rmdir(folder);
}

/* "file F", "dir D, else B", "default", or "no memory". */
static const char *found_by(const char *ca_file, struct trust_system system,
                            bool read_dir)
{
    static char text[512];
    struct arena a;
    struct trust t;
    arena_init(&a, mem_default());
    bool memory = trust_find(&t, &a, ca_file, &system);
    if (memory && read_dir)
        CHECK_ALWAYS(trust_read_dir(&t) == (t.bundle != NULL));
    if (!memory)
        snprintf(text, sizeof text, "no memory");
    else if (t.file && !t.dir)
        snprintf(text, sizeof text, "file %s", t.file);
    else if (t.dir)
        snprintf(text, sizeof text, "dir %s, else %s", t.dir,
                 t.bundle ? t.bundle
                 : t.file ? t.file
                          : "nothing");
    else
        snprintf(text, sizeof text, "default");
    arena_release(&a);
    return text;
}

static const char *found(const char *ca_file, struct trust_system system)
{
    return found_by(ca_file, system, true);
}

static void forget_environment(void)
{
    unsetenv("SSL_CERT_FILE");
    unsetenv("SSL_CERT_DIR");
}

static void a_directory_needs_hashed_names(void)
{
    static const struct {
        const char *name;
        bool used;
    } rows[] = {
        { NULL, false },          { "002c0b4f.0", true },
        { "002c0b4f.12", true },  { "002C0B4F.0", false },
        { "002c0b4f.", false },   { "002c0b4f.r0", false },
        { "02c0b4f.0", false },   { "1002c0b4f.0", false },
        { "002c0b4f.0x", false }, { "ca-certificates.crt", false },
    };
    forget_environment();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char expected[128];
        const char *dir = dir_with(rows[i].name);
        if (!dir)
            return;
        check_row(rows[i].name ? rows[i].name : "empty");
        snprintf(expected, sizeof expected,
                 rows[i].used ? "dir %s, else /b" : "file /b", dir);
        CHECK_TEXT(found(NULL, (struct trust_system){ "/b", dir, true }),
                   expected);
        CHECK_TEXT(found(NULL, (struct trust_system){ "/b", dir, false }),
                   "file /b");
        remove_dir(rows[i].name);
    }
    check_row("missing");
    CHECK_TEXT(found(NULL, (struct trust_system){ "/b", "/no/such", true }),
               "file /b");
    CHECK_TEXT(found(NULL, (struct trust_system){ NULL, "/no/such", true }),
               "default");
}

static void the_bundle_names_its_directory(void)
{
    char bundle[128], expected[256];
    forget_environment();
    const char *dir = dir_with("0a1b2c3d.0");
    if (!dir)
        return;
    snprintf(bundle, sizeof bundle, "%s/all.pem", dir);
    snprintf(expected, sizeof expected, "dir %s, else %s", dir, bundle);
    CHECK_TEXT(found(NULL, (struct trust_system){ bundle, NULL, true }),
               expected);
    CHECK_TEXT(found(NULL, (struct trust_system){ "all.pem", NULL, true }),
               "file all.pem");
    remove_dir("0a1b2c3d.0");
}

/* Until then the bundle counts, or libcurl's default. */
static void a_directory_is_read_when_it_is_needed(void)
{
    forget_environment();
    const char *dir = dir_with("0a1b2c3d.0");
    if (!dir)
        return;
    CHECK_TEXT(found_by(NULL, (struct trust_system){ "/b", dir, true }, false),
               "file /b");
    CHECK_TEXT(found_by(NULL, (struct trust_system){ NULL, dir, true }, false),
               "default");
    remove_dir("0a1b2c3d.0");
}

static void others_come_before_the_system(void)
{
    char expected[128];
    forget_environment();
    const char *dir = dir_with("0a1b2c3d.0");
    if (!dir)
        return;
    const struct trust_system system = { "/b", dir, true };
    CHECK_TEXT(found("/mine", system), "file /mine");
    setenv("SSL_CERT_FILE", "/theirs", 1);
    CHECK_TEXT(found(NULL, system), "file /theirs");
    CHECK_TEXT(found("/mine", system), "file /mine");
    setenv("SSL_CERT_DIR", "/all", 1);
    CHECK_TEXT(found(NULL, system), "dir /all, else /theirs");
    unsetenv("SSL_CERT_FILE");
    CHECK_TEXT(found(NULL, system), "dir /all, else nothing");
    setenv("SSL_CERT_DIR", "", 1);
    snprintf(expected, sizeof expected, "dir %s, else /b", dir);
    CHECK_TEXT(found(NULL, system), expected);
    unsetenv("SSL_CERT_DIR");
    remove_dir("0a1b2c3d.0");
}

static void only_the_systems_directory_has_a_substitute(void)
{
    struct trust t = { .dir = "/d", .bundle = "/b" };
    CHECK_ALWAYS(trust_fall_back(&t));
    CHECK_ALWAYS(!strcmp(t.file, "/b") && !t.dir && !t.bundle);
    CHECK_ALWAYS(!trust_fall_back(&t));
    t = (struct trust){ .dir = "/d", .file = "/f" };
    CHECK_ALWAYS(!trust_fall_back(&t));
    CHECK_ALWAYS(t.dir && t.file);
}

TESTS = {
    TEST(a_directory_needs_hashed_names),
    TEST(the_bundle_names_its_directory),
    TEST(a_directory_is_read_when_it_is_needed),
    TEST(others_come_before_the_system),
    TEST(only_the_systems_directory_has_a_substitute),
    TESTS_END,
};
