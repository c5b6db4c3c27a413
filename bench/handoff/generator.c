// SPDX-License-Identifier: MIT
/*
 * A live source of video frames, as cheap as one can be that still needs its memory: into every
 * page of a frame it writes one word. So what fresh or unmapped pages cost is in a transport's
 * figure, and what drawing costs is not. It writes into what downstream offers, pool or allocator,
 * as videotestsrc does, and else into memfds: so the generator alone, into a fakesink, writes into
 * the same kind of memory.
 */
#include <gst/allocators/gstshmallocator.h>
#include <gst/base/gstpushsrc.h>
#include <gst/video/video.h>

#include "handoff.h"

typedef struct {
	GstPushSrc parent;
	GstVideoInfo info;
	struct meter *meter;
	uint32_t rate;
	uint64_t sequence;
	uint64_t next_time;
} HandoffGenerator;

typedef struct {
	GstPushSrcClass parent_class;
} HandoffGeneratorClass;

G_DEFINE_TYPE(HandoffGenerator, handoff_generator, GST_TYPE_PUSH_SRC)

static GstStaticPadTemplate source_template = GST_STATIC_PAD_TEMPLATE("src", GST_PAD_SRC,
		GST_PAD_ALWAYS, GST_STATIC_CAPS(GST_VIDEO_CAPS_MAKE(GST_VIDEO_FORMATS_ALL)));

static gboolean generator_set_caps(GstBaseSrc *source, GstCaps *caps) {
	HandoffGenerator *self = (HandoffGenerator *)source;
	if (!gst_video_info_from_caps(&self->info, caps)) {
		return FALSE;
	}
	gst_base_src_set_blocksize(source, (guint)GST_VIDEO_INFO_SIZE(&self->info));
	return TRUE;
}

/* Where downstream offers no pool: one of its allocator's memory, or else of memfds. */
static GstBufferPool *make_pool(HandoffGenerator *self, GstQuery *query, guint size) {
	GstBufferPool *pool = gst_video_buffer_pool_new();
	GstAllocator *allocator = NULL;
	GstAllocationParams params;
	GstCaps *caps;
	gst_query_parse_allocation(query, &caps, NULL);
	if (gst_query_get_n_allocation_params(query) > 0) {
		gst_query_parse_nth_allocation_param(query, 0, &allocator, &params);
	} else {
		gst_shm_allocator_init_once();
		allocator = gst_shm_allocator_get();
		gst_allocation_params_init(&params);
		gst_query_add_allocation_param(query, allocator, &params);
	}
	GstStructure *config = gst_buffer_pool_get_config(pool);
	gst_buffer_pool_config_set_params(config, caps, size, 0, 0);
	gst_buffer_pool_config_set_allocator(config, allocator, &params);
	gst_buffer_pool_set_config(pool, config);
	g_clear_object(&allocator);
	return pool;
}

static gboolean generator_decide_allocation(GstBaseSrc *source, GstQuery *query) {
	HandoffGenerator *self = (HandoffGenerator *)source;
	if (gst_query_get_n_allocation_pools(query) == 0) {
		guint size = (guint)GST_VIDEO_INFO_SIZE(&self->info);
		GstBufferPool *pool = make_pool(self, query, size);
		gst_query_add_allocation_pool(query, pool, size, 0, 0);
		gst_object_unref(pool);
	}
	return GST_BASE_SRC_CLASS(handoff_generator_parent_class)->decide_allocation(source, query);
}

static GstFlowReturn generator_fill(GstPushSrc *source, GstBuffer *buffer) {
	HandoffGenerator *self = (HandoffGenerator *)source;
	uint64_t now = handoff_now();
	if (self->next_time < now) {
		self->next_time = now;
	}
	handoff_sleep_until(self->next_time);
	self->next_time += 1000000000ull / self->rate;

	GstMapInfo map;
	if (!gst_buffer_map(buffer, &map, GST_MAP_WRITE)) {
		return GST_FLOW_ERROR;
	}
	self->sequence++;
	for (size_t offset = HANDOFF_PAGE; offset + 8 <= map.size; offset += HANDOFF_PAGE) {
		*(uint64_t *)(void *)(map.data + offset) = self->sequence;
	}
	struct handoff_header *header = (void *)map.data;
	now = handoff_now();
	*header = (struct handoff_header){HANDOFF_MAGIC, self->sequence, now};
	gst_buffer_unmap(buffer, &map);

	GST_BUFFER_PTS(buffer) = now - gst_element_get_base_time(GST_ELEMENT(source));
	GST_BUFFER_DURATION(buffer) = 1000000000ull / self->rate;
	meter_frame(self->meter, now);
	// A while longer than measured: the receiver's window closes with a frame, too.
	return now > self->meter->until + 300000000 ? GST_FLOW_EOS : GST_FLOW_OK;
}

static void handoff_generator_class_init(HandoffGeneratorClass *class) {
	GstElementClass *element = GST_ELEMENT_CLASS(class);
	gst_element_class_add_static_pad_template(element, &source_template);
	gst_element_class_set_static_metadata(
			element, "Generator", "Source/Video", "Frames that cost little", "gidway");
	GST_BASE_SRC_CLASS(class)->set_caps = generator_set_caps;
	GST_BASE_SRC_CLASS(class)->decide_allocation = generator_decide_allocation;
	GST_PUSH_SRC_CLASS(class)->fill = generator_fill;
}

static void handoff_generator_init(HandoffGenerator *self) {
	gst_base_src_set_live(GST_BASE_SRC(self), TRUE);
	gst_base_src_set_format(GST_BASE_SRC(self), GST_FORMAT_TIME);
}

void handoff_generator_set(GstElement *generator, struct meter *meter, uint32_t rate) {
	HandoffGenerator *self = (HandoffGenerator *)generator;
	self->meter = meter;
	self->rate = rate;
}
