// SPDX-License-Identifier: MIT
/** Where gidd listens: $GID_RUNTIME_DIR/<domain>/gidd.sock. */
#include "socket_path.h"

#include <dirent.h>
#include <errno.h>
#include <gid/gid.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SOCKET_NAME "gidd.sock"
#define START_SIZE 640

/* NULL: the environment does not say. */
static const char *named_dir(void) {
	const char *dir = getenv("GID_RUNTIME_DIR");
	return dir != NULL && dir[0] != '\0' ? dir : NULL;
}

static const char *runtime_dir(void) {
	const char *dir = named_dir();
	return dir != NULL ? dir : "/run/gidway";
}

/* How a gidd comes to be where none is; the environment may lack where it is. */
static void tell_start(char *text, size_t size, const char *name) {
	const char *own = getenv("XDG_RUNTIME_DIR");
	char place[256];
	snprintf(place, sizeof(place), "%s/gidway", own != NULL ? own : "");
	if (named_dir() == NULL && own != NULL && access(place, F_OK) == 0) {
		snprintf(text, size,
				"GID_RUNTIME_DIR is not set, and there is %s: export "
				"GID_RUNTIME_DIR=%s",
				place, place);
	} else {
		snprintf(text, size,
				"%sstart it with `gid-cockpit --config FILE up`, or `gidd "
				"--config FILE --domain %s`",
				named_dir() == NULL ? "GID_RUNTIME_DIR is not set; set it, or "
						    : "",
				name);
	}
}

static int join(char **path, const char *dir, const char *name) {
	if (asprintf(path, "%s/%s/" SOCKET_NAME, dir, name) < 0) {
		*path = NULL;
		return -ENOMEM;
	}
	return 0;
}

/* Adds a name to a list for people: "cluster, open". */
static void list_name(char *list, size_t size, const char *name) {
	size_t used = strlen(list);
	snprintf(list + used, size - used, "%s%.63s", used > 0 ? ", " : "", name);
}

/* The only domain whose socket is there. */
static int find_only(char **path, char *why, size_t why_size) {
	const char *dir = runtime_dir();
	DIR *folder = opendir(dir);
	char start[START_SIZE];
	tell_start(start, sizeof(start), "NAME");
	if (folder == NULL) {
		snprintf(why, why_size, "no domain runs here (%s: %s): %s", dir, strerror(errno),
				errno == EACCES ? "get permission to read that folder, or set "
						  "GID_RUNTIME_DIR to another"
						: start);
		return -EINVAL;
	}
	char names[128] = "";
	uint32_t count = 0;
	int error = 0;
	struct dirent *entry;
	while (error == 0 && (entry = readdir(folder)) != NULL) {
		char *found;
		if (!gid_name_is_valid(entry->d_name)) {
			continue;
		}
		error = join(&found, dir, entry->d_name);
		if (error == 0 && access(found, F_OK) == 0) {
			list_name(names, sizeof(names), entry->d_name);
			free(*path);
			*path = found;
			count++;
		} else if (error == 0) {
			free(found);
		}
	}
	closedir(folder);
	if (error == 0 && count != 1) {
		error = -EINVAL;
		free(*path);
		*path = NULL;
	}
	if (count == 0) {
		snprintf(why, why_size, "no domain runs in %s: %s", dir, start);
	} else if (count > 1) {
		snprintf(why, why_size,
				"%u domains run here (%s): set GID_DOMAIN to the one that this "
				"program is in",
				count, names);
	}
	return error;
}

int gid_socket_path_find(const char *name, char **path, char *why, size_t why_size) {
	*path = NULL;
	if (name == NULL) {
		name = getenv("GID_DOMAIN");
	}
	if (name == NULL || name[0] == '\0') {
		return find_only(path, why, why_size);
	}
	if (strchr(name, '/') != NULL) {
		*path = strdup(name);
		return *path != NULL ? 0 : -ENOMEM;
	}
	if (!gid_name_is_valid(name)) {
		snprintf(why, why_size,
				"\"%.*s\" is not a domain's name: a name has 1 to %u letters, digits, "
				"'-', "
				"'_' or '.'",
				(int)GID_NAME_MAX, name, GID_NAME_MAX);
		return -EINVAL;
	}
	return join(path, runtime_dir(), name);
}

/* The domain's name where the path is of the usual form, else NULL. */
static char *name_in(const char *path) {
	char *copy = strdup(path);
	char *end = copy != NULL ? strrchr(copy, '/') : NULL;
	if (end == NULL || strcmp(end + 1, SOCKET_NAME) != 0) {
		free(copy);
		return NULL;
	}
	*end = '\0';
	const char *last = strrchr(copy, '/');
	last = last != NULL ? last + 1 : copy;
	char *name = gid_name_is_valid(last) ? strdup(last) : NULL;
	free(copy);
	return name;
}

void gid_socket_path_explain(const char *path, int error, char *why, size_t why_size) {
	char *name = name_in(path);
	const char *shown = name != NULL ? name : "NAME";
	char start[START_SIZE];
	tell_start(start, sizeof(start), shown);
	switch (-error) {
	case ENOENT:
	case ENOTDIR:
	case ECONNREFUSED:
	case EPROTOTYPE:
		if (name == NULL) {
			snprintf(why, why_size,
					"no gidd listens at %s: name its socket, "
					"FOLDER/DOMAIN/" SOCKET_NAME ", or the domain",
					path);
		} else {
			snprintf(why, why_size, "no gidd for domain '%s' at %s: %s", name, path,
					start);
		}
		break;
	case EACCES:
	case EPERM:
		snprintf(why, why_size,
				"no access to domain '%s' at %s: join the group that owns it, "
				"which group= of the domain's configuration sets",
				shown, path);
		break;
	case ETIMEDOUT:
		snprintf(why, why_size,
				"gidd of domain '%s' at %s does not answer: see whether it is "
				"stopped or hangs",
				shown, path);
		break;
	default:
		snprintf(why, why_size, "domain '%s' at %s: %s", shown, path, gid_strerror(error));
		break;
	}
	free(name);
}
