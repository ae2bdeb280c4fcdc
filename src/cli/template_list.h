/* template_list.h - the templates that the user and the project have */
#pragma once

#include "conf/template.h"

typedef void (*template_list_fn)(void *ud, const char *name, const char *path,
                                 bool project);

/* Call a function for each template, in the order of their names: the user's,
 * then those of the project that have other names. */
void template_list_each(template_list_fn each, void *ud);
