// SPDX-License-Identifier: MIT
/**
 * Checks the keys of the module's sections in weston.ini. Weston's parser returns the keys that it
 * is asked for, and ignores the others.
 */
#ifndef GID_CONFIG_KEYS_H
#define GID_CONFIG_KEYS_H

#include <libweston/libweston.h>

/* Logs each unknown key, with its line. Returns 0, or -EINVAL if there is one. */
int config_keys_check(struct weston_compositor *compositor);

#endif
