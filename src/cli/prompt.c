/* prompt.c - build the prompt: attachments, standard input, arguments */
#include "cli/prompt.h"

#include "cli/attach.h"
#include "cli/input.h"
#include "cli/print.h"
#include "cli/registry.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct prompt {
    struct input text, piped;
    bool stdin_used; /* a file is "-" */
    size_t count, good; /* files; of the last prompt */
    struct input file[PROMPT_FILES];
    allm_image *image[PROMPT_FILES];
    allm_part part[PROMPT_FILES + 1];
    const allm_part *parts[PROMPT_FILES + 1];
} prompt;

static void release_prompt(struct prompt *p)
{
    input_release(&p->text);
    input_release(&p->piped);
    for (size_t i = 0; i < PROMPT_FILES; i++) {
        input_release(&p->file[i]);
        allm_image_free(p->image[i]);
        p->image[i] = NULL;
    }
    p->good = p->count;
    p->count = 0;
    p->stdin_used = false;
}

size_t prompt_good_files(void)
{
    return prompt.good;
}

static void trim_end(struct input *in)
{
    while (in->len &&
           (in->ptr[in->len - 1] == '\n' || in->ptr[in->len - 1] == '\r'))
        in->len--;
    if (in->ptr)
        in->ptr[in->len] = 0;
}

static bool is_stdin(const char *path)
{
    return !strcmp(path, "-");
}

/* Load a file, or standard input, which can be read once. */
static bool load_file(struct prompt *p, struct input *in, const char *path)
{
    if (is_stdin(path) && p->stdin_used) {
        return print_fault("standard input (-) can be used only once");
    }
    p->stdin_used = p->stdin_used || is_stdin(path);
    return input_load(in, path);
}

static bool read_piped(struct prompt *p)
{
    if (p->stdin_used || isatty(STDIN_FILENO))
        return true;
    if (!input_load(&p->piped, NULL))
        return false;
    bool ok = input_is_text(&p->piped);
    if (!ok)
        print_fault("standard input is not UTF-8 text; attach an image with "
                    "-a FILE, or with -a -");
    trim_end(&p->piped);
    return ok;
}

/* The length of a fence that no run of backticks in the text can end. */
static size_t fence_length(const struct input *in)
{
    size_t longest = 0, run = 0;
    for (size_t i = 0; i < in->len; i++) {
        run = in->ptr[i] == '`' ? run + 1 : 0;
        if (run > longest)
            longest = run;
    }
    return longest < 3 ? 3 : longest + 1;
}

static bool append_fence(struct input *to, size_t len)
{
    bool ok = true;
    while (len-- && ok)
        ok = input_append(to, "`", 1);
    return ok;
}

bool prompt_append_block(struct input *to, const char *name,
                         const struct input *text)
{
    size_t fence = fence_length(text);
    bool open = text->len && text->ptr[text->len - 1] != '\n';
    return append_fence(to, fence) && input_append(to, name, strlen(name)) &&
           input_append(to, "\n", 1) &&
           input_append(to, text->len ? text->ptr : "", text->len) &&
           input_append(to, "\n", open ? 1 : 0) && append_fence(to, fence) &&
           input_append(to, "\n\n", 2);
}

static bool add_blocks(struct prompt *p, const struct flag_list *texts)
{
    for (size_t i = 0; texts && i < texts->count; i++) {
        struct input in;
        const char *path = texts->word[i];
        if (!load_file(p, &in, path))
            return false;
        bool ok = input_is_text(&in);
        if (!ok)
            print_fault("%s is not UTF-8 text; attach an image with -a FILE",
                        path);
        ok = ok && prompt_append_block(&p->text,
                                       is_stdin(path) ? "stdin" : path, &in);
        input_release(&in);
        if (!ok)
            return false;
    }
    return true;
}

/* Append a text; a blank line before it, unless a block ends there. */
static bool append_text(struct prompt *p, const char *text, size_t len)
{
    bool after_block = p->text.len && p->text.ptr[p->text.len - 1] == '\n';
    const char *between = len && p->text.len && !after_block ? "\n\n" : "";
    return input_append(&p->text, between, strlen(between)) &&
           input_append(&p->text, len ? text : "", len);
}

/* The arguments with spaces between them; the caller releases them. */
static bool join_words(struct input *words, int argc, char **argv)
{
    for (int i = 0; i < argc; i++)
        if (!input_append(words, " ", i ? 1 : 0) ||
            !input_append(words, argv[i], strlen(argv[i])))
            return false;
    return true;
}

