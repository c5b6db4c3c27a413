// SPDX-License-Identifier: MIT
#include "folder.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log.h"

int folder_make(const char *path, mode_t mode) {
	struct stat status;
	if ((mkdir(path, mode) < 0 && errno != EEXIST) || lstat(path, &status) < 0) {
		int error = -errno;
		log_error("cannot make %s: %s", path, strerror(-error));
		return error;
	}
	if (!S_ISDIR(status.st_mode) || (status.st_uid != geteuid() && status.st_uid != 0) ||
			(status.st_mode & S_IWOTH) != 0) {
		log_error("%s must be a folder that belongs to the user of gidd or root, and that "
			  "others may not write to",
				path);
		return -EPERM;
	}
	return 0;
}
