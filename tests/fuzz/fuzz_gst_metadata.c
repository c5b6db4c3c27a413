// SPDX-License-Identifier: MIT
/*
 * Any bytes as a frame's metadata: gidsrc makes GstMeta of them, GLib has nothing critical to say,
 * and what comes out travels on and comes out once more.
 */
#include <gst/gst.h>

#include "../../gst/common/gstgid.h"
#include "../../gst/common/gstgidmetadata.h"
#include "fuzz.h"

GST_DEBUG_CATEGORY(gst_gid_debug);

static void init(void) {
	static bool done;

	if (!done) {
		gst_init(NULL, NULL);
		/* that caps are of an old style is said by a warning */
		keep_trapped();
		g_log_set_always_fatal(G_LOG_LEVEL_CRITICAL);
		GST_DEBUG_CATEGORY_INIT(gst_gid_debug, "gid", 0, "");
		gst_gid_metadata_register();
		gst_meta_register_custom_simple("test-mood");
		done = true;
	}
}

static guint count_metas(GstBuffer *buffer) {
	gpointer state = NULL;
	guint count = 0;

	while (gst_buffer_iterate_meta(buffer, &state) != NULL) {
		count++;
	}
	return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	GstBuffer *buffer, *again;
	GByteArray *bytes;
	gpointer state = NULL;
	GstMeta *meta;

	init();
	if (size > GID_METADATA_MAX) {
		return 0;
	}
	buffer = gst_buffer_new();
	gst_gid_metadata_apply(data, size, buffer);
	demand(count_metas(buffer) <= 256);
	bytes = g_byte_array_new();
	while ((meta = gst_buffer_iterate_meta(buffer, &state)) != NULL) {
		demand(gst_gid_metadata_add(bytes, meta, 16 * GID_METADATA_MAX));
	}
	gst_gid_metadata_finish(bytes);
	again = gst_buffer_new();
	if (bytes->len > 0) {
		gst_gid_metadata_apply(bytes->data, bytes->len, again);
	}
	demand(bytes->len == 0 || count_metas(again) == count_metas(buffer));
	gst_buffer_unref(again);
	g_byte_array_unref(bytes);
	gst_buffer_unref(buffer);
	return 0;
}