/* Append the standard input, the template and the words that it does not use.
 * $input is the standard input or, if there is none, the words. */
static bool append_template(struct prompt *p, const struct prompt_files *files,
                            struct input *words)
{
    const struct template_use *t = files->template;
    bool uses = template_uses(&t->file, "input");
    bool other = p->text.len || p->count; /* files stand for the input */
    struct input *input = uses && p->piped.len ? &p->piped : words;
    struct bytes body = { NULL, 0, 0 };
    bool ok = uses || append_text(p, p->piped.ptr, p->piped.len);
    const char *text = input->len ? input->ptr : other ? "" : NULL;
    ok = ok && template_use_fill(t, uses ? text : "", input->len, &body) &&
         append_text(p, bytes_string(&body), body.len);
    if (ok && !(uses && input == words))
        ok = append_text(p, words->ptr, words->len);
    bytes_release(&body);
    return ok;
}

static bool read_words(struct prompt *p, int argc, char **argv,
                       const struct prompt_files *files)
{
    struct input words = { 0 };
    bool ok = join_words(&words, argc, argv);
    if (ok && files->template && files->template->loaded)
        ok = append_template(p, files, &words);
    else
        ok = ok && append_text(p, p->piped.ptr, p->piped.len) &&
             append_text(p, words.ptr, words.len);
    input_release(&words);
    if (ok && p->text.ptr && !input_is_text(&p->text)) {
        print_fault("the prompt is not UTF-8 text");
        ok = false;
    }
    return ok;
}

/* Add an image, which the prompt frees. */
static bool add_image(struct prompt *p, const char *path, allm_image *image)
{
    const allm_error *error = allm_image_error(image);
    p->image[p->count] = image;
    if (!image || error)
        return print_fault("%s: %s", path,
                           error ? error->message : "out of memory");
    p->part[p->count] = (allm_part){ .size = sizeof(allm_part),
                                     .kind = ALLM_PART_IMAGE,
                                     .image = image };
    p->count++;
    return true;
}

/* The file name comes first, so the prompt can refer to it. */
static bool add_text(struct prompt *p, const char *path,
                     const struct input *content)
{
    struct input *whole = &p->file[p->count];
    bool ok = input_is_text(content);
    if (!ok)
        print_fault("%s is neither UTF-8 text nor an image (png, jpg, webp, "
                    "gif)",
                    path);
    ok = ok && input_append(whole, path, strlen(path)) &&
         input_append(whole, ":\n\n", 3) &&
         input_append(whole, content->ptr, content->len);
    p->part[p->count] = (allm_part){ .size = sizeof(allm_part),
                                     .kind = ALLM_PART_TEXT,
                                     .text = whole->ptr,
                                     .text_len = whole->len };
    p->count += ok;
    return ok;
}

/* Add a file that is loaded: the given type, or its content, says what it is.
 */
static bool add_content(struct prompt *p, const char *path,
                        struct input *content, const char *mime)
{
    const char *type = mime ? mime : attach_type(content->ptr, content->len);
    if (!type || !strncmp(type, "text/", 5))
        return add_text(p, path, content);
    if (strncmp(type, "image/", 6) != 0)
        return print_fault(
            "%s is of the type %s; text and images can be attached", path,
            type);
    p->file[p->count] = *content;
    *content = (struct input){ 0 };
    return add_image(p, path,
                     allm_image_from_binary(p->file[p->count].ptr,
                                            p->file[p->count].len, type));
}

static bool add_file(struct prompt *p, const char *path, const char *mime)
{
    struct input content = { 0 };
    if (p->count == PROMPT_FILES)
        return print_fault("too many files: a prompt can have %d",
                           PROMPT_FILES);
    if (attach_is_url(path))
        return add_image(p, path, allm_image_from_url(path));
    if (!load_file(p, &content, path))
        return false;
    bool ok = add_content(p, path, &content, mime);
    input_release(&content);
    return ok;
}

bool prompt_can_attach(const char *path)
{
    bool ok = add_file(&prompt, path, NULL);
    release_prompt(&prompt);
    return ok;
}

static bool add_files(struct prompt *p, const struct prompt_files *files)
{
    const struct flag_list *plain = files->attached, *typed = files->typed;
    for (size_t i = 0; plain && i < plain->count; i++)
        if (!add_file(p, plain->word[i], NULL))
            return false;
    for (size_t i = 0; typed && i < typed->count; i += 2)
        if (!add_file(p, typed->word[i], typed->word[i + 1]))
            return false;
    return true;
}

/* Is there anything but white space? */
static bool has_words(const struct prompt *p)
{
    return p->text.ptr && p->text.ptr[strspn(p->text.ptr, " \t\r\n\v\f")];
}

