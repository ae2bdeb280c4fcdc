/* attachment.h - things that hang on an engine and go with it */
#ifndef BASE_ATTACHMENT_H
#define BASE_ATTACHMENT_H

#include "allm.h"
#include "base/mem.h"

/* Counted; shared by an engine and all engines derived from it. */
allm_attachments *attachment_new(struct mem mem);
allm_attachments *attachment_keep(allm_attachments *a);
void attachment_drop(allm_attachments *a);

/* For what lives as long as they do; NULL has the default. */
struct mem attachment_mem(const allm_attachments *a);

#endif
