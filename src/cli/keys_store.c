/* keys_store.c - allm keys set, rm and test */
#include "cli/exit.h"
#include "cli/input.h"
#include "cli/keys_parts.h"
#include "cli/print.h"
#include "cli/registry.h"
#include "cli/reword.h"
#include "cli/settings.h"
#include "cli/target.h"
#include "conf/file.h"
#include "conf/keyring.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

enum { LONGEST = 8192 };

int keys_report(int error)
{
    if (error == EBADMSG)
        print_fault("keys.json in the directory of \"allm config path\" is not "
                    "a JSON object; correct it or remove it");
    else if (error == EXDEV)
        print_fault("there is no home directory: set HOME, XDG_CONFIG_HOME or "
                    "ALLM_HOME");
    else
        print_fault("keys.json in the directory of \"allm config path\" cannot "
                    "be used: %s",
                    file_says(error));
    return END_USAGE;
}

/* One name that is not a key.  The word is not repeated: it may be one. */
static bool is_name(char **argv)
{
    if (argv[0] && !argv[1] && *argv[0] && !keyring_looks_secret(argv[0]))
        return true;
    if (argv[0] && argv[1])
        print_fault("keys takes one name, and never a key on the command line; "
                    "pass the key on standard input");
    else if (argv[0])
        print_fault("this looks like a key, not like the name of one; pass "
                    "the key on standard input: allm keys set NAME");
    else
        print_fault("the name of a key is missing: allm keys set openai");
    return false;
}

static struct termios before; /* the modes of the terminal */

/* End the program as the signal does, but with the echo. */
static void end_reading(int number)
{
    tcsetattr(STDIN_FILENO, TCSANOW, &before);
    raise(number);
}

static void catch_signals(void)
{
    static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
    struct sigaction act = { .sa_handler = end_reading };
    act.sa_flags = (int)SA_RESETHAND;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        sigaction(numbers[i], &act, NULL);
}

/* Read a line, without echo if it is from a terminal. */
static void read_secret(struct bytes *key)
{
    struct termios quiet;
    bool terminal = isatty(STDIN_FILENO) && !tcgetattr(STDIN_FILENO, &before);
    char c;
    if (terminal) {
        catch_signals();
        quiet = before;
        quiet.c_lflag &= ~(tcflag_t)ECHO;
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &quiet);
        print_note("key (it is not shown):");
    }
    while (key->len < LONGEST && read(STDIN_FILENO, &c, 1) == 1 && c != '\n')
        bytes_byte(key, c);
    if (terminal)
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &before);
    while (key->len && strchr(" \t\r", key->ptr[key->len - 1]))
        key->ptr[--key->len] = '\0';
}

/* A key has printable characters only; anything else is a mistake. */
static bool is_key(const struct bytes *key)
{
    for (size_t i = 0; i < key->len; i++)
        if (key->ptr[i] <= ' ' || key->ptr[i] > '~')
            return false;
    return key->len && key->len < LONGEST;
}

static int store_key(const char *name, const char *key, const char *from)
{
    int error = keyring_set(name, key, from);
    return error ? keys_report(error) : END_DONE;
}

static bool is_place(const char *from)
{
    bool place = keyring_is_reference(from) && !keyring_looks_secret(from) &&
                 strchr(from, ':')[1];
    if (!place)
        print_fault("--from takes env:VARIABLE, file:PATH or cmd:COMMAND");
    return place;
}

int keys_set(const char *from, char **argv)
{
    struct bytes key = { NULL, 0, 0 };
    int code = END_USAGE;
    if (!is_name(argv) || (from && !is_place(from)))
        return END_USAGE;
    if (from)
        return store_key(argv[0], NULL, from);
    read_secret(&key);
    if (is_key(&key))
        code = store_key(argv[0], key.ptr, NULL);
    else
        print_fault("expected a key of printable characters in one line on "
                    "standard input; nothing is stored");
    keyring_wipe(&key);
    return code;
}

int keys_remove(char **argv)
{
    int error;
    if (!is_name(argv))
        return END_USAGE;
    allm_json *stored = keyring_load(&error);
    bool there = allm_json_get(stored, argv[0]);
    allm_json_free(stored);
    if (error)
        return keys_report(error);
    if (there)
        return store_key(argv[0], NULL, NULL);
    return print_misuse("keys.json has no key \"%.100s\"", argv[0]);
}

/* ---------------------------------------------------------------- test --- */

/* Ask the provider for its models, which costs nothing. */
static int list_models(const struct target *t, const char *provider)
{
    allm_engine *engine = allm_engine_new(
        ALLM(engine_opts, .model = t->model, .keys = t->keys, .net = &t->net));
    allm_stream *stream = allm_models(
        engine, ALLM(call_opts, .json = t->options, .total_ms = 20000));
    allm_stream_wait(stream);
    const allm_error *error = allm_stream_error(stream);
    allm_error *better = reword_error(error);
    int code = exit_of_error(error);
    if (error)
        print_format("%-22s %.300s\n", provider,
                     better ? better->message : error->message);
    else
        print_format("%-22s works: %zu models\n", provider,
                     allm_json_count(allm_stream_models(stream)));
    allm_error_free(better);
    allm_stream_free(stream);
    allm_engine_free(engine);
    return code;
}

static int test_provider(const char *provider)
{
    char model[128];
    struct target t = { .next = 0 };
    snprintf(model, sizeof model, "%s:any", provider);
    struct wish wish = { .model = model, .any_model = true };
    int code = target_resolve(&t, &wish);
    if (code == END_DONE)
        code = list_models(&t, provider);
    target_release(&t);
    return code;
}

int keys_test(char **argv)
{
    if (argv[0])
        return is_name(argv) ? test_provider(argv[0]) : END_USAGE;
    int code = END_KEY;
    allm_json *names = target_providers_with_key();
    for (const allm_json *v = NULL; (v = allm_json_next(names, v));) {
        size_t len;
        const char *name = allm_json_text(v, &len);
        if (registry_is_keyless(registry_row(name, len)))
            continue;
        int one = test_provider(name);
        code = code == END_KEY || code == END_DONE ? one : code;
    }
    if (code == END_KEY)
        print_note("no provider has a key that works");
    allm_json_free(names);
    return code;
}
