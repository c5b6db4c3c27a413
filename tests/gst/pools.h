// SPDX-License-Identifier: MIT
/** Allocators and pools of a domain, for tests of the elements' memory from the inside. */
#ifndef GID_TESTS_POOLS_H
#define GID_TESTS_POOLS_H

#include "cockpit.h"
#include "common/gstgidallocator.h"
#include "common/gstgidpool.h"
#include "tap.h"

static GstGidDomain *domain;

static inline GstCaps *make_caps(const char *format, int width, int height) {
	return gst_caps_new_simple("video/x-raw", "format", G_TYPE_STRING, format, "width",
			G_TYPE_INT, width, "height", G_TYPE_INT, height, "framerate",
			GST_TYPE_FRACTION, 30, 1, NULL);
}

static inline GstGidAllocator *make_allocator(guint limit) {
	g_autoptr(GstCaps) caps = make_caps("I420", 320, 240);
	return gst_gid_allocator_new(domain, NULL, caps, limit, FALSE, NULL);
}

static inline GstBufferPool *make_pool(GstGidAllocator *allocator) {
	g_autoptr(GstCaps) caps = make_caps("I420", 320, 240);
	GstBufferPool *pool = gst_gid_pool_new(allocator, caps);
	GstStructure *config = gst_buffer_pool_get_config(pool);
	gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
	gst_buffer_pool_set_config(pool, config);
	gst_buffer_pool_set_active(pool, TRUE);
	return pool;
}

static inline void end_pool(GstBufferPool *pool) {
	gst_buffer_pool_set_active(pool, FALSE);
	gst_object_unref(pool);
}

static inline GstBuffer *acquire(GstBufferPool *pool) {
	GstBufferPoolAcquireParams params = {.flags = GST_BUFFER_POOL_ACQUIRE_FLAG_DONTWAIT};
	GstBuffer *buffer = NULL;
	gst_buffer_pool_acquire_buffer(pool, &buffer, &params);
	return buffer;
}

static inline void *data_of(GstMemory *mem) {
	GstMapInfo map;
	if (!gst_memory_map(mem, &map, GST_MAP_READ)) {
		return NULL;
	}
	void *data = map.data; /* GStreamer 1.28 clears what it unmaps */
	gst_memory_unmap(mem, &map);
	return data;
}

static inline guint slots_in_use(GstGidAllocator *allocator) {
	guint total, used;
	gst_gid_allocator_get_slots(allocator, &total, &used);
	return used;
}

static inline guint slots_of(GstGidAllocator *allocator) {
	guint total, used;
	gst_gid_allocator_get_slots(allocator, &total, &used);
	return total;
}

#endif
