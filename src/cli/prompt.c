/* prompt.c - build the prompt: attachments, standard input, arguments */
#include "cli/prompt.h"

#include "cli/input.h"
#include "cli/print.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MOST_FILES = 64 };

static struct prompt {
    struct input text;
    size_t count;
    struct input file[MOST_FILES];
    allm_image *image[MOST_FILES];
    allm_part part[MOST_FILES + 1];
    const allm_part *parts[MOST_FILES + 1];
} prompt;

static void release_prompt(struct prompt *p)
{
    input_release(&p->text);
    for (size_t i = 0; i < MOST_FILES; i++) {
        input_release(&p->file[i]);
        allm_image_free(p->image[i]);
        p->image[i] = NULL;
    }
    p->count = 0;
}

static void trim_end(struct input *in)
{
    while (in->len &&
           (in->ptr[in->len - 1] == '\n' || in->ptr[in->len - 1] == '\r'))
        in->len--;
    if (in->ptr)
        in->ptr[in->len] = 0;
}

static bool read_piped(struct prompt *p)
{
    if (isatty(STDIN_FILENO))
        return true;
    if (!input_load(&p->text, NULL))
        return false;
    if (!input_is_text(&p->text)) {
        print_fault("standard input is not UTF-8 text; attach an image with "
                    "-a FILE");
        return false;
    }
    trim_end(&p->text);
    return true;
}

static bool read_words(struct prompt *p, int argc, char **argv)
{
    const char *between = p->text.len ? "\n\n" : "";
    for (int i = 0; i < argc; i++) {
        if (!input_append(&p->text, between, strlen(between)) ||
            !input_append(&p->text, argv[i], strlen(argv[i])))
            return false;
        between = " ";
    }
    if (p->text.ptr && !input_is_text(&p->text)) {
        print_fault("the prompt is not UTF-8 text");
        return false;
    }
    return true;
}

static bool is_image(const char *path)
{
    static const char *const ends[] = { ".png", ".jpg", ".jpeg", ".webp",
                                        ".gif", ".PNG", ".JPG",  ".JPEG" };
    size_t len = strlen(path);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        size_t n = strlen(ends[i]);
        if (len > n && !strcmp(path + len - n, ends[i]))
            return true;
    }
    return false;
}

/* The file name determines the type. */
static bool add_image(struct prompt *p, const char *path)
{
    struct input *bytes = &p->file[p->count];
    if (!input_load(bytes, path))
        return false;
    allm_image *named = allm_image_from_file(path);
    allm_image *image = allm_image_from_binary(bytes->ptr, bytes->len,
                                               named ? named->mime_type : NULL);
    const allm_error *error = allm_image_error(image);
    allm_image_free(named);
    p->image[p->count] = image;
    if (error) {
        print_fault("%s: %s", path, error->message);
        return false;
    }
    p->part[p->count] = (allm_part){ .size = sizeof(allm_part),
                                     .kind = ALLM_PART_IMAGE,
                                     .image = image };
    p->count++;
    return true;
}

/* The file name comes first, so the prompt can refer to it. */
static bool add_text(struct prompt *p, const char *path)
{
    struct input content, *whole = &p->file[p->count];
    if (!input_load(&content, path))
        return false;
    bool ok = input_is_text(&content);
    if (!ok)
        print_fault("%s is neither UTF-8 text nor an image (png, jpg, webp, "
                    "gif)",
                    path);
    ok = ok && input_append(whole, path, strlen(path)) &&
         input_append(whole, ":\n\n", 3) &&
         input_append(whole, content.ptr, content.len);
    input_release(&content);
    p->part[p->count] = (allm_part){ .size = sizeof(allm_part),
                                     .kind = ALLM_PART_TEXT,
                                     .text = whole->ptr,
                                     .text_len = whole->len };
    p->count += ok;
    return ok;
}

static bool add_files(struct prompt *p, const struct flag_list *files)
{
    if (files->count > MOST_FILES) {
        print_fault("too many files: a prompt can have %d", MOST_FILES);
        return false;
    }
    for (size_t i = 0; i < files->count; i++) {
        const char *path = files->word[i];
        if (!(is_image(path) ? add_image(p, path) : add_text(p, path)))
            return false;
    }
    return true;
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

allm_status prompt_add(allm_thread *thread, int argc, char **argv,
                       const struct flag_list *files)
{
    struct prompt *p = &prompt;
    allm_status status = ALLM_ERR_MISUSE;
    if (add_files(p, files) && read_piped(p) && read_words(p, argc, argv))
        status = p->text.len || p->count ? append_message(thread, p)
                                         : ALLM_AGAIN;
    release_prompt(p);
    return status;
}
