/* schema_rules.h - the checks of each keyword, for the table of keywords */
#pragma once

#include "json/schema_check.h"

/* schema_value.c */
bool rule_type(struct check *k, const struct rule *r, const struct spot *s);
bool rule_const(struct check *k, const struct rule *r, const struct spot *s);
bool rule_enum(struct check *k, const struct rule *r, const struct spot *s);
bool rule_multiple_of(struct check *k, const struct rule *r,
                      const struct spot *s);
bool rule_minimum(struct check *k, const struct rule *r, const struct spot *s);
bool rule_maximum(struct check *k, const struct rule *r, const struct spot *s);
bool rule_exclusive_minimum(struct check *k, const struct rule *r,
                            const struct spot *s);
bool rule_exclusive_maximum(struct check *k, const struct rule *r,
                            const struct spot *s);
bool rule_min_length(struct check *k, const struct rule *r,
                     const struct spot *s);
bool rule_max_length(struct check *k, const struct rule *r,
                     const struct spot *s);
bool rule_pattern(struct check *k, const struct rule *r, const struct spot *s);
bool rule_min_count(struct check *k, const struct rule *r,
                    const struct spot *s);
bool rule_max_count(struct check *k, const struct rule *r,
                    const struct spot *s);

/* schema_object.c */
bool rule_required(struct check *k, const struct rule *r, const struct spot *s);
bool rule_dependent(struct check *k, const struct rule *r,
                    const struct spot *s);
bool rule_property_names(struct check *k, const struct rule *r,
                         const struct spot *s);
bool rule_properties(struct check *k, const struct rule *r,
                     const struct spot *s);
bool rule_pattern_properties(struct check *k, const struct rule *r,
                             const struct spot *s);
bool rule_additional_properties(struct check *k, const struct rule *r,
                                const struct spot *s);
bool rule_unevaluated_properties(struct check *k, const struct rule *r,
                                 const struct spot *s);

/* schema_array.c */
bool rule_unique_items(struct check *k, const struct rule *r,
                       const struct spot *s);
bool rule_prefix_items(struct check *k, const struct rule *r,
                       const struct spot *s);
bool rule_items(struct check *k, const struct rule *r, const struct spot *s);
bool rule_additional_items(struct check *k, const struct rule *r,
                           const struct spot *s);
bool rule_contains(struct check *k, const struct rule *r, const struct spot *s);
bool rule_unevaluated_items(struct check *k, const struct rule *r,
                            const struct spot *s);

/* schema_logic.c */
bool rule_ref(struct check *k, const struct rule *r, const struct spot *s);
bool rule_all_of(struct check *k, const struct rule *r, const struct spot *s);
bool rule_any_of(struct check *k, const struct rule *r, const struct spot *s);
bool rule_one_of(struct check *k, const struct rule *r, const struct spot *s);
bool rule_not(struct check *k, const struct rule *r, const struct spot *s);
bool rule_if(struct check *k, const struct rule *r, const struct spot *s);
