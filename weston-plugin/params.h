// SPDX-License-Identifier: MIT
/** gid_buffer_params_v1: checks what a client asks for, and tells it what becomes of the buffer. */
#ifndef GID_WESTON_PARAMS_H
#define GID_WESTON_PARAMS_H

#include "module.h"

/* Makes the object `id` of gid_buffer_manager_v1.create_params. */
void params_create(struct module *module, struct wl_client *client, uint32_t version, uint32_t id);

#endif
