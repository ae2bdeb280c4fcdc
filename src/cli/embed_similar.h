/* embed_similar.h - allm embed --similar: which texts of OUT are similar */
#pragma once

#include "cli/batch_models.h"

struct similar {
    const char *path; /* of the rows */
    const char *text;
    uint32_t most; /* lines to print */
    uint32_t dims; /* 0: those of the rows */
};

/* Print "SIMILARITY ID" for the most similar rows, the best first; the text is
 * embedded with this model.  Returns the exit code. */
int embed_similar(const struct similar *how, const struct batch_model *model,
                  const char *api_key);
