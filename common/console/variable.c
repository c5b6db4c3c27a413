// SPDX-License-Identifier: MIT
#include "variable.h"

#include <stdlib.h>

const char *variable_get(const char *name) {
	const char *value = getenv(name);
	return value != NULL && value[0] != '\0' ? value : NULL;
}