static allm_status append_message(allm_thread *thread, struct prompt *p)
{
    allm_message fields = { .size = sizeof fields, .role = ALLM_ROLE_USER };
    if (!p->count) {
        fields.text = p->text.ptr;
        fields.text_len = p->text.len;
    } else if (p->text.len) {
        p->part[p->count++] = (allm_part){ .size = sizeof(allm_part),
                                           .kind = ALLM_PART_TEXT,
                                           .text = p->text.ptr,
                                           .text_len = p->text.len };
    }
    for (size_t i = 0; i < p->count; i++)
        p->parts[i] = &p->part[i];
    if (p->count) {
        fields.parts = p->parts;
        fields.part_count = p->count;
    }
    allm_status status = allm_thread_append(thread, &fields);
    if (status < 0)
        print_fault("the prompt is not valid: %s",
                    allm_thread_error(thread)
                        ? allm_thread_error(thread)->message
                        : allm_status_name(status));
    return status;
}

allm_status prompt_add_files(allm_thread *thread, int argc, char **argv,
                             const struct prompt_files *files)
{
    struct prompt *p = &prompt;
    allm_status status = ALLM_ERR_MISUSE;
    if (add_files(p, files) && add_blocks(p, files->texts) && read_piped(p) &&
        read_words(p, argc, argv, files))
        status = has_words(p) || p->count ? append_message(thread, p)
                                          : ALLM_AGAIN;
    release_prompt(p);
    return status;
}

allm_status prompt_add(allm_thread *thread, int argc, char **argv,
                       const struct flag_list *files)
{
    const struct prompt_files all = { .attached = files };
    return prompt_add_files(thread, argc, argv, &all);
}

allm_status prompt_add_message(allm_thread *thread, const char *text,
                               const struct prompt_files *files)
{
    struct prompt *p = &prompt;
    allm_status status = ALLM_ERR_MISUSE;
    if (add_files(p, files) && input_append(&p->text, text, strlen(text)))
        status = append_message(thread, p);
    release_prompt(p);
    return status;
}

allm_status prompt_add_text(allm_thread *thread, const char *text,
                            const struct flag_list *files)
{
    const struct prompt_files all = { .attached = files };
    return prompt_add_message(thread, text, &all);
}

/* Is it an image at a URL that the program fetches? */
static const char *find_url(const allm_part *part, const struct target *t)
{
    const allm_image *i = part->kind == ALLM_PART_IMAGE ? part->image : NULL;
    return i && i->source == ALLM_IMAGE_URL &&
                   !registry_fetches(t->model, i->data)
               ? i->data
               : NULL;
}

/* The parts of a message, with the bytes of what was a URL. */
static bool fetch_parts(struct prompt *p, const allm_message *m,
                        const struct target *t, struct taps *taps)
{
    for (; p->count < m->part_count; p->count++) {
        const char *url = find_url(m->parts[p->count], t);
        struct input *in = &p->file[p->count];
        p->parts[p->count] = url ? &p->part[p->count] : m->parts[p->count];
        if (!url)
            continue;
        if (!attach_fetch(in, url, &t->net, taps))
            return false;
        const char *type = attach_type(in->ptr, in->len);
        if (!type || strncmp(type, "image/", 6) != 0)
            return print_fault("%s is not an image (png, jpg, webp, gif)", url);
        if (!add_image(p, url, allm_image_from_binary(in->ptr, in->len, type)))
            return false;
        p->count--;
    }
    return true;
}

bool prompt_fetch_images(allm_thread **thread, const struct target *t,
                         struct taps *taps)
{
    struct prompt *p = &prompt;
    const allm_message *last = allm_thread_last(*thread);
    allm_message m = { .size = sizeof m, .role = ALLM_ROLE_USER };
    const char *url = NULL;
    for (size_t i = 0; !url && last && i < last->part_count; i++)
        url = find_url(last->parts[i], t);
    if (!url)
        return true;
    if (!taps)
        return print_fault("this provider does not fetch images, and "
                           "--dry-run does not either; save %.500s, and "
                           "attach the file",
                           url);
    bool ok = fetch_parts(p, last, t, taps);
    if (ok) {
        allm_thread *with = allm_thread_new(NULL);
        m.parts = p->parts;
        m.part_count = p->count;
        ok = allm_thread_append(with, &m) == ALLM_OK ||
             print_fault("out of memory");
        allm_thread_free(*thread);
        *thread = with;
    }
    release_prompt(p);
    return ok;
}
