// SPDX-License-Identifier: MIT
/**
 * What the display controller made of all planes of an output, written to memory by itself: by a
 * writeback connector, which some devices have beside those for screens.
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
	bool wanted; /* by the display */
	bool found;  /* `connector` is one for this output's CRTC */
	bool linked; /* it belongs to the CRTC since the mode was set */
	bool asked;  /* the next commit is to be written */
	bool aside;  /* for now nothing is added to commits */
	struct kms_connector connector;
	struct kms_dumb picture;
	struct wlr_buffer *primary; /* locked: of the frame that is being written; NULL: none is */
	int fence;		    /* -1: nothing is being written */
	struct wl_event_source *fence_source, *timeout;
	/* NULL: it failed, or took too long. The picture is valid during the call. */
	void (*done)(void *data, const struct kms_dumb *picture);
	void *data;
};

/* Before the mode is set: the output is to have one, if the device does. */
void kms_writeback_want(struct kms_output *output);

/* Whether kms_writeback_ask() can be called now. */
bool kms_writeback_is_ready(const struct kms_output *output);

/* Whether there is one at all. */
bool kms_writeback_is_there(const struct kms_output *output);

/* The next commit is written to memory. `done` is called once, later, or not if the output goes. */
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

/* To a commit that sets a mode. */
void kms_writeback_add_link(struct kms_writeback *writeback, struct kms_request *request);

/* To one that turns the output off. */
void kms_writeback_add_off(struct kms_writeback *writeback, struct kms_request *request);

/* To any other, if it was asked for. */
void kms_writeback_add(struct kms_writeback *writeback, struct kms_request *request);

/* The commit with what was added is on its way; `sets_mode`: of so many pixels. */
void kms_writeback_sent(
		struct kms_writeback *writeback, bool sets_mode, uint32_t width, uint32_t height);

/*
 * A commit was refused that sets a mode, or does not: nothing is added to the next one. Returns
 * whether there was anything. kms_writeback_take_back() then tells whether the device took that.
 */
bool kms_writeback_set_aside(struct kms_writeback *writeback, bool sets_mode);
void kms_writeback_take_back(struct kms_writeback *writeback, bool taken_without);

#endif
