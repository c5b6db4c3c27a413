// SPDX-License-Identifier: MIT
/*
 * Any text as a slab's description, and any bytes as a frame's note: gidsrc makes caps and
 * reference timestamps of them, GLib has nothing critical to say, and what comes out can be used.
 */
#include <gst/gst.h>
#include <string.h>

#include "../../gst/common/gstgid.h"
#include "../../gst/common/gstgidcaps.h"
#include "../../gst/common/gstgidlayout.h"
#include "../../gst/common/gstgidnote.h"
#include "fuzz.h"

#define XR24 0x34325258u

GST_DEBUG_CATEGORY(gst_gid_debug);

static void init(void) {
	static bool done;

	if (!done) {
		gst_init(NULL, NULL);
		keep_trapped();
		g_log_set_always_fatal(G_LOG_LEVEL_CRITICAL | G_LOG_LEVEL_WARNING);
		GST_DEBUG_CATEGORY_INIT(gst_gid_debug, "gid", 0, "");
		done = true;
	}
}

static void try_description(const uint8_t *data, size_t size) {
	struct gid_slab_info info = {
			.memory = GID_MEMORY_MEMFD,
			.layout = {.fourcc = XR24,
					.width = 64,
					.height = 16,
					.plane_count = 1,
					.planes = {{0, 256}}},
	};
	GstGidFormat format;
	gchar *text = g_strndup((const gchar *)data, MIN(size, GID_DESCRIPTION_MAX));

	info.description = text;
	GstCaps *caps = gst_gid_caps_from_slab(&info);
	demand(caps != NULL && gst_caps_is_fixed(caps));
	demand(gst_gid_format_from_caps(&format, caps) && format.fourcc == XR24);
	demand(gst_gid_format_width(&format) <= 64 && gst_gid_format_height(&format) <= 16);
	gst_caps_unref(caps);
	g_free(text);
}

/* What was read is written, and read again. */
static void try_text(const uint8_t *data, size_t size) {
	GstCaps *caps = gst_gid_caps_from_text((const gchar *)data, size), *again;

	if (caps == NULL) {
		return;
	}
	gchar *lost = NULL, *text = gst_gid_caps_to_text(caps, 8 * size + 1024, &lost);
	demand(text != NULL && lost == NULL);
	again = gst_gid_caps_from_text(text, strlen(text));
	demand(again != NULL && gst_caps_is_strictly_equal(caps, again));
	gst_caps_unref(again);
	gst_caps_unref(caps);
	g_free(text);
}

static void try_note(const uint8_t *data, size_t size) {
	GstGidReferences *references = gst_gid_references_new();
	GstBuffer *buffer = gst_buffer_new();

	gst_gid_note_apply(data, MIN(size, GID_NOTE_MAX), references, buffer);
	demand(gst_buffer_get_n_meta(buffer, GST_REFERENCE_TIMESTAMP_META_API_TYPE) <=
			GID_NOTE_MAX / 20);
	gst_buffer_unref(buffer);
	g_hash_table_unref(references);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	init();
	try_description(data, size);
	try_text(data, size);
	try_note(data, size);
	return 0;
}
