/*
 * validate.c - check structs and documents, and report every fault in order
 *
 * The rules work on structs.  What a struct cannot hold, such as a temperature
 * that is a string, was kept when the struct was read from JSON; the rules
 * check that, too, so one set of rules serves structs and documents.
 */
#include "data/validate.h"

#include "base/status.h"
#include "data/decode.h"
#include "data/error.h"
#include "data/image.h"
#include "data/message.h"
#include "data/request.h"
#include "data/session_record.h"
#include "data/thread.h"
#include "data/tool.h"
#include "json/json.h"

/* The faults found so far, as [[path, reason], ...]. */
struct faults {
    struct build list;
    size_t count;
};

static void faults_add(struct faults *f, const struct path *outer,
                       const char *field, const char *reason)
{
    struct path at = PATH_KEY(outer, field);
    path_write_pair(&f->list, &at, false, reason);
    f->count++;
}

/* Did a member have a value of a wrong type? */
static bool has_wrong_type(const allm_json *kept, const char *member)
{
    return kept && allm_json_get(kept, member);
}

/* ------------------------------------------------------------- messages --- */

static void check_content(struct faults *f, const struct path *at,
                          const allm_message *m)
{
    if (!m->text && !m->parts) {
        faults_add(f, at, "content", "invalid_type");
        return;
    }
    for (size_t i = 0; i < m->part_count; i++) {
        int kind = (int)m->parts[i]->kind;
        if (kind != ALLM_PART_TEXT && kind != ALLM_PART_IMAGE) {
            faults_add(f, at, "content", "invalid_part_type");
            return;
        }
    }
}

static void check_message(struct faults *f, const struct path *at,
                          const allm_message *m)
{
    int role = (int)m->role;
    if (role < ALLM_ROLE_SYSTEM || role > ALLM_ROLE_TOOL)
        faults_add(f, at, "role", "unknown");
    check_content(f, at, m);
    if (m->role == ALLM_ROLE_TOOL && !m->tool_call_id &&
        !has_wrong_type(m->kept, "tool_call_id"))
        faults_add(f, at, "tool_call_id", "required");
}

static void check_messages(struct faults *f, const struct path *outer,
                           const allm_message *const *m, size_t count)
{
    struct path list = PATH_KEY(outer, "messages");
    for (size_t i = 0; i < count; i++) {
        struct path at = PATH_INDEX(&list, i);
        check_message(f, &at, m[i]);
    }
}

static void check_record(struct faults *f, const struct path *outer,
                         const allm_thread_record *t)
{
    if (has_wrong_type(t->kept, "messages"))
        faults_add(f, outer, "messages", "invalid_type");
    check_messages(f, outer, t->messages, t->message_count);
}

/* ---------------------------------------------------------------- tools --- */

static bool name_fits(const char *name)
{
    size_t n = 0;
    for (; name[n]; n++) {
        if (!slice_alnum(name[n]) && name[n] != '_' && name[n] != '-')
            return false;
    }
    return n >= 1 && n <= 64;
}

static const char *name_fault(const char *name)
{
    if (!name)
        return "invalid_format";
    if (!*name)
        return "empty";
    if (!strcmp(name, "auto") || !strcmp(name, "none") ||
        !strcmp(name, "required"))
        return "reserved_tool_name";
    return name_fits(name) ? NULL : "invalid_format";
}

static void check_tool(struct faults *f, const struct path *at,
                       const allm_tool *tool)
{
    const char *fault = name_fault(tool->name);
    if (fault)
        faults_add(f, at, "name", fault);
    if (!tool->description)
        faults_add(f, at, "description", "not_a_string");
    if (allm_json_type_of(tool->schema) != ALLM_JSON_OBJECT)
        faults_add(f, at, "schema", "not_a_map");
    if (has_wrong_type(tool->kept, "manual"))
        faults_add(f, at, "manual", "not_a_boolean");
    if (has_wrong_type(tool->kept, "compact"))
        faults_add(f, at, "compact", "not_a_boolean");
    if (has_wrong_type(tool->kept, "summary"))
        faults_add(f, at, "summary", "not_a_string");
}

