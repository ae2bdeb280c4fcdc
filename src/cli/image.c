/*
 * image.c - allm image: generate or edit images, and write them to files
 *
 * A file is written under another name first and then linked, so it is complete
 * or not there, and an existing file is never replaced without --force.  An
 * image that cannot be written there is kept in /tmp: it was paid for.
 */
#include "cli/attach.h"
#include "cli/command.h"
#include "cli/exit.h"
#include "cli/input.h"
#include "cli/opts.h"
#include "cli/output.h"
#include "cli/print.h"
#include "cli/reword.h"
#include "cli/target.h"
#include "term/bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { INPUTS = 16 };

static struct settings {
    const char *model, *mask, *size, *out;
    struct flag_list files, options;
    uint32_t count;
    bool force;
} settings;

#define AT(member) offsetof(struct settings, member)

static const struct flag flags[] = {
    { 'm', "--model", FLAG_TEXT, AT(model), "P:M",
      "the model; openai:gpt-image-1", FILL_MODEL },
    { 'a', "--attach", FLAG_LIST, AT(files), "FILE",
      "an image to edit; may be repeated", FILL_FILE },
    { 0, "--mask", FLAG_TEXT, AT(mask), "FILE", "where to edit it",
      FILL_FILE },
    { 'n', "--count", FLAG_NUMBER, AT(count), "N", "how many images" },
    { 0, "--size", FLAG_TEXT, AT(size), "WxH", "such as 1024x1024, or auto" },
    { 'o', "--option", FLAG_PAIR, AT(options), "K V",
      "an option of the provider, such as quality high" },
    { 'O', "--out", FLAG_TEXT, AT(out), "FILE|-",
      "the file; image.png, image-2.png ...", FILL_FILE },
    { 0, "--force", FLAG_SWITCH, AT(force), NULL, "replace files" },
    { .name = NULL },
};

/* The images to edit, read into memory. */
struct sources {
    struct input bytes[INPUTS + 1];
    allm_image *image[INPUTS + 1];
    size_t count; /* without the mask */
    allm_image *mask;
};

/* The content says what it is, not the name. */
static allm_image *load_image(struct input *in, const char *path)
{
    if (!input_load(in, path))
        return NULL;
    const char *type = attach_type(in->ptr, in->len);
    if (type && !strncmp(type, "image/", 6))
        return allm_image_from_binary(in->ptr, in->len, type);
    print_fault("%s is not an image: PNG, JPEG, GIF or WebP", path);
    return NULL;
}

static bool load_sources(struct sources *s)
{
    if (settings.files.count > INPUTS)
        return print_fault("at most %d images can be edited at once", INPUTS);
    if (settings.mask && !settings.files.count)
        return print_fault("--mask needs an image to edit: -a FILE");
    for (; s->count < settings.files.count; s->count++) {
        s->image[s->count] = load_image(&s->bytes[s->count],
                                        settings.files.word[s->count]);
        if (!s->image[s->count])
            return false;
    }
    if (settings.mask)
        s->mask = load_image(&s->bytes[INPUTS], settings.mask);
    return !settings.mask || s->mask;
}

static void release_sources(struct sources *s)
{
    for (size_t i = 0; i < s->count; i++)
        allm_image_free(s->image[i]);
    allm_image_free(s->mask);
    for (size_t i = 0; i <= INPUTS; i++)
        input_release(&s->bytes[i]);
}

/* --------------------------------------------------------------- files --- */

static bool is_piped(void)
{
    return settings.out && !strcmp(settings.out, "-");
}

/* "image.png", "image-2.png" ... */
static bool name_file(char *out, size_t size, size_t index)
{
    const char *path = settings.out ? settings.out : "image.png";
    const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
    size_t stem = dot && (!slash || dot > slash) ? (size_t)(dot - path)
                                                 : strlen(path);
    int n = index ? snprintf(out, size, "%.*s-%zu%s", (int)stem, path,
                             index + 1, path + stem)
                  : snprintf(out, size, "%s", path);
    return n > 0 && (size_t)n < size - 16;
}

/* Give the complete file its name.  Returns 0 or an errno. */
static int place_file(const char *temp, const char *path)
{
    int error = settings.force ? ENOTSUP : link(temp, path) ? errno : 0;
    if (!error)
        unlink(temp);
    else if (error != EEXIST) /* there may be no links on this file system */
        error = rename(temp, path) ? errno : 0;
    return error;
}

