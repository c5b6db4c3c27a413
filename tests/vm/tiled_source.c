// SPDX-License-Identifier: MIT
/*
 * An element `tiledsrc` as a decoder or a graphics card is one: dma-bufs whose caps say DMA_DRM
 * with a modifier, and whose planes, more than the format has, are where only a driver knows.
 * Nobody can read them. Plays for ever:
 *
 * tiled-source STREAM DRM-FORMAT
 */
#include <err.h>
#include <gst/allocators/gstdmabuf.h>
#include <gst/base/gstpushsrc.h>
#include <gst/gst.h>
#include <gst/video/video.h>
#include <stdlib.h>

#include "made_dmabuf.h"

#define WIDTH 64
#define HEIGHT 48
#define BYTES (16 * 4096)
#define PICTURES 8
#define PERIOD (100 * GST_MSECOND) /* a guest is slow */

static const gsize offsets[] = {4096, 12 * 4096, 0, 0};
static const gint strides[] = {512, 128, 0, 0}; /* of a picture whose rows would have 256 */

typedef struct {
	GstPushSrc parent;
	GstMemory *memory[PICTURES];
	guint next;
	guint64 sent;
} TiledSrc;

typedef struct {
	GstPushSrcClass parent;
} TiledSrcClass;

static GType tiled_src_get_type(void);
G_DEFINE_TYPE(TiledSrc, tiled_src, GST_TYPE_PUSH_SRC)

/* As of a decoder's pool: none that somebody still has is used again. */
static GstMemory *tiled_src_take_memory(TiledSrc *self) {
	GstMemory *memory;

	do {
		memory = self->memory[self->next++ % PICTURES];
		if (self->next % PICTURES == 0) {
			g_usleep(1000);
		}
	} while (GST_MINI_OBJECT_REFCOUNT_VALUE(memory) > 1);
	return gst_memory_ref(memory);
}

static GstFlowReturn tiled_src_create(GstPushSrc *src, GstBuffer **buffer) {
	TiledSrc *self = (TiledSrc *)src;
	GstVideoCropMeta *crop;

	*buffer = gst_buffer_new();
	gst_buffer_append_memory(*buffer, tiled_src_take_memory(self));
	gst_buffer_add_video_meta_full(*buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_DMA_DRM,
			WIDTH, HEIGHT, 2, offsets, strides);
	if (self->sent % 2 == 1) {
		crop = gst_buffer_add_video_crop_meta(*buffer);
		crop->x = 6;
		crop->y = 4;
		crop->width = WIDTH - 6;
		crop->height = HEIGHT - 4;
	}
	GST_BUFFER_PTS(*buffer) = self->sent++ * PERIOD;
	GST_BUFFER_DURATION(*buffer) = PERIOD;
	return GST_FLOW_OK;
}

static void tiled_src_class_init(TiledSrcClass *klass) {
	static GstStaticPadTemplate template = GST_STATIC_PAD_TEMPLATE("src", GST_PAD_SRC,
			GST_PAD_ALWAYS,
			GST_STATIC_CAPS("video/x-raw(memory:DMABuf),format=(string)DMA_DRM"));

	gst_element_class_add_static_pad_template(GST_ELEMENT_CLASS(klass), &template);
	gst_element_class_set_static_metadata(
			GST_ELEMENT_CLASS(klass), "tiled", "Source", "tiled", "gidway");
	GST_PUSH_SRC_CLASS(klass)->create = tiled_src_create;
}

static void tiled_src_init(TiledSrc *self) {
	GstAllocator *allocator = gst_dmabuf_allocator_new();

	for (guint i = 0; i < PICTURES; i++) {
		int fd = make_dmabuf(BYTES);
		if (fd < 0) {
			err(EXIT_FAILURE, "/dev/udmabuf");
		}
		self->memory[i] = gst_dmabuf_allocator_alloc(allocator, fd, BYTES);
	}
	gst_object_unref(allocator);
	gst_base_src_set_format(GST_BASE_SRC(self), GST_FORMAT_TIME);
}

int main(int argc, char **argv) {
	g_autoptr(GError) error = NULL;

	gst_init(&argc, &argv);
	gst_element_register(NULL, "tiledsrc", GST_RANK_NONE, tiled_src_get_type());
	if (argc != 3) {
		errx(EXIT_FAILURE, "usage: tiled-source STREAM DRM-FORMAT");
	}
	g_autofree gchar *text = g_strdup_printf("tiledsrc ! video/x-raw(memory:DMABuf),"
						 "format=DMA_DRM,drm-format=%s,width=%d,height=%d,"
						 "framerate=10/1 ! gidsink stream=%s "
						 "lease=600000 copy-policy=error",
			argv[2], WIDTH, HEIGHT, argv[1]);
	g_autoptr(GstElement) pipeline = gst_parse_launch(text, &error);
	if (pipeline == NULL) {
		errx(EXIT_FAILURE, "%s", error->message);
	}
	gst_element_set_state(pipeline, GST_STATE_PLAYING);
	g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);
	g_autoptr(GstMessage) end = gst_bus_timed_pop_filtered(
			bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
	gst_message_parse_error(end, &error, NULL);
	errx(EXIT_FAILURE, "%s", error->message);
}
