/*
 * hello.c - check and print a request: the example of the README
 */
#include <allm.h>
#include <stdio.h>

int main(void)
{
    const allm_message *messages[] = {
        ALLM(message, .role = ALLM_ROLE_SYSTEM, .text = "Be brief."),
        ALLM(message, .role = ALLM_ROLE_USER, .text = "Why is the sky blue?"),
    };
    allm_request *request = allm_request_new(ALLM(
        request, .messages = messages, .message_count = 2, .model = "small"));
    allm_error *fault = allm_validate_request(request);
    allm_text *json = allm_request_json(request, ALLM_FORM_PLAIN);
    const allm_error *error = fault ? fault : allm_text_error(json);
    puts(error ? error->message : allm_text_bytes(json, NULL));

    int status = error ? 1 : 0;
    allm_text_free(json);
    allm_error_free(fault);
    allm_request_free(request);
    return status;
}
