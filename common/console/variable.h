// SPDX-License-Identifier: MIT
/* Environment variables. */
#ifndef CONSOLE_VARIABLE_H
#define CONSOLE_VARIABLE_H

/* As getenv(), but NULL also for an empty one, as in libgid. */
const char *variable_get(const char *name);

/* Where the domains of this system have their folders: $GID_RUNTIME_DIR, else /run/gidway. */
const char *variable_runtime_folder(void);

#endif