static bool names_repeat(const allm_tool *const *tool, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; tool[i]->name && j < i; j++)
            if (tool[j]->name && !strcmp(tool[i]->name, tool[j]->name))
                return true;
    return false;
}

static void check_tools(struct faults *f, const allm_request *r)
{
    struct path list = PATH_KEY(NULL, "tools");
    for (size_t i = 0; i < r->tool_count; i++) {
        struct path at = PATH_INDEX(&list, i);
        check_tool(f, &at, r->tools[i]);
    }
    if (has_wrong_type(r->kept, "tools"))
        faults_add(f, NULL, "tools", "invalid_type");
    if (names_repeat(r->tools, r->tool_count))
        faults_add(f, NULL, "tools", "duplicate_name");
}

/* -------------------------------------------------------------- request --- */

static void check_request(struct faults *f, const void *value)
{
    const allm_request *r = value;
    const allm_json *format = r->response_format;
    double t = r->temperature.value;

    if (has_wrong_type(r->kept, "messages"))
        faults_add(f, NULL, "messages", "invalid_type");
    else if (r->message_count == 0)
        faults_add(f, NULL, "messages", "empty");
    check_messages(f, NULL, r->messages, r->message_count);
    check_tools(f, r);
    if (has_wrong_type(r->kept, "temperature") ||
        (r->temperature.set && !(t >= 0.0 && t <= 2.0)))
        faults_add(f, NULL, "temperature", "out_of_range");
    if (has_wrong_type(r->kept, "max_tokens") ||
        (r->max_tokens.set && r->max_tokens.value <= 0))
        faults_add(f, NULL, "max_tokens", "must_be_positive");
    if (!request_format_fits(format))
        faults_add(f, NULL, "response_format", "invalid_shape");
    if (r->structured_finalize &&
        !json_is(allm_json_get(format, "type"), "json_schema"))
        faults_add(f, NULL, "structured_finalize", "requires_json_schema");
}

/* -------------------------------------------------------------- session --- */

static void check_status(struct faults *f, const allm_session_record *s)
{
    switch (s->status) {
    case ALLM_SESSION_IDLE:
    case ALLM_SESSION_COMPLETED:
        break;
    case ALLM_SESSION_AWAITING_USER:
        if (!s->pending_question &&
            !has_wrong_type(s->kept, "pending_question"))
            faults_add(f, NULL, "pending_question", "required_for_status");
        break;
    case ALLM_SESSION_AWAITING_TOOLS:
        if (s->pending_tool_call_count == 0)
            faults_add(f, NULL, "pending_tool_calls", "required_for_status");
        break;
    case ALLM_SESSION_ERROR: {
        const allm_json *error = allm_json_get(s->metadata, "error");
        if (!s->error && (!error || allm_json_type_of(error) == ALLM_JSON_NULL))
            faults_add(f, NULL, "metadata", "error_required_for_status");
        break;
    }
    default:
        faults_add(f, NULL, "status", "unknown");
    }
}

static void check_session(struct faults *f, const void *value)
{
    const allm_session_record *s = value;
    struct path at = PATH_KEY(NULL, "thread");
    allm_thread_record thread = thread_record(s->thread);
    if (has_wrong_type(s->kept, "status"))
        faults_add(f, NULL, "status", "unknown");
    else
        check_status(f, s);
    if (has_wrong_type(s->kept, "thread"))
        faults_add(f, NULL, "thread", "invalid_type");
    check_record(f, &at, &thread);
}

/* -------------------------------------------------------- image request --- */

/* The requirements of each operation. */
static const struct {
    bool prompt;
    size_t least, most;         /* input images */
    bool mask;
} operation[] = {
    [ALLM_IMAGE_OP_GENERATE] = { true, 0, 0, false },
    [ALLM_IMAGE_OP_EDIT] = { true, 1, 2, true },
    [ALLM_IMAGE_OP_VARIATION] = { false, 1, 1, false },
};

