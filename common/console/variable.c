// SPDX-License-Identifier: MIT
#include "variable.h"

#include <stdlib.h>

const char *variable_get(const char *name) {
	const char *value = getenv(name);
	return value != NULL && value[0] != '\0' ? value : NULL;
}

const char *variable_runtime_folder(void) {
	const char *folder = variable_get("GID_RUNTIME_DIR");
	return folder != NULL ? folder : "/run/gidway";
}
