// SPDX-License-Identifier: MIT
#include "trusted_path.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Whether other users can replace it. In a folder with the sticky bit only the owner of a file can
 * move it.
 */
static bool others_can_change(const struct stat *status) {
	bool is_sticky = S_ISDIR(status->st_mode) && (status->st_mode & S_ISVTX) != 0;
	bool is_open = (status->st_mode & (S_IWGRP | S_IWOTH)) != 0 && !is_sticky;
	return (status->st_uid != 0 && status->st_uid != geteuid()) ||
			(is_open && !S_ISLNK(status->st_mode));
}

bool path_is_trusted(const char *path, char *part, size_t size) {
	const size_t length = strlen(path);
	struct stat status;
	for (size_t at = 1; at <= length; at++) {
		if (path[at] != '/' && path[at] != '\0') {
			continue;
		}
		int written = snprintf(part, size, "%.*s", (int)at, path);
		if (written < 0 || (size_t)written >= size || lstat(part, &status) < 0 ||
				others_can_change(&status)) {
			return false;
		}
	}
	return true;
}
