// SPDX-License-Identifier: MIT
/**
 * Writeback: the display controller writes what it composed of all planes of an output to memory,
 * by a writeback connector, which some devices have beside those for screens.
 */
#ifndef KMS_WRITEBACK_H
#define KMS_WRITEBACK_H

#include <stdbool.h>

#include "kms_fb.h"
#include "kms_objects.h"

struct kms_output;
struct kms_request;

struct kms_writeback {
	struct kms_output *output;
	bool wanted; /* by kms_writeback_want() */
	bool found;  /* `connector` is one for this output's CRTC */
	bool linked; /* it has been connected to the CRTC since the mode was set */
	bool asked;  /* the next commit is to be written */
	bool aside;  /* for now nothing is added to commits */
	struct kms_connector connector;
	struct kms_dumb picture;
	struct wlr_buffer *primary; /* locked: of the frame that is being written; NULL: none is */
	int fence;  /* the kernel gives one with each commit; -1: nothing is being written */
	int fences; /* an epoll descriptor with that one; -1: not made yet */
	struct wl_event_source *fence_source, *timeout; /* NULL: not made yet */
	/* NULL: it failed, or took too long. The picture is valid during the call. */
	void (*done)(void *data, const struct kms_dumb *picture);
	void *data;
};

/* To be called before the mode is set: the output uses a writeback connector, if there is one. */
void kms_writeback_want(struct kms_output *output);

/* Whether kms_writeback_ask() can be called now. */
bool kms_writeback_is_ready(const struct kms_output *output);

/* Whether the output has a writeback connector. */
bool kms_writeback_is_there(const struct kms_output *output);

/*
 * Writes the next commit's picture to memory. `done` is called once, later; not if the output goes.
 */
void kms_writeback_ask(struct kms_output *output,
		void (*done)(void *data, const struct kms_dumb *picture), void *data);

/* --- for kms_output.c --- */

/* NULL for want of memory. */
struct kms_writeback *kms_writeback_create(struct kms_output *output);
void kms_writeback_destroy(struct kms_writeback *writeback);

/* The output has no CRTC any more. */
void kms_writeback_forget(struct kms_writeback *writeback);

/* Whether the connector is the one that was found. */
bool kms_writeback_has(const struct kms_writeback *writeback, uint32_t connector);

/* Looks for a connector that fits the output's CRTC. */
void kms_writeback_find(struct kms_writeback *writeback);

/* Adds the connector to a commit that sets a mode. */
void kms_writeback_add_link(struct kms_writeback *writeback, struct kms_request *request);

/* Adds its end to a commit that turns the output off. */
void kms_writeback_add_off(struct kms_writeback *writeback, struct kms_request *request);

/* Adds a writeback to any other commit, if one was asked for. */
void kms_writeback_add(struct kms_writeback *writeback, struct kms_request *request);

/*
 * The commit with what was added was accepted. With `sets_mode` the mode has width x height pixels.
 */
void kms_writeback_sent(
		struct kms_writeback *writeback, bool sets_mode, uint32_t width, uint32_t height);

/*
 * A commit was refused: adds nothing to the next one. Returns whether anything had been added, so
 * that it makes sense to try once more. kms_writeback_take_back() then tells whether that was
 * accepted.
 */
bool kms_writeback_set_aside(struct kms_writeback *writeback, bool sets_mode);
void kms_writeback_take_back(struct kms_writeback *writeback, bool taken_without);

#endif
