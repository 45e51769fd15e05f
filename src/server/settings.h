/*
 * settings.h
 *	  Settings that hold while a statement of ours runs.
 */
#ifndef SIMDUP_SERVER_SETTINGS_H
#define SIMDUP_SERVER_SETTINGS_H

/* Set a setting until its nest level or subtransaction ends. */
extern void simdup_set_for_now(const char *name, const char *value);

/* Begin to run under a search_path. The level that is returned ends it; so does an error. */
extern int simdup_path_begin(const char *path);

extern void simdup_path_end(int level);

/* Let the C library keep the scratch of texts (host.c), when the module loads. */
extern void simdup_keep_scratch(void);

#endif /* SIMDUP_SERVER_SETTINGS_H */
