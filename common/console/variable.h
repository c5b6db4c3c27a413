// SPDX-License-Identifier: MIT
/* What the environment says. */
#ifndef CONSOLE_VARIABLE_H
#define CONSOLE_VARIABLE_H

/* As getenv(); NULL also where it is empty, as libgid takes it. */
const char *variable_get(const char *name);

/* Where the domains of this system have their folders: $GID_RUNTIME_DIR, else /run/gidway. */
const char *variable_runtime_folder(void);

#endif