/* Write a new file and close it.  Returns 0 or an errno. */
static int fill_file(int fd, const char *bytes, size_t len)
{
    int error = fd < 0 ? errno : output_write(fd, bytes, len);
    if (fd >= 0 && (fsync(fd) || close(fd)) && !error)
        error = errno;
    return error;
}

/* The image was paid for: keep it somewhere, and say where. */
static void rescue_image(const char *name, int error, const char *bytes,
                         size_t len)
{
    char path[] = "/tmp/allm-XXXXXX";
    const char *why = error == EEXIST ? "it exists by now" : strerror(error);
    int fd = mkstemp(path);
    bool kept = !fill_file(fd, bytes, len);
    if (!kept && fd >= 0)
        unlink(path);
    print_fault("cannot write %s: %s%s%s", name, why,
                kept ? "; the image is in " : "", kept ? path : "");
}

static int write_file(const char *path, const char *bytes, size_t len)
{
    char temp[4160];
    snprintf(temp, sizeof temp, "%s.%ld.part", path, (long)getpid());
    int fd = open(temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    int error = fill_file(fd, bytes, len);
    if (!error)
        error = place_file(temp, path);
    if (!error) {
        print_format("%s\n", path);
        return END_DONE;
    }
    if (fd >= 0)
        unlink(temp);
    rescue_image(path, error, bytes, len);
    return END_USAGE;
}

static int pipe_image(const char *bytes, size_t len)
{
    int error = output_write(STDOUT_FILENO, bytes, len);
    if (error)
        rescue_image("to standard output", error, bytes, len);
    return error == EPIPE ? END_SIGNAL + SIGPIPE
           : error        ? END_FAILED
                          : END_DONE;
}

/* Write an image.  The provider may have sent only its address. */
static int save_image(const struct target *t, const allm_image *image,
                      size_t index)
{
    static struct taps none = { .trace_fd = -1 };
    char path[4096];
    struct input body = { NULL, 0, 0 };
    const char *bytes = image->data;
    size_t len = image->data_len;
    if (image->source == ALLM_IMAGE_URL) {
        if (!attach_is_url(bytes) ||
            !attach_fetch(&body, bytes, &t->net, &none)) {
            print_note("the image is at %.4000s", bytes);
            return END_FAILED;
        }
        bytes = body.ptr;
        len = body.len;
    }
    bool fits = is_piped() || name_file(path, sizeof path, index);
    int code = is_piped() ? pipe_image(bytes, len)
               : fits     ? write_file(path, bytes, len)
                          : END_USAGE;
    if (!fits)
        rescue_image(path, ENAMETOOLONG, bytes, len);
    input_release(&body);
    return code;
}

static int write_images(const struct target *t, const allm_image_response *r)
{
    size_t count = is_piped() && r->image_count ? 1 : r->image_count;
    int code = count ? END_DONE : END_FAILED;
    for (size_t i = 0; i < count; i++) {
        int one = save_image(t, r->images[i], i);
        code = code == END_DONE ? one : code;
    }
    return code;
}

/* ---------------------------------------------------------------- call --- */

/* Move a member of one object to another. */
static bool move_member(allm_json **from, allm_json **to, const char *name)
{
    const allm_json *value = allm_json_get(*from, name);
    if (!value)
        return true;
    allm_json *more = allm_json_set(*to, name, value);
    allm_json *less = allm_json_set(*from, name, NULL);
    allm_json_free(*to);
    allm_json_free(*from);
    *to = more;
    *from = less;
    return more && less;
}

/* The options of the settings and of -o that are not the provider's. */
static allm_json *take_address(const struct target *t, struct opts *options)
{
    static const char *const names[] = { "base_url", "extra_headers",
                                         "adapter_opts" };
    allm_json *address = target_address(t);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!move_member(&options->json, &address, names[i]))
            break;
    return address;
}

