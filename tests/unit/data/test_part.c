/*
 * test_part.c - the pieces of a message
 *
 * A part has no constructor: it is copied with its message.
 */
#include "data/part.h"

#include "harness/noun.h"

#include <stdio.h>
#include <stdlib.h>

static allm_message *user(const allm_part *const *parts, size_t n)
{
    return allm_message_new(
        ALLM(message, .role = ALLM_ROLE_USER, .parts = parts, .part_count = n));
}

/* Part i of a message, or NULL. */
static const allm_part *part(const allm_message *m, size_t i)
{
    return m && i < m->part_count ? m->parts[i] : NULL;
}

static void parts_of_every_kind_are_copied(void)
{
    allm_json *metadata = noun_json("{'a':1}"), *state = noun_json("'s'");
    allm_json *kept = noun_json("{'k':2}"), *other = noun_json("42");
    allm_image *image = allm_image_from_url("https://x.org/cat.png");
    const allm_part *given[] = {
        ALLM(part, .kind = ALLM_PART_TEXT, .text = "a\0b", .text_len = 3,
             .metadata = metadata, .provider_state = state, .kept = kept),
        ALLM(part, .kind = ALLM_PART_IMAGE, .image = image,
             .detail = ALLM_DETAIL_HIGH, .metadata = metadata,
             .provider_state = state, .kept = kept),
        ALLM(part, .kind = ALLM_PART_OTHER, .kept = other),
    };
    allm_message *m = user(given, 3);
    allm_image_free(image);
    allm_json_free(metadata);
    allm_json_free(state);
    allm_json_free(kept);
    allm_json_free(other);
    CHECK_WELL(allm_message_error(m));
    CHECK_INT(GET(m, part_count), 3);
    CHECK_INT(GET(m, role), ALLM_ROLE_USER);
    const allm_part *p = part(m, 0);
    struct slice text = { GET(p, text), GET(p, text_len) };
    CHECK_INT(GET(p, kind), ALLM_PART_TEXT);
    CHECK_SLICE(text, SLICE("a\0b"));
    CHECK_VALUE(GET(p, metadata), "{'a':1}");
    CHECK_VALUE(GET(p, provider_state), "'s'");
    CHECK_VALUE(GET(p, kept), "{'k':2}");
    p = part(m, 1);
    CHECK_INT(GET(p, kind), ALLM_PART_IMAGE);
    CHECK_INT(GET(p, detail), ALLM_DETAIL_HIGH);
    CHECK_TEXT(p && p->image ? p->image->data : NULL, "https://x.org/cat.png");
    CHECK_VALUE(GET(p, metadata), "{'a':1}");
    CHECK_VALUE(GET(p, provider_state), "'s'");
    CHECK_VALUE(GET(p, kept), "{'k':2}");
    p = part(m, 2);
    CHECK_INT(GET(p, kind), ALLM_PART_OTHER);
    CHECK_VALUE(GET(p, kept), "42");
    allm_message_free(m);
}

static void the_detail_is_auto_by_default(void)
{
    allm_image *image = allm_image_from_url("u");
    const allm_part *one = ALLM(part, .kind = ALLM_PART_IMAGE, .image = image);
    allm_message *m = user(&one, 1);
    CHECK_INT(GET(part(m, 0), detail), ALLM_DETAIL_AUTO);
    CHECK(!GET(part(m, 0), metadata));
    allm_message_free(m);
    allm_image_free(image);
}

static void a_part_that_lacks_something_is_refused(void)
{
    static const struct {
        const char *why;
        allm_part given;
        const char *reason, *words;
    } rows[] = {
        { "a text without text", { .kind = ALLM_PART_TEXT },
          "missing_field", "a text part has no text" },
        { "an image without image", { .kind = ALLM_PART_IMAGE },
          "missing_field", "an image part has no image" },
        { "nothing of somebody else", { .kind = ALLM_PART_OTHER },
          "missing_field", "nothing kept" },
        { "no kind", { .text = "x" }, "missing_field", "a part has no kind" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].why);
        allm_part given = rows[i].given;
        given.size = sizeof given;
        const allm_part *one = &given;
        allm_message *m = user(&one, 1);
        CHECK_MISUSE(allm_message_error(m), rows[i].reason, rows[i].words);
        CHECK(!GET(m, parts) && !GET(m, part_count) && !GET(m, role));
        allm_message_free(m);
    }
}

static void a_refused_image_does_not_travel(void)
{
    allm_image *bad = allm_image_from_url(NULL);
    const allm_part *one = ALLM(part, .kind = ALLM_PART_IMAGE, .image = bad);
    allm_message *m = user(&one, 1);
    allm_image_free(bad);
    if (bad)
        CHECK_MISUSE(allm_message_error(m), "missing_field", "URL is missing");
    allm_message_free(m);
}

static void sizes(void)
{
    static const allm_part full = { .kind = ALLM_PART_TEXT, .text = "x" };
    static const struct {
        const char *why;
        size_t size;
        const char *reason;
    } rows[] = {
        { "not set", 0, "struct_size" },
        { "it ends before its kind", offsetof(allm_part, kind),
          "missing_field" },
        { "it ends before its text", offsetof(allm_part, text),
          "missing_field" },
        { "it ends behind its text", offsetof(allm_part, image), NULL },
        { "a newer one", sizeof full + 16, NULL },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].why);
        size_t n = rows[i].size;
        allm_part *given = noun_sized(&full, sizeof full, n ? n : sizeof full);
        given->size = n;
        const allm_part *one = given;
        allm_message *m = user(&one, 1);
        CHECK_ERROR(allm_message_error(m),
                    rows[i].reason ? ALLM_ERR_MISUSE : ALLM_OK, rows[i].reason,
                    NULL);
        allm_message_free(m);
        free(given);
    }
}

