// SPDX-License-Identifier: MIT
/**
 * What the user in another domain sends to an ordinary window that is a stream: keys, pointer,
 * touch, a size, and the request to close it. Runs on the compositor's thread.
 */
#ifndef GID_WESTON_WINDOW_INPUT_H
#define GID_WESTON_WINDOW_INPUT_H

#include <gid/domain.h>
#include <libweston/libweston.h>

#include "forward.h"
#include "safety_config.h"

struct window_input;

/*
 * `config` says whose input it is, and `forward` which part of the window is visible; both must
 * outlive it. Returns NULL without memory. All functions below accept NULL.
 */
struct window_input *window_input_create(struct weston_compositor *compositor,
		const struct safety_config *config, const struct forward *forward);

/* To be called without a window. */
void window_input_destroy(struct window_input *input);

/* Uses this domain from now on; NULL: none. */
void window_input_set_domain(struct window_input *input, struct gid_domain *domain);

/*
 * Sets the window, a desktop surface; NULL: none. To be called before the old window is gone: it
 * gets the releases of all that is pressed.
 */
void window_input_set_window(struct window_input *input, struct weston_surface *window);

#endif
