/*
 * config.h - the settings of all files and variables, and where each is from
 *
 *      /etc/allm/config.json     later layers override earlier ones; objects
 *      CONFIG/config.json        are merged, other values replaced
 *      the project's .allm.json
 *      $ALLM_CONFIG, --config
 *      ALLM_* variables
 *
 * Defaults and flags are no layers: their users know them.
 */
#pragma once

#include "conf/notice.h"
#include "conf/places.h"
#include "conf/settings.h"
#include "term/bytes.h"

struct config_layer {
    char name[PLACES_PATH]; /* the path; "" for the variables */
    struct bytes text;      /* of a file, without a byte order mark */
    allm_json *value;       /* what counts of it */
    bool is_project;
};

struct config {
    struct config_layer layers[5];
    size_t count;
    allm_json *value; /* all layers together, an object */
    bool broken;      /* a fatal notice was reported */
    struct {
        char path[PLACES_PATH], mcp_path[PLACES_PATH];
        char folder[PLACES_PATH];
        bool found, trusted;
        size_t waiting; /* settings that wait for trust */
    } project;
    notice_fn report;
    void *ud;
};

/* Load all layers into { 0 }; file is that of --config, or NULL.  False: it is
 * broken. */
bool config_load(struct config *c, const char *file, notice_fn report,
                 void *ud);

/* The value of a setting, borrowed; NULL: not set. */
const allm_json *config_get(const struct config *c, const char *path);
/* The same of the project's file alone. */
const allm_json *config_of_project(const struct config *c, const char *path);
/* The layer that sets it last, and the line, 0 if unknown; NULL: none. */
const struct config_layer *config_origin(const struct config *c,
                                         const char *path, size_t *line);

/* The path of the user's own file; false: there is no home directory. */
bool config_user_file(char path[PLACES_PATH]);
/* Check a text as a file of this name, and report what is wrong; true: it can
 * be used. */
bool config_check(const char *name, const struct bytes *text, notice_fn report,
                  void *ud);
