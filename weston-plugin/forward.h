// SPDX-License-Identifier: MIT
/**
 * Sends the content of one surface, which has a role or is an ordinary window, as frames of a
 * stream. Repeats the last frame as a heartbeat, and holds the buffers that consumers still read.
 *
 * Never waits for gidd or for a consumer. Owned by a struct safety_role; runs on the compositor's
 * thread.
 */
#ifndef GID_WESTON_FORWARD_H
#define GID_WESTON_FORWARD_H

#include <gid/stream.h>
#include <libweston/libweston.h>

#include "safety_config.h"

struct forward;

/* Events of the stream. The reasons of `lost` are those of gid_safety_surface_v1. */
struct forward_events {
	/* The stream was published: call forward_commit() again. */
	void (*ready)(void *data);
	/*
	 * The same for a stream that is already published: the content needs other memory now, or
	 * the first consumer has subscribed.
	 */
	void (*again)(void *data);
	/* Consumers claimed all frames up to `sequence`, as seen at `time` (CLOCK_MONOTONIC ns). */
	void (*shown)(void *data, uint64_t sequence, uint64_t time);
	/* Consumers see no current content any more, until the next `shown`. */
	void (*lost)(void *data, uint32_t reason);
	/*
	 * Whether the client that drew the content still responds. If not, the frame is not
	 * repeated.
	 */
	bool (*is_alive)(void *data);
	/*
	 * Whether Weston has not read all requests of the client yet. They may change the content:
	 * then the frame is not repeated either.
	 */
	bool (*is_behind)(void *data);
	/* Writes the note that goes with each frame. Returns its size in bytes; 0: no note. */
	uint32_t (*note)(void *data, uint8_t bytes[GID_NOTE_MAX]);
};

/* `config`, `events` and `data` must outlive it. Returns 0 or -ENOMEM. */
int forward_create(const struct safety_config *config, struct wl_event_loop *loop,
		const struct forward_events *events, void *data, struct forward **forward);
void forward_destroy(struct forward *forward);

/*
 * Uses this domain from now on. First gives back everything of the domain before. NULL: there is
 * none.
 */
void forward_set_domain(struct forward *forward, struct gid_domain *domain);

/* Another surface has the role from now on: the events `shown` and `lost` start again. */
void forward_begin(struct forward *forward);

/*
 * The surface goes, or loses the role: hides the stream, and drops the exports of its client's
 * dma-bufs.
 */
void forward_end(struct forward *forward);

/* Whether the stream is published and has a consumer. */
bool forward_is_read(const struct forward *forward);

/*
 * Sends the current content of the surface as a frame, or a hidden frame if there is no buffer. If
 * the content cannot be sent, sends a hidden frame, and logs why.
 */
void forward_commit(struct forward *forward, struct weston_surface *surface);

/*
 * Sends a hidden frame, which tells consumers `why`. The client gets the event `lost` with
 * `reason`, unless that is negative.
 */
void forward_hide(struct forward *forward, int64_t reason, enum gid_hidden why);

/* Sends the last frame again, as its note changed. */
void forward_repeat(struct forward *forward);

/* Whether the surface has content that cannot be sent. */
bool forward_is_refused(const struct forward *forward);

/* Whether the last frame is a hidden one with this reason. */
bool forward_is_hidden(const struct forward *forward, enum gid_hidden why);

/*
 * Limits of the search in a surface's tree of subsurfaces: the depth, and the number of surfaces
 * that are looked at. The search also runs at commits of other clients. A surface beyond the limits
 * counts as no part of the tree.
 */
#define FORWARD_TREE_DEPTH_MAX 8
#define FORWARD_TREE_LOOKS_MAX 256

/*
 * Returns the wl_subsurface that links `wanted` into the tree that forward_commit() sends; NULL: it
 * is no part of the tree, or beyond the limits.
 */
struct wl_resource *forward_find_link(
		const struct weston_surface *surface, const struct weston_surface *wanted);

/*
 * The part of the surface, in surface coordinates, that the last frame shows. Without a frame: the
 * part that the next one will show.
 */
struct gid_box forward_get_seen(const struct forward *forward, struct weston_surface *surface);

/*
 * Some content of the surface was skipped: the next frame has full damage, and the last one is not
 * repeated as a heartbeat any more.
 */
void forward_skip(struct forward *forward);

/* Logs what clients can cause as often as they like: at most 30 lines a minute for each role. */
#define forward_log(forward, ...)                                                                  \
	weston_log_paced(forward_get_log_pacer(forward), 30, 60000, __VA_ARGS__)
struct weston_log_pacer *forward_get_log_pacer(struct forward *forward);

#endif
