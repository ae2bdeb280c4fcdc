/* disk.h - save and load session files */
#pragma once

#include "session/state.h"

/* Implement allm_session_save() and allm_session_load(). */
allm_status disk_save(allm_session *s, const char *path);
allm_session *disk_load(const char *path, uint32_t flags);
