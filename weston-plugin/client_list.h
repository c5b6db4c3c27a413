// SPDX-License-Identifier: MIT
/** Programs that weston.ini permits something, and the user that they must run as. */
#ifndef GID_WESTON_CLIENT_LIST_H
#define GID_WESTON_CLIENT_LIST_H

#include <libweston/libweston.h>
#include <stdbool.h>
#include <sys/types.h>

struct client_list {
	char **programs; /* absolute paths of executables, then NULL; NULL: not read */
	bool has_user;	 /* else they must run as the compositor's user */
	uid_t user;
};

struct weston_config_section;

/*
 * Reads the key: paths with commas between. Returns 0; -EINVAL: one is not absolute; -ENOMEM. Call
 * client_list_finish() in any case.
 */
int client_list_read(
		struct client_list *list, struct weston_config_section *section, const char *key);

/* Reads the user, by name or number, if there is one. Returns 0; -EINVAL: it is neither. */
int client_list_read_user(
		struct client_list *list, struct weston_config_section *section, const char *key);

void client_list_finish(struct client_list *list);

bool client_list_is_empty(const struct client_list *list);

/* Whether the client runs one of these programs now, as the required user. */
bool client_list_has(const struct client_list *list, struct wl_client *client);

#endif
