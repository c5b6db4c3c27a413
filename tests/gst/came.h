// SPDX-License-Identifier: MIT
/** Buffers that pass a pad, to be looked at one after the other. */
#ifndef GID_TESTS_CAME_H
#define GID_TESTS_CAME_H

#include <gst/gst.h>

#include "cockpit.h"

static struct {
	GMutex lock;
	GQueue buffers; /* GstBuffer */
	GstCaps *caps;	/* of the last one */
} came;

static inline GstPadProbeReturn on_buffer(GstPad *pad, GstPadProbeInfo *info, gpointer data) {
	g_mutex_lock(&came.lock);
	gst_caps_take(&came.caps, gst_pad_get_current_caps(pad));
	g_queue_push_tail(&came.buffers, gst_buffer_ref(GST_PAD_PROBE_INFO_BUFFER(info)));
	g_mutex_unlock(&came.lock);
	return GST_PAD_PROBE_OK;
}

/* The next one, or NULL. */
static inline GstBuffer *next_buffer(void) {
	GstBuffer *buffer = NULL;
	for (int i = 0; i < COCKPIT_PATIENCE_MS && buffer == NULL; i++) {
		g_mutex_lock(&came.lock);
		buffer = g_queue_pop_head(&came.buffers);
		g_mutex_unlock(&came.lock);
		if (buffer == NULL) {
			cockpit_sleep_ms(1);
		}
	}
	return buffer;
}

#endif
