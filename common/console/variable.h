// SPDX-License-Identifier: MIT
/* What the environment says. */
#ifndef CONSOLE_VARIABLE_H
#define CONSOLE_VARIABLE_H

/* As getenv(); NULL also where it is empty, as libgid takes it. */
const char *variable_get(const char *name);

#endif
