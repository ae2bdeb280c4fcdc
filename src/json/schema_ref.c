/*
 * schema_ref.c - names in a schema, and the targets of references
 *
 *      http://example.com/tree.json#/$defs/node
 *      `---- a resource ----------' `-pointer-'  or the name of an anchor
 *
 * A schema with an $id is a resource, and so is the whole document.  A
 * reference is resolved against the URI of the resource that contains it.  A
 * reference to a resource outside this document is rejected: nothing is ever
 * fetched.
 */
#include "json/schema_ref.h"

#include "json/json.h"

enum { URI_LIMIT = 64 * 1024 };

/* --------------------------------------------------------------- URIs --- */

/* Each with its delimiter: "http:", "//host", "/path", "?query". */
struct uri {
    struct slice scheme, authority, path, query;
};

static struct slice cut_to(struct slice *s, size_t n)
{
    struct slice head = { s->ptr, n };
    *s = slice_skip(*s, n);
    return head;
}

/* The length up to the first of these characters, or to the end. */
static size_t length_until(struct slice s, const char *stops)
{
    size_t n = 0;
    while (n < s.len && (!s.ptr[n] || !strchr(stops, s.ptr[n])))
        n++;
    return n;
}

static struct slice without_fragment(struct slice s)
{
    return (struct slice){ s.ptr, length_until(s, "#") };
}

static struct uri split_uri(struct slice s)
{
    struct uri u = { SLICE(""), SLICE(""), SLICE(""), SLICE("") };
    if (!s.ptr)
        return u;
    size_t n = length_until(s, ":/?");
    if (n > 0 && n < s.len && s.ptr[n] == ':')
        u.scheme = cut_to(&s, n + 1);
    if (slice_starts(s, SLICE("//")))
        u.authority = cut_to(&s, 2 + length_until(slice_skip(s, 2), "/?"));
    u.path = cut_to(&s, length_until(s, "?"));
    u.query = s;
    return u;
}

/* Remove the last segment, with its "/", from what was written since start. */
static void drop_segment(struct buf *out, size_t start)
{
    while (out->len > start && out->ptr[--out->len] != '/')
        ;
}

/* Write a path without "." and ".." segments (RFC 3986, 5.2.4). */
static void write_path(struct buf *out, struct slice path)
{
    size_t start = out->len;
    bool relative = path.len > 0 && *path.ptr != '/';
    while (path.len > 0 && !out->broken) {
        size_t slash = path.ptr[0] == '/';
        size_t n = slash + length_until(slice_skip(path, slash), "/");
        struct slice segment = cut_to(&path, n);
        struct slice name = slice_skip(segment, slash);
        bool up = slice_is(name, "..");
        if (up)
            drop_segment(out, start);
        if (!up && !slice_is(name, "."))
            buf_add(out, relative && out->len == start ? name : segment);
        else if (path.len == 0 && slash)
            buf_byte(out, '/');
    }
}

/* The directory of the base, then the path. */
static struct slice merge_paths(struct arena *a, struct uri base,
                                struct slice path)
{
    struct slice folder = base.path;
    while (folder.len > 0 && folder.ptr[folder.len - 1] != '/')
        folder.len--;
    struct buf b = buf_in(a, URI_LIMIT);
    if (folder.len == 0 && base.authority.len)
        buf_byte(&b, '/');
    buf_add(&b, folder);
    buf_add(&b, path);
    return buf_slice(&b);
}

struct slice ref_join(struct arena *a, struct slice base, struct slice uri)
{
    struct uri b = split_uri(base), u = split_uri(uri);
    if (u.scheme.len)
        return uri;
    if (uri.len == 0)
        return base;
    if (!u.authority.len) {
        u.authority = b.authority;
        if (!u.path.len) {
            u.path = b.path;
        } else if (*u.path.ptr != '/') {
            u.path = merge_paths(a, b, u.path);
        }
    }
    struct buf out = buf_in(a, URI_LIMIT);
    buf_add(&out, b.scheme);
    buf_add(&out, u.authority);
    write_path(&out, u.path);
    buf_add(&out, u.query);
    return buf_slice(&out);
}

/* -------------------------------------------------------------- names --- */

static const struct anchor *find_anchor(const struct resource *r,
                                        struct slice name)
{
    for (const struct anchor *a = r->anchors; a; a = a->next)
        if (slice_eq(a->name, name))
            return a;
    return NULL;
}

const struct node *ref_dynamic_anchor(const struct resource *r,
                                      struct slice name)
{
    for (const struct anchor *a = r->anchors; a; a = a->next)
        if (a->dynamic && slice_eq(a->name, name))
            return a->node;
    return NULL;
}

static struct resource *find_resource(const struct compiler *c,
                                      struct slice uri)
{
    for (struct resource *r = c->resources; r; r = r->next)
        if (slice_eq(r->uri, uri))
            return r;
    return NULL;
}

static void add_anchor(struct compiler *c, struct node *n, struct slice name,
                       bool dynamic)
{
    struct anchor *a = compile_alloc(c, sizeof *a);
    if (!a || name.len == 0)
        return;
    *a = (struct anchor){ n->resource->anchors, name, n, dynamic };
    n->resource->anchors = a;
    c->names++;
}

static void add_resource(struct compiler *c, struct node *n, struct slice id)
{
    struct slice base = n->resource ? n->resource->uri : SLICE("");
    struct resource *r = compile_alloc(c, sizeof *r);
    if (!r)
        return;
    *r = (struct resource){ c->resources, ref_join(c->arena, base, id), n,
                            NULL };
    c->resources = r;
    c->names++;
    n->resource = r;
}

