// SPDX-License-Identifier: MIT
/** weston.ini, as Weston has read it. */
#ifndef GID_WESTON_CONFIG_H
#define GID_WESTON_CONFIG_H

#include <stdio.h> /* config-parser.h needs it, and does not include it */

#include <libweston/config-parser.h>
#include <libweston/libweston.h>

/* From weston/weston.h, which some development packages lack. */
struct weston_config *wet_get_config(struct weston_compositor *compositor);

#endif
