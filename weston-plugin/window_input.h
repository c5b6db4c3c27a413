// SPDX-License-Identifier: MIT
/**
 * What comes back to an ordinary window that is a stream, from who shows it in another domain:
 * keys, pointer and fingers, a size, and the wish that it be closed. Belongs to the compositor's
 * thread.
 */
#ifndef GID_WESTON_WINDOW_INPUT_H
#define GID_WESTON_WINDOW_INPUT_H

#include <gid/domain.h>
#include <libweston/libweston.h>

#include "forward.h"
#include "safety_config.h"

struct window_input;

/*
 * `config` says whose input it is, and `forward` which part of the window is seen; both outlive it.
 * NULL for want of memory. All functions below take NULL.
 */
struct window_input *window_input_create(struct weston_compositor *compositor,
		const struct safety_config *config, const struct forward *forward);

/* Without a window. */
void window_input_destroy(struct window_input *input);

/* The domain came; NULL: it goes. */
void window_input_set_domain(struct window_input *input, struct gid_domain *domain);

/*
 * Which window it is: one of the shell's; NULL: none. To be called before the window is gone: it
 * gets the releases of what is held.
 */
void window_input_set_window(struct window_input *input, struct weston_surface *window);

#endif
