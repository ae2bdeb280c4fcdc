/*
 * session_file.c - load a session from a file, change it and save it
 *
 * The tagged form of JSON names the type of every struct in it.  Unknown
 * members are kept and written again, so an older program does not damage what
 * a newer one has stored.
 */
#include <allm.h>
#include <stdio.h>

/* As a later version might write it: "mood" is unknown. */
static const char stored[] =
    "{\"__type__\": \"ALLM.Session\", \"data\": {\"id\": \"tulips\","
    " \"mood\": \"cheerful\", \"status\": \"awaiting_user\","
    " \"pending_question\": \"How many bulbs?\","
    " \"thread\": {\"__type__\": \"ALLM.Thread\", \"data\": {\"messages\": ["
    "  {\"__type__\": \"ALLM.Message\", \"data\": {\"role\": \"user\","
    "   \"content\": \"Order tulips, please.\"}}]}}}}";

static allm_codec *load(FILE *file)
{
    char text[4096];
    rewind(file);
    size_t len = fread(text, 1, sizeof text, file);
    return allm_codec_decode(text, len, NULL, NULL);
}

/* Save the session with another message and without the question. */
static bool save_answer(FILE *file, const allm_session_record *old)
{
    allm_thread *thread = allm_thread_copy(old->thread);
    allm_status status = allm_thread_add(thread, ALLM_ROLE_USER, "Fifty.");

    allm_session_record fields = *old;  /* copy and change; then create */
    fields.thread = thread;
    fields.status = ALLM_SESSION_IDLE;
    fields.pending_question = NULL;
    allm_session_record *record = allm_session_record_new(&fields);
    allm_text *text = allm_session_record_json(record, ALLM_FORM_TAGGED);
    bool good = status == ALLM_OK && !allm_text_error(text);
    rewind(file);
    if (good)
        fprintf(file, "%s\n", allm_text_bytes(text, NULL));
    allm_text_free(text);
    allm_session_record_free(record);
    allm_thread_free(thread);
    return good;
}

/* Print a loaded session; NULL, and an error is printed, if it is not one. */
static const allm_session_record *show(const char *when,
                                       const allm_codec *codec)
{
    const allm_session_record *s = allm_codec_value(codec, ALLM_TYPE_SESSION);
    const allm_error *error = allm_codec_error(codec);
    const allm_json *mood = allm_json_pointer(s ? s->kept : NULL, "/mood");
    if (s)
        printf("%s\n    last message  %s\n    question      %s\n"
               "    mood          %s\n",
               when, allm_thread_last(s->thread)->text,
               s->pending_question ? s->pending_question : "none",
               allm_json_text(mood, NULL));
    else
        printf("%s\n", error ? error->message : "this is not a session");
    return s;
}

int main(void)
{
    FILE *file = tmpfile();
    if (!file)
        return 1;
    fputs(stored, file);

    allm_codec *before = load(file);
    const allm_session_record *session = show("as a later version stored it:",
                                              before);
    bool saved = session && save_answer(file, session);
    allm_codec *after = load(file);
    session = show("taken further by us, saved and loaded:", after);

    int status = saved && session ? 0 : 1;
    allm_codec_free(after);
    allm_codec_free(before);
    fclose(file);
    return status;
}