static bool all_images(const allm_image_request *r)
{
    for (size_t i = 0; i < r->input_image_count; i++)
        if (shape_stranger(&image_shape, r->input_images[i]))
            return false;
    return !has_wrong_type(r->kept, "input_images");
}

static void check_images(struct faults *f, const allm_image_request *r,
                         size_t least, size_t most)
{
    const char *fault = NULL;
    if (!all_images(r))
        return;                 /* reported already */
    if (r->input_image_count < least)
        fault = "required_for_operation";
    else if (r->input_image_count > most)
        fault = most == 0 ? "not_allowed_for_operation" : "too_many";
    if (fault)
        faults_add(f, NULL, "input_images", fault);
}

static void check_operation(struct faults *f, const allm_image_request *r)
{
    size_t op = (size_t)r->operation;
    if (operation[op].prompt && !r->prompt)
        faults_add(f, NULL, "prompt", "required_for_operation");
    if (!operation[op].prompt && r->prompt)
        faults_add(f, NULL, "prompt", "not_allowed_for_operation");
    check_images(f, r, operation[op].least, operation[op].most);
    if (r->mask && !operation[op].mask)
        faults_add(f, NULL, "mask", "not_allowed_for_operation");
}

static bool size_fits(const allm_image_request *r)
{
    if (has_wrong_type(r->kept, "size") || r->width.set != r->height.set)
        return false;
    return !r->width.set || (r->width.value > 0 && r->height.value > 0);
}

static void check_image_request(struct faults *f, const void *value)
{
    const allm_image_request *r = value;
    bool known = !has_wrong_type(r->kept, "operation") &&
                 (size_t)r->operation < sizeof operation / sizeof *operation;
    if (!known)
        faults_add(f, NULL, "operation", "unknown");
    if (has_wrong_type(r->kept, "n") || (r->n.set && r->n.value <= 0))
        faults_add(f, NULL, "n", "must_be_positive");
    if (has_wrong_type(r->kept, "response_format") ||
        (size_t)r->response_format > ALLM_IMAGE_FORMAT_URL)
        faults_add(f, NULL, "response_format", "invalid_shape");
    if (!size_fits(r))
        faults_add(f, NULL, "size", "invalid_shape");
    if (!all_images(r))
        faults_add(f, NULL, "input_images", "invalid_type");
    if (has_wrong_type(r->kept, "mask"))
        faults_add(f, NULL, "mask", "invalid_type");
    if (known)
        check_operation(f, r);
}

/* ------------------------------------------------------------- verdicts --- */

static void check_one_message(struct faults *f, const void *value)
{
    check_message(f, NULL, value);
}

static void check_one_tool(struct faults *f, const void *value)
{
    check_tool(f, NULL, value);
}

static void check_one_thread(struct faults *f, const void *value)
{
    check_record(f, NULL, value);
}

struct judge {
    const char *type;
    const struct shape *shape;
    void (*check)(struct faults *f, const void *value);
    const char *reason;
};

static const struct judge of_request = {
    "request", &request_shape, check_request, "invalid_request"
};
static const struct judge of_message = {
    "message", &message_shape, check_one_message, "invalid_message"
};
static const struct judge of_tool = {
    "tool", &tool_shape, check_one_tool, "invalid_tool"
};
static const struct judge of_thread = {
    "thread", &thread_shape, check_one_thread, "invalid_thread"
};
static const struct judge of_session = {
    "session", &session_record_shape, check_session, "invalid_session"
};
static const struct judge of_image_request = {
    "image_request", &image_request_shape, check_image_request,
    "invalid_image_request"
};

static const struct judge *const judges[] = {
    &of_request, &of_message, &of_tool, &of_thread, &of_session,
    &of_image_request,
};

/* The error of a struct that has been normalised, in the arena, or NULL. */
static const allm_error *judge_value(const struct judge *j, struct arena *a,
                                     const void *value)
{
    struct faults f = { .count = 0 };
    build_start_array(&f.list, a);
    j->check(&f, value);
    const allm_json *errors = build_finish(&f.list);
    if (!errors)
        return status_nomem();
    return f.count ? error_validation(a, j->reason, errors) : NULL;
}

