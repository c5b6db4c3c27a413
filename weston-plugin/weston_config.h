// SPDX-License-Identifier: MIT
/** weston.ini, as Weston has read it. */
#ifndef GID_WESTON_CONFIG_H
#define GID_WESTON_CONFIG_H

#include <stdio.h> /* which config-parser.h needs, and does not include */

#include <libweston/config-parser.h>
#include <libweston/libweston.h>

/* Of weston/weston.h, which not every development package has. */
struct weston_config *wet_get_config(struct weston_compositor *compositor);

#endif
