// SPDX-License-Identifier: MIT
#include "client_list.h"

#include <ctype.h>
#include <errno.h>
#include <libweston/config-parser.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client_program.h"

/* Removes spaces at both ends. */
static char *trim(char *text) {
	while (isspace((unsigned char)*text)) {
		text++;
	}
	size_t length = strlen(text);
	while (length > 0 && isspace((unsigned char)text[length - 1])) {
		text[--length] = '\0';
	}
	return text;
}

/* Modifies `words`. */
static int add_programs(struct client_list *list, char *words) {
	size_t i = 0;
	while (words != NULL) {
		char *path = trim(strsep(&words, ","));
		if (path[0] == '\0') {
			continue;
		}
		if (path[0] != '/') {
			return -EINVAL;
		}
		list->programs[i] = strdup(path);
		if (list->programs[i++] == NULL) {
			return -ENOMEM;
		}
	}
	return 0;
}

int client_list_read(
		struct client_list *list, struct weston_config_section *section, const char *key) {
	char *words;
	*list = (struct client_list){0};
	weston_config_section_get_string(section, key, &words, "");
	size_t count = 1;
	for (const char *at = words; at != NULL && *at; at++) {
		count += *at == ',';
	}
	list->programs = calloc(count + 1, sizeof(*list->programs));
	int result = words != NULL && list->programs != NULL ? add_programs(list, words) : -ENOMEM;
	free(words);
	return result;
}

int client_list_read_user(
		struct client_list *list, struct weston_config_section *section, const char *key) {
	char *name;
	weston_config_section_get_string(section, key, &name, NULL);
	if (name == NULL) {
		return 0;
	}
	list->has_user = true;
	int result = 0;
	const struct passwd *entry = getpwnam(name);
	bool is_number = name[0] != '\0' && name[strspn(name, "0123456789")] == '\0';
	unsigned long number = strtoul(name, NULL, 10);
	if (entry != NULL) {
		list->user = entry->pw_uid;
	} else if (is_number && number < UINT32_MAX) {
		list->user = (uid_t)number;
	} else {
		result = -EINVAL;
	}
	free(name);
	return result;
}

void client_list_finish(struct client_list *list) {
	for (size_t i = 0; list->programs != NULL && list->programs[i] != NULL; i++) {
		free(list->programs[i]);
	}
	free(list->programs);
	*list = (struct client_list){0};
}

bool client_list_is_empty(const struct client_list *list) {
	return list->programs == NULL || list->programs[0] == NULL;
}

bool client_list_has(const struct client_list *list, struct wl_client *client) {
	for (size_t i = 0; list->programs != NULL && list->programs[i] != NULL; i++) {
		if (client_runs_program(client, list->programs[i])) {
			return client_is_of_user(client, list->has_user ? list->user : geteuid());
		}
	}
	return false;
}
