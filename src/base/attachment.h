/* attachment.h - objects attached to an engine and freed with it */
#pragma once

#include "allm.h"
#include "base/mem.h"

/* Reference-counted; shared by an engine and all engines derived from it. */
allm_attachments *attachment_new(struct mem mem);
allm_attachments *attachment_keep(allm_attachments *a);
void attachment_drop(allm_attachments *a);

/* The allocator for what lives as long as the attachments; NULL has the
 * default. */
struct mem attachment_mem(const allm_attachments *a);
