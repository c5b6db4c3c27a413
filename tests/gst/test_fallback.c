// SPDX-License-Identifier: MIT
/*
 * A source that would rather give dma-bufs, of which none can be exported: gldownload without a GPU
 * is such a one. gidsink has it give plain memory, and goes on.
 */
#include <gst/allocators/gstdmabuf.h>
#include <gst/base/gstpushsrc.h>
#include <gst/video/video.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cockpit.h"
#include "tap.h"

GST_PLUGIN_STATIC_DECLARE(gid);

#define SIZE "width=(int)320,height=(int)240,framerate=(fraction)30/1"
#define DMABUF "video/x-raw(memory:DMABuf),format=(string)DMA_DRM,drm-format=(string)AB24," SIZE
#define RAW "video/x-raw,format=(string)RGBA," SIZE
#define BYTES (320 * 240 * 4)

typedef struct {
	GstPushSrc parent;
	GstAllocator *dmabufs;
	bool has_raw;
	int left;
	int sent[2]; /* raw, dma-bufs */
} FakeSrc;
typedef GstPushSrcClass FakeSrcClass;

GType fake_src_get_type(void);
G_DEFINE_TYPE(FakeSrc, fake_src, GST_TYPE_PUSH_SRC)

static GstCaps *fake_src_get_caps(GstBaseSrc *src, GstCaps *filter) {
	GstCaps *caps = gst_caps_from_string(((FakeSrc *)src)->has_raw ? DMABUF ";" RAW : DMABUF);
	if (filter != NULL) {
		GstCaps *both = gst_caps_intersect_full(caps, filter, GST_CAPS_INTERSECT_FIRST);
		gst_caps_unref(caps);
		caps = both;
	}
	return caps;
}

/* A file that is no dma-buf, and not sealed either. */
static GstMemory *make_unexportable(FakeSrc *self) {
	int fd = memfd_create("fake", MFD_CLOEXEC);
	if (fd < 0 || ftruncate(fd, BYTES) < 0) {
		abort();
	}
	return gst_dmabuf_allocator_alloc(self->dmabufs, fd, BYTES);
}

static GstFlowReturn fake_src_create(GstPushSrc *src, GstBuffer **buffer) {
	FakeSrc *self = (FakeSrc *)src;
	g_autoptr(GstCaps) caps = gst_pad_get_current_caps(GST_BASE_SRC_PAD(src));
	bool is_dmabuf = gst_video_is_dma_drm_caps(caps);

	if (self->left-- == 0) {
		return GST_FLOW_EOS;
	}
	self->sent[is_dmabuf]++;
	*buffer = gst_buffer_new();
	gst_buffer_append_memory(*buffer,
			is_dmabuf ? make_unexportable(self)
				  : gst_allocator_alloc(NULL, BYTES, NULL));
	return GST_FLOW_OK;
}

static void fake_src_finalize(GObject *object) {
	gst_object_unref(((FakeSrc *)object)->dmabufs);
	G_OBJECT_CLASS(fake_src_parent_class)->finalize(object);
}

static void fake_src_class_init(FakeSrcClass *klass) {
	static GstStaticPadTemplate template = GST_STATIC_PAD_TEMPLATE(
			"src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS(DMABUF ";" RAW));

	gst_element_class_add_static_pad_template(GST_ELEMENT_CLASS(klass), &template);
	gst_element_class_set_static_metadata(
			GST_ELEMENT_CLASS(klass), "fake", "Source", "fake", "gidway");
	G_OBJECT_CLASS(klass)->finalize = fake_src_finalize;
	GST_BASE_SRC_CLASS(klass)->get_caps = fake_src_get_caps;
	klass->create = fake_src_create;
}

static void fake_src_init(FakeSrc *self) {
	self->dmabufs = gst_dmabuf_allocator_new();
	self->left = 10;
	gst_base_src_set_format(GST_BASE_SRC(self), GST_FORMAT_TIME);
}

static void test_source(bool has_raw) {
	FakeSrc *src = g_object_new(fake_src_get_type(), NULL);
	GstElement *sink = gst_element_factory_make("gidsink", NULL);
	GstElement *pipeline = gst_pipeline_new(NULL);
	guint64 frames = 0;

	src->has_raw = has_raw;
	g_object_set(sink, "domain", "open", "stream", "movie", NULL);
	gst_bin_add_many(GST_BIN(pipeline), GST_ELEMENT(src), sink, NULL);
	gst_element_link(GST_ELEMENT(src), sink);
	gst_element_set_state(pipeline, GST_STATE_PLAYING);
	g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);
	g_autoptr(GstMessage) end = gst_bus_timed_pop_filtered(
			bus, 60 * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
	if (has_raw) {
		g_autoptr(GstStructure) stats = NULL;
		g_object_get(sink, "stats", &stats, NULL);
		gst_structure_get_uint64(stats, "frames", &frames);
		tap_ok(end && GST_MESSAGE_TYPE(end) == GST_MESSAGE_EOS, "the film ends well");
		tap_ok(src->sent[true] >= 1 && src->sent[true] <= 2,
				"dma-bufs were tried: %d of them", src->sent[true]);
		/* the end of the stream counts, too */
		tap_ok(frames >= (guint64)src->sent[false], "all others arrive: %u of %d",
				(unsigned)frames, src->sent[false]);
	} else {
		tap_ok(end && GST_MESSAGE_TYPE(end) == GST_MESSAGE_ERROR &&
						GST_MESSAGE_SRC(end) == GST_OBJECT(sink),
				"where there is nothing else the sink says so");
	}
	gst_element_set_state(pipeline, GST_STATE_NULL);
	gst_object_unref(pipeline);
}

int main(int argc, char **argv) {
	gst_init(&argc, &argv);
	GST_PLUGIN_STATIC_REGISTER(gid);
	if (!tap_ok(cockpit_init(), "two domains")) {
		cockpit_finish();
		return 1;
	}
	test_source(true);
	test_source(false);
	cockpit_finish();
	return tap_finish();
}
