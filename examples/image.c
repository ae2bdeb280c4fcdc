/*
 * image.c - a message with text and images
 *
 * The content of a message is a text or a list of parts.  An image is bytes,
 * base64, a URL or a file.  Creating one reads no file; converting it may.
 */
#include <allm.h>
#include <stdio.h>

/* A conversion returns a text, or a text with an error. */
static void show(const char *title, const allm_image *image)
{
    allm_text *uri = allm_image_to_data_uri(image);
    const allm_error *error = allm_text_error(uri);
    printf("%-9s%s\n", title,
           error ? error->message : allm_text_bytes(uri, NULL));
    allm_text_free(uri);
}

int main(void)
{
    static const unsigned char bytes[] = { 0x89, 'P', 'N', 'G', '\r', '\n' };
    allm_image *picture = allm_image_from_binary(bytes, sizeof bytes,
                                                 "image/png");
    allm_image *remote = allm_image_from_url("https://example.com/tulip.png");
    allm_image *missing = allm_image_from_file("no-such-tulip.png");
    show("bytes", picture);
    show("a URL", remote);
    show("a file", missing);

    const allm_part *parts[] = {
        ALLM(part, .kind = ALLM_PART_TEXT, .text = "Which flower is this?"),
        ALLM(part, .kind = ALLM_PART_IMAGE, .image = picture,
             .detail = ALLM_DETAIL_LOW),
    };
    allm_message *message = allm_message_new(
        ALLM(message, .role = ALLM_ROLE_USER, .parts = parts, .part_count = 2));
    allm_text *json = allm_message_json(message, ALLM_FORM_PLAIN);
    const allm_error *error = allm_text_error(json);
    printf("%-9s%s\n", "message",
           error ? error->message : allm_text_bytes(json, NULL));

    int status = error ? 1 : 0;
    allm_text_free(json);
    allm_message_free(message);
    allm_image_free(missing);
    allm_image_free(remote);
    allm_image_free(picture);
    return status;
}
