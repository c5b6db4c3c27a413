// SPDX-License-Identifier: MIT
/** Programs that weston.ini lets do something, and the user that they must run as. */
#ifndef GID_WESTON_CLIENT_LIST_H
#define GID_WESTON_CLIENT_LIST_H

#include <libweston/libweston.h>
#include <stdbool.h>
#include <sys/types.h>

struct client_list {
	char **programs; /* absolute paths of executables; ends with NULL; NULL: was not read */
	bool has_user;	 /* else they must run as the compositor's */
	uid_t user;
};

struct weston_config_section;

/*
 * Reads the key, which has paths with commas between. Returns 0; -EINVAL: one of them is not
 * absolute; -ENOMEM. The list is to be finished in either case.
 */
int client_list_read(
		struct client_list *list, struct weston_config_section *section, const char *key);

/* Reads the user, by name or number, if there is one. Returns 0; -EINVAL: it is neither. */
int client_list_read_user(
		struct client_list *list, struct weston_config_section *section, const char *key);

void client_list_finish(struct client_list *list);

bool client_list_is_empty(const struct client_list *list);

/* Whether the client runs one of these programs now, as the user that it must. */
bool client_list_has(const struct client_list *list, struct wl_client *client);

#endif