void ref_name(struct compiler *c, struct node *n)
{
    struct slice id = json_slice(allm_json_get(n->source, "$id"));
    struct slice uri = without_fragment(id);
    if (uri.len > 0 || !n->resource)
        add_resource(c, n, uri);
    if (!n->resource)
        return;
    if (uri.len + 1 < id.len)           /* "#name", as in draft 7 */
        add_anchor(c, n, slice_skip(id, uri.len + 1), false);
    add_anchor(c, n, json_slice(allm_json_get(n->source, "$anchor")), false);
    add_anchor(c, n, json_slice(allm_json_get(n->source, "$dynamicAnchor")),
               true);
    if (c->names > SCHEMA_MAX_NAMES)
        compile_fault_at(c, n->place, "too_many_names",
                         "more than %d of $id and $anchor", SCHEMA_MAX_NAMES);
}

/* ------------------------------------------------------------ targets --- */

/* A copy with %XX decoded. */
static struct slice decode_percent(struct compiler *c, struct slice s)
{
    char *copy = compile_alloc(c, s.len + 1);
    if (!copy)
        return SLICE("");
    size_t n = 0;
    for (size_t i = 0; i < s.len; i++) {
        int high = i + 2 < s.len ? slice_hex(s.ptr[i + 1]) : -1;
        int low = i + 2 < s.len ? slice_hex(s.ptr[i + 2]) : -1;
        copy[n] = s.ptr[i];
        if (s.ptr[i] == '%' && high >= 0 && low >= 0) {
            copy[n] = (char)(high * 16 + low);
            i += 2;
        }
        n++;
    }
    return (struct slice){ copy, n };
}

/* A copy of a pointer's step, with ~0 and ~1 decoded. */
static struct slice decode_step(struct compiler *c, struct slice s)
{
    char *copy = compile_alloc(c, s.len + 1);
    if (!copy)
        return SLICE("");
    size_t n = 0;
    for (size_t i = 0; i < s.len; i++) {
        copy[n] = s.ptr[i];
        if (s.ptr[i] == '~' && i + 1 < s.len)
            copy[n] = s.ptr[++i] == '0' ? '~' : '/';
        n++;
    }
    return (struct slice){ copy, n };
}

static bool read_index(struct slice s, size_t *index)
{
    *index = 0;
    for (size_t i = 0; i < s.len; i++) {
        if (s.ptr[i] < '0' || s.ptr[i] > '9' || i > 9)
            return false;
        *index = *index * 10 + (size_t)(s.ptr[i] - '0');
    }
    return s.len > 0 && (s.len == 1 || s.ptr[0] != '0');
}

/* The current state of a walk along a pointer. */
struct walk {
    const allm_json *value;
    const struct place *place;
    struct resource *resource;
};

static void walk_step(struct compiler *c, struct walk *w, struct slice step)
{
    size_t index = 0;
    struct slice key = decode_step(c, step);
    if (kind_of(w->value) & KIND_ARRAY) {
        bool ok = read_index(key, &index);
        w->value = ok ? allm_json_at(w->value, index) : NULL;
        key.ptr = NULL;
    } else {
        w->value = json_get(w->value, key);
    }
    w->place = compile_place(c, w->place, key, index);
    const struct node *known = w->value ? compile_known(c, w->value) : NULL;
    if (known) {
        w->place = known->place;
        w->resource = known->resource;
    }
}

/* The node at "/a/b" in a resource; NULL if there is none. */
static const struct node *walk_pointer(struct compiler *c,
                                       struct resource *resource,
                                       struct slice pointer)
{
    const struct node *root = resource->root;
    struct walk w = { root->source, root->place, resource };
    while (pointer.len > 0 && w.value) {
        pointer = slice_skip(pointer, 1);
        size_t n = length_until(pointer, "/");
        walk_step(c, &w, cut_to(&pointer, n));
    }
    if (!w.value)
        return NULL;
    return compile_node(c, "$ref", w.place, w.resource, w.value);
}

static const struct node *find_target(struct compiler *c, const struct rule *r,
                                      struct ref *ref,
                                      struct resource *resource,
                                      struct slice fragment)
{
    if (fragment.len == 0)
        return resource->root;
    if (*fragment.ptr == '/')
        return walk_pointer(c, resource, fragment);
    if (!strcmp(r->keyword->name, "$dynamicRef") &&
        ref_dynamic_anchor(resource, fragment))
        ref->dynamic = fragment;
    const struct anchor *a = find_anchor(resource, fragment);
    return a ? a->node : NULL;
}

void ref_resolve(struct compiler *c, const struct rule *r, struct ref *ref)
{
    struct slice text = json_slice(r->value);
    struct slice uri = without_fragment(text);
    struct slice fragment = slice_skip(text, uri.len);
    if (fragment.len)
        fragment = decode_percent(c, slice_skip(fragment, 1));

    struct slice whole = ref_join(c->arena, r->node->resource->uri, uri);
    struct resource *resource = uri.len ? find_resource(c, whole)
                                        : r->node->resource;
    if (!resource) {
        compile_fault(c, r, "remote_ref",
                      "%s is another document; references must stay within "
                      "the schema",
                      compile_quote(c, text));
        return;
    }
    size_t faults = c->fault_count;
    ref->target = find_target(c, r, ref, resource, fragment);
    if (!ref->target && faults == c->fault_count)
        compile_fault(c, r, "unresolved_ref", "%s leads nowhere",
                      compile_quote(c, text));
}
