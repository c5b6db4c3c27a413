// SPDX-License-Identifier: MIT
/**
 * The keys that the module's sections of weston.ini can have. Weston's parser gives what it is
 * asked for, and says nothing of what nobody asks for.
 */
#ifndef GID_CONFIG_KEYS_H
#define GID_CONFIG_KEYS_H

#include <libweston/libweston.h>

/* Says of each other key in the log where it is. Returns -EINVAL then, and otherwise 0. */
int config_keys_check(struct weston_compositor *compositor);

#endif
