// SPDX-License-Identifier: MIT
/** Where gidd listens: $GID_RUNTIME_DIR/<domain>/gidd.sock. */
#include "socket_path.h"

#include <dirent.h>
#include <errno.h>
#include <gid/gid.h>
#include <stdbool.h>
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
static void explain_start(char *text, size_t size, const char *name) {
	const char *own = getenv("XDG_RUNTIME_DIR");
	char place[256];
	snprintf(place, sizeof(place), "%s/gidway", own != NULL ? own : "");
	bool is_absolute = own != NULL && own[0] == '/'; /* else it counts for nothing */
	if (named_dir() == NULL && is_absolute && access(place, F_OK) == 0) {
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

/*
 * The domains whose sockets are in that folder: how many, or -errno, with a list of their names for
 * people, and one of them.
 */
static int list_running(const char *dir, char *names, size_t size, char one[GID_NAME_MAX + 1]) {
	DIR *folder = opendir(dir);
	if (folder == NULL) {
		return -errno;
	}
	int ret = 0;
	struct dirent *entry;
	while (ret >= 0 && (entry = readdir(folder)) != NULL) {
		char *socket;
		if (!gid_name_is_valid(entry->d_name)) {
			continue;
		}
		int error = join(&socket, dir, entry->d_name);
		if (error == 0 && access(socket, F_OK) == 0) {
			list_name(names, size, entry->d_name);
			strcpy(one, entry->d_name); /* a name that is valid fits */
			ret++;
		}
		free(socket);
		ret = error < 0 ? error : ret;
	}
	closedir(folder);
	return ret;
}

/* The only domain whose socket is there. */
static int find_only(char **path, char *why, size_t why_size) {
	const char *dir = runtime_dir();
	char names[128] = "", only[GID_NAME_MAX + 1], start[START_SIZE];
	explain_start(start, sizeof(start), "NAME");
	int ret = list_running(dir, names, sizeof(names), only);
	if (ret == 1) {
		return join(path, dir, only);
	}
	if (ret < 0) {
		snprintf(why, why_size, "no domain runs here (%s: %s): %s", dir, strerror(-ret),
				ret == -EACCES ? "get permission to read that folder, or set "
						 "GID_RUNTIME_DIR to another"
					       : start);
	} else if (ret == 0) {
		snprintf(why, why_size, "no domain runs in %s: %s", dir, start);
	} else {
		snprintf(why, why_size,
				"%d domains run here (%s): set GID_DOMAIN to the one that this "
				"program is in",
				ret, names);
		return -EINVAL;
	}
	return ret < 0 ? ret : -ENOENT;
}

int gid_socket_path_find(const char *name, char **path, char *why, size_t why_size) {
	*path = NULL;
	if (name == NULL) {
		name = getenv("GID_DOMAIN");
		if (name == NULL || name[0] == '\0') {
			return find_only(path, why, why_size);
		}
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

/* Who misspelt the name, or gave a number, sees what there is. */
static void explain_missing(
		const char *name, const char *path, const char *start, char *why, size_t why_size) {
	char names[128] = "", one[GID_NAME_MAX + 1];
	char *dir = strndup(path, strlen(path) - strlen(name) - strlen("//" SOCKET_NAME));
	bool is_there = access(path, F_OK) == 0; /* and nobody listens any more */
	if (!is_there && dir != NULL && list_running(dir, names, sizeof(names), one) > 0) {
		snprintf(why, why_size,
				"no gidd for domain '%s' at %s (domains that run here: %s): %s",
				name, path, names, start);
	} else {
		snprintf(why, why_size, "no gidd for domain '%s' at %s: %s", name, path, start);
	}
	free(dir);
}

void gid_socket_path_explain(const char *path, int error, char *why, size_t why_size) {
	char *name = name_in(path);
	const char *shown = name != NULL ? name : "NAME";
	char start[START_SIZE];
	explain_start(start, sizeof(start), shown);
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
			explain_missing(name, path, start, why, why_size);
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
