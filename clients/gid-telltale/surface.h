// SPDX-License-Identifier: MIT
/**
 * The same lights as a surface with a safety role: the compositor shows the slots as gid buffers,
 * and forwards them.
 */
#ifndef TELLTALE_SURFACE_H
#define TELLTALE_SURFACE_H

#include "common/client_role.h"
#include "common/histogram.h"
#include "telltale.h"

struct surface {
	struct telltale *telltale; /* has the slots; sends nothing itself */
	struct wayland wayland;
	struct wl_surface *surface;
	struct xdg_surface *xdg_surface;
	struct xdg_toplevel *toplevel;
	struct client_role role;
	struct surface_buffer {
		struct surface *surface;
		uint32_t slot;
		struct wl_buffer *buffer;
		struct gid_buffer_params_v1 *params; /* tells what becomes of it */
		bool lost;			     /* it shows nothing any more */
	} buffers[TELLTALE_SLOTS];
	sd_event_source *renew; /* when lost buffers are made again; NULL: there are none */
	bool configured;
	struct wl_callback *commit; /* has the compositor taken it? NULL: nothing is asked */
	uint64_t committed_ns;
	struct histogram commits; /* from a commit until the answer that it was taken, in µs */
};

/*
 * Opens the window; `telltale` has been initialised without a stream. The lights appear when the
 * compositor agrees. Returns 0, or -1 after saying on stderr what is wrong; it is to be finished in
 * either case.
 */
int surface_init(struct surface *surface, struct telltale *telltale, sd_event *event,
		const char *role);
void surface_finish(struct surface *surface);

/* Draws the lights of this state and commits them. Returns 0, or -EAGAIN: all slots are held. */
int surface_change(struct surface *surface, unsigned state);

/* What the compositor told, as a line of JSON on stdout. */
void surface_report(const struct surface *surface);

#endif