const allm_error *validate_request(struct arena *a, const allm_request *r)
{
    return judge_value(&of_request, a, r);
}

const allm_error *validate_image_request(struct arena *a,
                                         const allm_image_request *r)
{
    return judge_value(&of_image_request, a, r);
}

const allm_error *validate_thread(struct arena *a, const allm_thread *t)
{
    allm_thread_record record = thread_record(t);
    const allm_error *refusal = allm_thread_error(t);
    return refusal ? refusal : judge_value(&of_thread, a, &record);
}

/* --------------------------------------------------------------- public --- */

/* The result of a public validator if memory runs out: an error that needs
 * none.  Freeing it does nothing, since it has no home. */
static allm_error *nomem_root(void)
{
    static allm_error error = STATUS_ERROR(ALLM_ERR_NOMEM, "out_of_memory",
                                           "out of memory");
    return &error;
}

static allm_error *answer(const allm_error *error)
{
    if (!error)
        return NULL;
    allm_error *root = error_root(error);
    return root ? root : nomem_root();
}

/* A caller's struct is normalised first. */
static allm_error *validate(const struct judge *j, const void *value)
{
    const allm_error *error = NULL;
    if (!value)
        return nomem_root();
    struct arena a = arena_in(mem_default());
    void *mine = shape_keep(j->shape, value, a.mem, &a, &error);
    if (mine)
        error = judge_value(j, &a, mine);
    allm_error *root = answer(error);
    shape_free(mine);
    arena_release(&a);
    return root;
}

allm_error *allm_validate_request(const allm_request *r)
{
    return validate(&of_request, r);
}

allm_error *allm_validate_message(const allm_message *m)
{
    return validate(&of_message, m);
}

allm_error *allm_validate_tool(const allm_tool *tool)
{
    return validate(&of_tool, tool);
}

allm_error *allm_validate_session(const allm_session_record *s)
{
    return validate(&of_session, s);
}

allm_error *allm_validate_image_request(const allm_image_request *r)
{
    return validate(&of_image_request, r);
}

allm_error *allm_validate_thread(const allm_thread *t)
{
    if (!t)
        return nomem_root();
    struct arena a = arena_in(mem_default());
    allm_error *root = answer(validate_thread(&a, t));
    arena_release(&a);
    return root;
}

static const struct judge *judge_of(const char *type)
{
    for (size_t i = 0; type && i < sizeof judges / sizeof *judges; i++)
        if (!strcmp(judges[i]->type, type))
            return judges[i];
    return NULL;
}

/* Read as leniently as possible, then check; what cannot be read is a fault. */
static const allm_error *judge_json(const struct judge *j,
                                    struct allm_home *home, const allm_json *v)
{
    struct decoder d;
    struct arena *a = home_arena(home);
    if (allm_json_type_of(v) == ALLM_JSON_NONE)
        return allm_json_error(v);
    decode_init(&d, home, a);
    d.lenient = true;
    const void *value = decode_value(&d, j->shape, v);
    if (value)
        return judge_value(j, a, value);
    if (!d.error)
        decode_refuse_at(&d, j->type, "invalid_type");
    return d.error->kind == ALLM_ERR_NOMEM
               ? d.error
               : error_validation(a, j->reason, d.error->errors);
}

static const allm_error unknown_type =
    STATUS_ERROR(ALLM_ERR_MISUSE, "unknown_type",
                 "allm_validate_json: type must be request, message, tool, "
                 "thread, session or image_request");

allm_error *allm_validate_json(const char *type, const allm_json *v)
{
    const struct judge *j = judge_of(type);
    if (!v)
        return nomem_root();
    if (!j)
        return answer(&unknown_type);
    struct allm_home *home = home_new(mem_default(), json_size(v));
    if (!home)
        return nomem_root();
    allm_error *root = answer(judge_json(j, home, v));
    home_drop(home);
    return root;
}
