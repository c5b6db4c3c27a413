// SPDX-License-Identifier: MIT
/**
 * The stream of one role, or of an ordinary window: sends what its surface shows, repeats it as a
 * sign of life, and keeps the buffers that others read.
 *
 * Never waits for gidd or for a consumer. Belongs to the compositor's thread.
 */
#ifndef GID_WESTON_FORWARD_H
#define GID_WESTON_FORWARD_H

#include <gid/stream.h>
#include <libweston/libweston.h>

#include "safety_config.h"

struct forward;

/* What becomes of the frames; `lost` reasons are those of gid_safety_surface_v1. */
struct forward_events {
	/* The stream is there: show the picture again. */
	void (*ready)(void *data);
	/* The same, where the stream was there: the picture needs other memory now, or the first
	 * reader has come. */
	void (*again)(void *data);
	/* Consumers took all pictures up to this one, as was found at this time. */
	void (*shown)(void *data, uint64_t sequence, uint64_t time);
	/* From now on they do not, until `shown`. */
	void (*lost)(void *data, uint32_t reason);
	/* Whether who drew the picture lives still: without that it is not repeated. */
	bool (*is_alive)(void *data);
	/* Whether Weston has not read yet what else they sent: nor is it repeated then. */
	bool (*is_behind)(void *data);
	/* Writes what is to be said beside each picture. Returns how many bytes; 0: nothing. */
	uint32_t (*note)(void *data, uint8_t bytes[GID_NOTE_MAX]);
};

/* `config`, `events` and `data` outlive it. Returns 0 or -ENOMEM. */
int forward_create(const struct safety_config *config, struct wl_event_loop *loop,
		const struct forward_events *events, void *data, struct forward **forward);
void forward_destroy(struct forward *forward);

/* The domain came; NULL: it goes, and everything of it is given back. */
void forward_set_domain(struct forward *forward, struct gid_domain *domain);

/* Another surface shows its content from now on: the events `shown` and `lost` begin anew. */
void forward_begin(struct forward *forward);

/* The surface goes, or has the role no more: there is nothing to show, and its client's dma-bufs
 * are forgotten. */
void forward_end(struct forward *forward);

/* Whether there is the stream, and somebody who reads it. */
bool forward_is_read(const struct forward *forward);

/*
 * Sends what the surface shows now, or that there is nothing to show: because it has no buffer, or
 * because what it shows cannot be sent; then Weston's log says why.
 */
void forward_commit(struct forward *forward, struct weston_surface *surface);

/*
 * There is nothing to show, and consumers are told so, and why. `reason`, where it is not negative,
 * is what the surface's owner hears.
 */
void forward_hide(struct forward *forward, int64_t reason, enum gid_hidden why);

/* Sends the same once more: what is said beside it is something else now. */
void forward_repeat(struct forward *forward);

/* Whether what there is to show cannot be sent. */
bool forward_is_refused(const struct forward *forward);

/* Whether consumers were told that there is nothing to show, and this reason. */
bool forward_is_hidden(const struct forward *forward, enum gid_hidden why);

/*
 * How deep a tree is, and among how many of its surfaces one is looked for, also where others than
 * its client's are committed: what lies beyond is none of it.
 */
#define FORWARD_TREE_DEPTH_MAX 8
#define FORWARD_TREE_LOOKS_MAX 256

/*
 * The wl_subsurface by which a surface is of the tree that forward_commit() sends; NULL: it is not,
 * or too deep in it.
 */
struct wl_resource *forward_find_link(
		const struct weston_surface *surface, const struct weston_surface *wanted);

/*
 * The part of the surface, in its own lengths, that the picture shows which was sent last; where
 * nobody has one, that which the next one will show.
 */
struct gid_box forward_get_seen(const struct forward *forward, struct weston_surface *surface);

/*
 * Some picture of the surface was left out: the next one is sent as new everywhere, and the one
 * before it is no sign of life any more.
 */
void forward_skip(struct forward *forward);

/* For what clients can bring about as often as they like: at most 30 lines a minute for each role.
 */
#define forward_log(forward, ...)                                                                  \
	weston_log_paced(forward_get_log_pacer(forward), 30, 60000, __VA_ARGS__)
struct weston_log_pacer *forward_get_log_pacer(struct forward *forward);

#endif
