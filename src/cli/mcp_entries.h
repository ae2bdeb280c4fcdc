/*
 * mcp_entries.h - the entries of MCP servers: settings, files, manifests
 *
 *      mcp.NAME of the settings        an entry, as in an mcpServers file
 *      mcp.config of the settings      files with such entries
 *      DATA/mcp/NAME.json              what the server offered when it was
 *                                      added; counts for exactly that entry
 *
 * The name of a server has letters, digits, "_" and "-".
 */
#pragma once

#include "allm.h"

bool mcp_entries_is_name(const char *name);

/* The servers that are configured: {NAME: entry}, each once.  The caller frees
 * it. */
allm_json *mcp_entries_all(void);
/* The entry of one of them, with its manifest; NULL: there is none.  The caller
 * frees it. */
allm_json *mcp_entries_find(const char *name);

/* Count the servers of a file as configured.  False: an error was printed. */
bool mcp_entries_add(const char *path);

/* The servers of a file: {NAME: entry}.  NULL: an error was printed. */
allm_json *mcp_entries_load(const char *path);

/* The entry with its variables; NULL: one is not set, which was printed.  The
 * caller frees it. */
allm_json *mcp_entries_expand(const char *path, const char *name,
                              const allm_json *entry);

/* The entry with the member "manifest", if there is one for it.  Frees the
 * entry. */
allm_json *mcp_entries_with_manifest(const char *name, allm_json *entry);
/* Store a manifest; NULL: remove it.  False: it cannot be stored. */
bool mcp_entries_keep(const char *name, const allm_json *entry,
                      const allm_json *manifest);
