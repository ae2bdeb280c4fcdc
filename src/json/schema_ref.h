/* schema_ref.h - names in a schema, and the targets of references */
#pragma once

#include "json/schema_compile.h"

/* Register the names of the schema: $id, $anchor, $dynamicAnchor. */
void ref_name(struct compiler *c, struct node *n);

/* Find the target of $ref or $dynamicRef; a fault if there is none. */
void ref_resolve(struct compiler *c, const struct rule *r, struct ref *ref);

/* NULL if there is none. */
const struct node *ref_dynamic_anchor(const struct resource *r,
                                      struct slice name);

/* Resolve a URI against a base (RFC 3986, 5), without the fragment; in the
 * arena. ptr NULL: out of memory. */
struct slice ref_join(struct arena *a, struct slice base, struct slice uri);
