// SPDX-License-Identifier: MIT
/**
 * Outputs without a device, which take each frame and tell nobody: whoever gives them frames keeps
 * their refreshes. Those of wlroots allocate for each frame, to tell a moment later that it is
 * shown, and have a timer that asks for the next one.
 */
#ifndef CLUSTER_VIRTUAL_BACKEND_H
#define CLUSTER_VIRTUAL_BACKEND_H

#include <wlr/backend.h>
#include <wlr/types/wlr_output.h>

/* NULL for want of memory. */
struct wlr_backend *virtual_backend_create(struct wl_event_loop *loop);
bool backend_is_virtual(const struct wlr_backend *backend);

/*
 * Before the backend is started, which announces it. `name`: NULL for one of its own. Returns false
 * for want of memory.
 */
bool virtual_backend_add_output(
		struct wlr_backend *backend, uint32_t width, uint32_t height, const char *name);
bool output_is_virtual(const struct wlr_output *output);

#endif