/* ----------------------------------------------------------- JSON forms --- */

static void has_two_forms(void)
{
    allm_image *image = allm_image_from_base64("aGk=", "image/png");
    allm_json *other = noun_json("{'type':'audio'}");
    const allm_part *given[] = {
        ALLM(part, .kind = ALLM_PART_TEXT, .text = "hi"),
        ALLM(part, .kind = ALLM_PART_IMAGE, .image = image),
        ALLM(part, .kind = ALLM_PART_OTHER, .kept = other),
    };
    allm_message *m = user(given, 3);
    CHECK_JSON(allm_message_json(m, ALLM_FORM_PLAIN),
               "{'role':'user','content':["
               "{'type':'text','text':'hi','metadata':{}},"
               "{'type':'image','source':{'type':'base64','value':'aGk='},"
               "'mime_type':'image/png','detail':'auto','metadata':{}},"
               "{'type':'audio'}],"
               "'name':null,'tool_call_id':null,'metadata':{}}");
    CHECK_JSON(allm_message_json(m, ALLM_FORM_TAGGED),
               "{'__type__':'ALLM.Message','data':{'role':'user','content':["
               "{'__type__':'ALLM.TextPart','data':{'text':'hi',"
               "'metadata':{}}},"
               "{'__type__':'ALLM.ImagePart','data':{'image':"
               "{'__type__':'ALLM.Image','data':{'source':{'type':'base64',"
               "'value':'aGk='},'mime_type':'image/png','width':null,"
               "'height':null,'prompt':null,'revised_prompt':null,"
               "'metadata':{}}},'detail':'auto','metadata':{}}},"
               "{'type':'audio'}],"
               "'name':null,'tool_call_id':null,'metadata':{}}}");
    allm_message_free(m);
    allm_image_free(image);
    allm_json_free(other);
}

/* The content of a message that was read, as parts; then written again. */
static void reads_what_it_wrote(void)
{
    static const struct {
        const char *why, *content;
        int kind;
    } rows[] = {
        { "a text", "{'type':'text','text':'a','metadata':{'m':1}}",
          ALLM_PART_TEXT },
        { "an image", "{'type':'image','source':{'type':'url','value':'u'},"
          "'mime_type':null,'width':3,'height':4,'prompt':'p',"
          "'revised_prompt':'r','detail':'low','metadata':{}}",
          ALLM_PART_IMAGE },
        { "bytes", "{'type':'image','source':{'type':'binary','value':'aGk='},"
          "'mime_type':'x','detail':'high','metadata':{}}",
          ALLM_PART_IMAGE },
        { "unknown members", "{'type':'text','text':'a','metadata':{},"
          "'cache_control':{'type':'ephemeral'}}", ALLM_PART_TEXT },
        { "unknown members of an image", "{'type':'image','source':{'type':"
          "'url','value':'u'},'mime_type':null,'detail':'auto',"
          "'metadata':{},'x':1}", ALLM_PART_IMAGE },
        { "another type", "{'type':'audio','data':'...'}", ALLM_PART_OTHER },
        { "no type", "{'text':'a'}", ALLM_PART_OTHER },
        { "a tag that we do not know", "{'__type__':'ALLM.Song','data':{}}",
          ALLM_PART_OTHER },
        { "a number", "42", ALLM_PART_OTHER },
        { "null", "null", ALLM_PART_OTHER },
        { "a list", "[{'type':'text','text':'a'}]", ALLM_PART_OTHER },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].why);
        char text[512], want[600];
        size_t n = 0;
        snprintf(want, sizeof want,
                 "{'role':'user','content':[%s],'name':null,"
                 "'tool_call_id':null,'metadata':{}}",
                 rows[i].content);
        for (const char *c = want; *c && n < sizeof text - 1; c++)
            text[n++] = *c == '\'' ? '"' : *c;
        allm_codec *codec = allm_codec_decode(text, n, "Message", NULL);
        const allm_message *m = allm_codec_value(codec, ALLM_TYPE_MESSAGE);
        CHECK_WELL(allm_codec_error(codec));
        CHECK_INT(GET(part(m, 0), kind), rows[i].kind);
        /* unknown values in a plain form are written unchanged */
        if (rows[i].kind != ALLM_PART_OTHER)
            CHECK_JSON(allm_message_json(m, ALLM_FORM_PLAIN), want);
        allm_codec_free(codec);
    }
}

static void members_find_their_places(void)
{
    allm_codec *c = noun_read("Message",
                              "{'role':'user','content':["
                              "{'type':'text','text':'a','metadata':{}},"
                              "{'type':'image','source':{'type':'url',"
                              "'value':'u'},'detail':'low'}]}");
    const allm_message *m = allm_codec_value(c, ALLM_TYPE_MESSAGE);
    const allm_part *text = part(m, 0), *image = part(m, 1);
    CHECK_TEXT(GET(text, text), "a");
    CHECK(!GET(text, kept));
    CHECK_INT(GET(image, detail), ALLM_DETAIL_LOW);
    CHECK_TEXT(image && image->image ? image->image->data : NULL, "u");
    CHECK(!GET(image, kept));
    allm_codec_free(c);
}

TESTS = {
    TEST(parts_of_every_kind_are_copied),
    TEST(the_detail_is_auto_by_default),
    TEST(a_part_that_lacks_something_is_refused),
    TEST(a_refused_image_does_not_travel),
    TEST(sizes),
    TEST(has_two_forms),
    TEST(reads_what_it_wrote),
    TEST(members_find_their_places),
    TESTS_END
};