static int make_images(const struct target *t, const struct sources *s,
                       struct opts *options, const char *prompt)
{
    allm_engine *engine =
        allm_engine_new(ALLM(engine_opts, .model = t->model, .keys = t->keys,
                             .catalog = t->catalog, .net = &t->net));
    allm_json *address = take_address(t, options);
    allm_image_request request = {
        .size = sizeof request,
        .operation = s->count ? ALLM_IMAGE_OP_EDIT : ALLM_IMAGE_OP_GENERATE,
        .response_format = ALLM_IMAGE_FORMAT_BINARY,
        .model = t->model,
        .prompt = prompt,
        .n = { settings.count, settings.count > 0 },
        .size_text = settings.size,
        .input_image_count = s->count,
        .input_images = (const allm_image *const *)s->image,
        .mask = s->mask,
        .options = options->json,
    };
    allm_stream *stream = allm_image_generate(engine, &request,
                                              ALLM(call_opts, .json = address));
    allm_stream_wait(stream);
    const allm_image_response *r = allm_stream_image_response(stream);
    const allm_error *error = allm_stream_error(stream);
    int code = r ? write_images(t, r) : exit_of_error(error);
    if (!r && error)
        reword_print(error);
    allm_stream_free(stream);
    allm_json_free(address);
    allm_engine_free(engine);
    return code;
}

/* Can files be made in the folder of this one? */
static bool can_create(const char *path)
{
    char folder[4096];
    const char *slash = strrchr(path, '/');
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash + 1 - path) : 1,
             slash ? path : ".");
    return !access(folder, W_OK | X_OK) ||
           print_fault("cannot write %s: %s", path, strerror(errno));
}

/* Is there no such name, or only a file, which --force replaces? */
static bool is_free(const char *path)
{
    struct stat about;
    if (lstat(path, &about))
        return true;
    if (!settings.force)
        return print_fault("%s exists; --force replaces it", path);
    return stat(path, &about) || S_ISREG(about.st_mode) ||
           print_fault("cannot replace %s: it is not a regular file", path);
}

/* Refuse what would be found only after the images were paid for. */
static bool can_write(void)
{
    char path[4096];
    if (is_piped() && settings.count > 1)
        return print_fault("-O - takes one image; name a file for -n %u",
                           settings.count);
    if (is_piped())
        return !isatty(STDOUT_FILENO) ||
               print_fault("the bytes of an image are not written to a "
                           "terminal");
    if (settings.out && !*settings.out)
        return print_fault("-O needs the name of a file");
    for (size_t i = 0; i < (settings.count ? settings.count : 1); i++) {
        if (!name_file(path, sizeof path, i))
            return print_fault("%s: the name is too long", path);
        if (!is_free(path))
            return false;
    }
    return can_create(path);
}

static bool has_prompt(const struct bytes *prompt)
{
    const char *text = bytes_string(prompt);
    if (!text[strspn(text, " \t\r\n")])
        return print_fault("image needs a prompt: allm image PROMPT...");
    return input_bytes_are_text(text, prompt->len) ||
           print_fault("the prompt is not UTF-8 text");
}

static int run_image_command(int argc, char **argv)
{
    static struct sources sources;
    struct bytes prompt = { NULL, 0, 0 };
    struct opts options = { NULL };
    struct target target = { .keyless = false };
    if (!flags_read(flags, &settings, &argc, argv))
        return END_USAGE;
    for (int i = 0; i < argc; i++) {
        bytes_text(&prompt, i ? " " : "");
        bytes_text(&prompt, argv[i]);
    }
    bool asks = has_prompt(&prompt);
    int code = asks && can_write() && load_sources(&sources) &&
                       opts_read(&options, &settings.options)
                   ? target_choose(&target, settings.model
                                                ? settings.model
                                                : "openai:gpt-image-1")
                   : END_USAGE;
    if (code == END_DONE)
        code = make_images(&target, &sources, &options, bytes_string(&prompt));
    opts_release(&options);
    release_sources(&sources);
    target_release(&target);
    bytes_release(&prompt);
    return code;
}

const struct command image_command = {
    .name = "image",
    .usage = "[FLAG...] PROMPT...",
    .summary = "generate images, or edit some, and write them to files",
    .more = "The names of the files are printed.  A file that exists is not "
            "replaced.\n",
    .examples = "allm image -O fox.png \"A fox in the snow\"\n"
                "allm image -a fox.png -O night.png \"The same at night\"\n",
    .flags = flags,
    .group = GROUP_TALK,
    .run = run_image_command,
};
