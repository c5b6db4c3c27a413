// SPDX-License-Identifier: MIT
/* What a graphics device draws, pixel by pixel, against what pixman does. */
#include <drm_fourcc.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/udmabuf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "drawing.h"
#include "gles_drawing.h"
#include "repeated.h"
#include "tap.h"

#define WIDTH 96
#define HEIGHT 64
#define ALONE 1 /* of 255: how far a command may be from pixman's */
#define LONG 2	/* and many, one over the other */

struct bitmap {
	struct gid_layout layout;
	_Alignas(64) uint8_t bytes[65536];
};

static struct drawing by_pixman, by_gles;
static struct bitmap targets[2]; /* of each of them */
static uint32_t seed = 1;

static uint32_t any(uint32_t below) {
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % below;
}

static void scatter(struct bitmap *bitmap, uint32_t fourcc, uint32_t width, uint32_t height) {
	gid_layout_init(&bitmap->layout, fourcc, width, height, 16);
	const size_t size = gid_layout_size(&bitmap->layout);
	for (size_t i = 0; i < size; i++) {
		bitmap->bytes[i] = (uint8_t)any(256);
	}
}

/* Colours that are multiplied by alpha, which they never exceed. */
static void premultiply(struct bitmap *bitmap, bool alpha_is_first) {
	const size_t size = gid_layout_size(&bitmap->layout);
	for (size_t i = 0; i < size; i += 4) {
		uint8_t *pixel = bitmap->bytes + i;
		uint8_t alpha = pixel[alpha_is_first ? 0 : 3];
		alpha = alpha < 60 ? 0 : alpha > 200 ? 255 : alpha;
		for (int k = 0; k < 4; k++) {
			pixel[k] = (uint8_t)(pixel[k] * alpha / 255);
		}
		pixel[alpha_is_first ? 0 : 3] = alpha;
	}
}

static void begin(uint32_t fourcc) {
	scatter(&targets[0], fourcc, WIDTH, HEIGHT);
	premultiply(&targets[0], false);
	targets[1] = targets[0];
	drawing_forget(&by_pixman);
	drawing_forget(&by_gles);
	drawing_begin(&by_pixman, &targets[0].layout, targets[0].bytes);
	drawing_begin(&by_gles, &targets[1].layout, targets[1].bytes);
}

/* How far the two are from each other, of 255; alpha counts where there is one. */
static int difference(void) {
	const bool alpha = targets[0].layout.fourcc == DRM_FORMAT_ARGB8888 ||
			targets[0].layout.fourcc == DRM_FORMAT_ABGR8888;
	int worst = 0;
	if (drawing_flush(&by_gles) < 0) {
		return 999;
	}
	const size_t size = gid_layout_size(&targets[0].layout);
	for (size_t i = 0; i < size; i++) {
		if (i % 4 != 3 || alpha) {
			int off = abs(targets[0].bytes[i] - targets[1].bytes[i]);
			worst = off > worst ? off : worst;
		}
	}
	return worst;
}

static struct picture picture_of(const struct bitmap *bitmap) {
	return (struct picture){.layout = bitmap->layout, .memory = bitmap->bytes};
}

static int fill_both(uint32_t op, uint32_t colour, const struct engine_rectangle *boxes,
		uint32_t count) {
	static uint32_t words[8192];
	struct engine_fill *fill = (struct engine_fill *)words;
	fill->head = (struct engine_head){ENGINE_FILL, (uint16_t)(3 + 2 * count)};
	fill->op = op;
	fill->colour = colour;
	memcpy(fill->rectangles, boxes, count * sizeof(*boxes));
	int one = drawing_fill(&by_pixman, fill), other = drawing_fill(&by_gles, fill);
	return one == other ? one : -EPROTO;
}

static int layer_both(const struct engine_layer *layer, const struct picture *picture) {
	int one = drawing_layer(&by_pixman, layer, picture);
	int other = drawing_layer(&by_gles, layer, picture);
	return one == other ? one : -EPROTO;
}

static struct engine_rectangle any_box(void) {
	return (struct engine_rectangle){(int16_t)(any(WIDTH + 20) - 20),
			(int16_t)(any(HEIGHT + 20) - 20), (uint16_t)any(WIDTH),
			(uint16_t)any(HEIGHT)};
}

static void set_any_clip(void) {
	struct engine_rectangle boxes[8];
	uint32_t count = any(9);
	for (uint32_t i = 0; i < count; i++) {
		boxes[i] = any_box();
	}
	drawing_set_clip(&by_pixman, boxes, count);
	drawing_set_clip(&by_gles, boxes, count);
}

static struct engine_layer layer_at(int16_t x, int16_t y) {
	return (struct engine_layer){.head = {ENGINE_LAYER, sizeof(struct engine_layer) / 4},
			.op = ENGINE_OVER,
			.alpha = 255,
			.x = x,
			.y = y};
}

/* --- each for itself -------------------------------------------------------------------------- */

static const uint32_t target_formats[] = {
		DRM_FORMAT_ARGB8888, DRM_FORMAT_XRGB8888, DRM_FORMAT_ABGR8888, DRM_FORMAT_XBGR8888};

static void test_fills(void) {
	for (size_t i = 0; i < 4; i++) {
		int worst = 0;
		for (uint32_t op = ENGINE_CLEAR; op <= ENGINE_ADD; op++) {
			begin(target_formats[i]);
			set_any_clip();
			struct engine_rectangle box = any_box();
			int ret = fill_both(op, 0x80c04020, &box, 1);
			int off = ret == 0 ? difference() : 999;
			worst = off > worst ? off : worst;
		}
		tap_ok(worst <= ALONE, "%.4s: filled by each operator: %d of 255",
				(const char *)&target_formats[i], worst);
	}
}

static void test_layers(void) {
	static struct bitmap source;
	for (uint32_t op = ENGINE_CLEAR; op <= ENGINE_ADD; op++) {
		int worst = 0;
		for (size_t i = 0; i < 4; i++) {
			for (int alpha = 0; alpha < 2; alpha++) {
				begin(target_formats[i]);
				set_any_clip();
				scatter(&source, DRM_FORMAT_ARGB8888, 50, 40);
				premultiply(&source, false);
				struct engine_layer layer = layer_at(-3, 7);
				layer.op = (uint8_t)op;
				layer.alpha = alpha != 0 ? 100 : 255;
				struct picture picture = picture_of(&source);
				int off = layer_both(&layer, &picture) == 0 ? difference() : 999;
				worst = off > worst ? off : worst;
			}
		}
		tap_ok(worst <= ALONE, "operator %u composes layers: %d of 255", op, worst);
	}
}

static void test_turned(void) {
	static struct bitmap source;
	for (uint8_t transform = 0; transform < 8; transform++) {
		int worst[2] = {0};
		for (int filter = ENGINE_NEAREST; filter <= ENGINE_BILINEAR; filter++) {
			for (int i = 0; i < 20; i++) {
				begin(DRM_FORMAT_XRGB8888);
				scatter(&source, DRM_FORMAT_XRGB8888, 50, 40);
				struct engine_layer layer = layer_at(
						(int16_t)(any(40) - 20), (int16_t)(any(40) - 20));
				layer.filter = (uint8_t)filter;
				layer.transform = transform;
				layer.width = (uint16_t)(1 + any(i % 2 ? 200 : 30));
				layer.height = (uint16_t)(1 + any(i % 2 ? 200 : 30));
				layer.source_x = (uint16_t)any(10);
				layer.source_y = (uint16_t)any(10);
				layer.source_width = (uint16_t)(1 + any(40));
				layer.source_height = (uint16_t)(1 + any(30));
				struct picture picture = picture_of(&source);
				int off = layer_both(&layer, &picture) == 0 ? difference() : 999;
				worst[filter] = off > worst[filter] ? off : worst[filter];
			}
		}
		tap_ok(worst[0] == 0 && worst[1] <= ALONE,
				"transform %u: by the nearest pixel %d, by a filter %d of 255",
				transform, worst[0], worst[1]);
	}
}

static void test_formats(void) {
	static const uint32_t formats[] = {DRM_FORMAT_XRGB8888, DRM_FORMAT_XBGR8888,
			DRM_FORMAT_BGRX8888, DRM_FORMAT_RGBX8888, DRM_FORMAT_RGB565,
			DRM_FORMAT_NV12, DRM_FORMAT_NV21, DRM_FORMAT_NV16, DRM_FORMAT_NV61,
			DRM_FORMAT_NV24, DRM_FORMAT_NV42, DRM_FORMAT_YUV420, DRM_FORMAT_YVU420,
			DRM_FORMAT_YUV422, DRM_FORMAT_YVU422, DRM_FORMAT_YUV444, DRM_FORMAT_YVU444,
			DRM_FORMAT_YUYV, DRM_FORMAT_YVYU, DRM_FORMAT_UYVY, DRM_FORMAT_VYUY};
	static struct bitmap source;
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		int worst = 0;
		const uint64_t copies = by_gles.copies.sources;
		for (int kind = 0; kind < 16; kind++) {
			begin(DRM_FORMAT_XRGB8888);
			scatter(&source, formats[i], 51, 37);
			struct engine_layer layer = layer_at(3, 2);
			layer.matrix = kind & 1 ? GID_MATRIX_BT709 : GID_MATRIX_BT601;
			layer.range = kind >> 1 & 1 ? GID_RANGE_FULL : GID_RANGE_LIMITED;
			layer.source_x = kind & 4 ? 7 : 0;
			layer.source_y = kind & 4 ? 5 : 0;
			layer.source_width = kind & 4 ? 29 : 51;
			layer.source_height = kind & 4 ? 21 : 37;
			layer.width = kind & 8 ? 80 : 0;
			layer.height = kind & 8 ? 60 : 0;
			layer.filter = ENGINE_BILINEAR;
			struct picture picture = picture_of(&source);
			int off = layer_both(&layer, &picture) == 0 ? difference() : 999;
			worst = off > worst ? off : worst;
		}
		tap_ok(worst <= ALONE && by_gles.copies.sources == copies + 16,
				"%.4s in both standards and ranges, cut and scaled: %d of 255",
				(const char *)&formats[i], worst);
	}
}

static void test_straight(void) {
	static const uint32_t formats[] = {DRM_FORMAT_ARGB8888, DRM_FORMAT_ABGR8888,
			DRM_FORMAT_BGRA8888, DRM_FORMAT_RGBA8888};
	static struct bitmap source;
	int worst = 0;
	for (size_t i = 0; i < 8; i++) {
		begin(DRM_FORMAT_XRGB8888);
		scatter(&source, formats[i / 2], 51, 37);
		struct engine_layer layer = layer_at(3, 2);
		layer.flags = ENGINE_LAYER_STRAIGHT;
		layer.filter = ENGINE_BILINEAR;
		layer.width = i % 2 ? 80 : 0;
		layer.height = i % 2 ? 60 : 0;
		struct picture picture = picture_of(&source);
		int off = layer_both(&layer, &picture) == 0 ? difference() : 999;
		worst = off > worst ? off : worst;
	}
	tap_ok(worst <= ALONE, "pixels that are not multiplied by their alpha: %d of 255", worst);
}

static void test_masks(void) {
	static struct bitmap source;
	static uint32_t words[2048];
	struct engine_masks *masks = (struct engine_masks *)words;
	const uint32_t count = 300;
	scatter(&source, DRM_FORMAT_R8, 61, 37);
	begin(DRM_FORMAT_ARGB8888);
	set_any_clip();
	masks->head = (struct engine_head){ENGINE_MASKS, (uint16_t)(4 + 3 * count)};
	masks->colour = 0xffe08040;
	for (uint32_t i = 0; i < count; i++) {
		masks->glyphs[i] = (struct engine_glyph){(uint16_t)any(40), (uint16_t)any(20),
				(uint16_t)any(20), (uint16_t)any(17), (int16_t)(i % 20 * 6 - 10),
				(int16_t)(i / 20 * 6 - 10)};
	}
	struct picture picture = picture_of(&source);
	int one = drawing_masks(&by_pixman, masks, &picture);
	int other = drawing_masks(&by_gles, masks, &picture), worst = difference();
	tap_ok(one == 0 && other == 0 && worst <= LONG, "300 glyphs that overlap: %d of 255",
			worst);
	masks->glyphs[count - 1] = (struct engine_glyph){42, 0, 20, 4, 0, 0};
	tap_ok(drawing_masks(&by_gles, masks, &picture) == -ERANGE,
			"a glyph outside of its picture is refused");
}

static void test_refused(void) {
	static struct bitmap source;
	begin(DRM_FORMAT_XRGB8888);
	scatter(&source, DRM_FORMAT_XRGB8888, 20, 20);
	struct picture picture = picture_of(&source);
	struct engine_layer layer = layer_at(0, 0);
	layer.source_x = 1;
	layer.source_width = layer.source_height = 20;
	tap_ok(layer_both(&layer, &picture) == -ERANGE, "a box outside of the source is refused");
	layer = layer_at(-32768, -32768);
	layer.width = layer.height = 65535;
	tap_ok(layer_both(&layer, &picture) == 0 && difference() == 0,
			"the largest picture is drawn at its right place");
	scatter(&source, DRM_FORMAT_R8, 20, 20);
	picture = picture_of(&source);
	tap_ok(layer_both(&layer, &picture) == -ENOTSUP, "a format without colours is refused");
}

/* --- where they are --------------------------------------------------------------------------- */

#define OFFSET 8192 /* of the picture in its dma-buf: it may be any slot of a slab */

/* A dma-buf with these pixels, and their mapping. Returns its descriptor, or -errno. */
static int make_dmabuf(const struct bitmap *bitmap, uint8_t **memory) {
	const size_t size = OFFSET + sizeof(bitmap->bytes);
	int device = open("/dev/udmabuf", O_RDWR | O_CLOEXEC);
	int fd = memfd_create("test-engine-gles", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (device < 0 || fd < 0 || ftruncate(fd, (off_t)size) < 0 ||
			fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) < 0) {
		return -errno;
	}
	*memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (*memory == MAP_FAILED) {
		return -errno;
	}
	memcpy(*memory + OFFSET, bitmap->bytes, sizeof(bitmap->bytes));
	const struct udmabuf_create create = {
			.memfd = (uint32_t)fd, .flags = UDMABUF_FLAGS_CLOEXEC, .size = size};
	int dmabuf = ioctl(device, UDMABUF_CREATE, &create);
	close(fd);
	close(device);
	return dmabuf < 0 ? -errno : dmabuf;
}

static void test_dmabufs(void) {
	static const uint32_t formats[] = {DRM_FORMAT_XRGB8888, DRM_FORMAT_RGB565, DRM_FORMAT_NV12,
			DRM_FORMAT_YUV420, DRM_FORMAT_YUYV};
	static struct bitmap source;
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		uint8_t *memory = NULL;
		begin(DRM_FORMAT_XRGB8888);
		scatter(&source, formats[i], 64, 40);
		int dmabuf = make_dmabuf(&source, &memory);
		const uint64_t copies = by_gles.copies.sources;
		struct engine_layer layer = layer_at(3, 2);
		const struct picture picture = {.layout = source.layout,
				.memory = dmabuf < 0 ? NULL : memory + OFFSET,
				.is_dmabuf = true,
				.dmabuf = dmabuf,
				.offset = OFFSET};
		layer.source_x = 6;
		layer.source_y = 4;
		layer.source_width = 50;
		layer.source_height = 30;
		int ret = dmabuf < 0 ? dmabuf : layer_both(&layer, &picture);
		drawing_wait(&by_gles);
		int off = ret == 0 ? difference() : 999;
		tap_ok(off <= ALONE && by_gles.copies.sources == copies,
				"%.4s in a dma-buf is drawn where it is: %d, %d of 255, %llu copies",
				(const char *)&formats[i], ret, off,
				(unsigned long long)(by_gles.copies.sources - copies));
		if (dmabuf >= 0) {
			munmap(memory, OFFSET + sizeof(source.bytes));
			close(dmabuf);
		}
	}
}

/* --- one after the other ---------------------------------------------------------------------- */

/* What pixman alone can do, between what the device does: pixels go over and back. */
static void test_mixed(void) {
	static uint32_t words[64];
	struct engine_lines *lines = (struct engine_lines *)words;
	const struct engine_rectangle all = {0, 0, WIDTH, HEIGHT}, part = {10, 10, 30, 30};
	begin(DRM_FORMAT_XRGB8888);
	const struct drawing_copies before = by_gles.copies;
	fill_both(ENGINE_SRC, 0xff204060, &all, 1);
	tap_ok(by_gles.copies.begun == before.begun,
			"what is drawn over from edge to edge is not copied to the device");
	lines->head = (struct engine_head){ENGINE_LINES, 3 + 2};
	lines->colour = 0xffffffff;
	lines->width = 40;
	lines->points[0] = (struct engine_point){3, 3};
	lines->points[1] = (struct engine_point){90, 50};
	drawing_lines(&by_pixman, lines);
	drawing_lines(&by_gles, lines);
	fill_both(ENGINE_OVER, 0x80ff0000, &part, 1);
	int worst = difference();
	tap_ok(worst <= ALONE && by_gles.copies.flushed == before.flushed + 2 &&
					by_gles.copies.begun == before.begun + 1,
			"lines between fills, drawn by pixman: %d of 255", worst);
	const uint64_t flushed = by_gles.copies.flushed;
	drawing_flush(&by_gles);
	tap_ok(by_gles.copies.flushed == flushed, "what is in memory is not copied there again");
}

static void test_many(void) {
	static const uint32_t formats[] = {DRM_FORMAT_ARGB8888, DRM_FORMAT_XRGB8888,
			DRM_FORMAT_NV12, DRM_FORMAT_YUYV, DRM_FORMAT_RGB565, DRM_FORMAT_P010};
	static struct bitmap source;
	int worst = 0;
	bool same = true;
	/* Each has its own ways to draw, of which the driver makes code: that takes its time. */
	const uint32_t pictures = repeated(12, 60);
	for (uint32_t round = 0; round < pictures; round++) {
		begin(target_formats[any(4)]);
		for (int i = 0; i < 12; i++) {
			set_any_clip();
			const struct engine_rectangle boxes[] = {any_box(), any_box()};
			/* Those whose result cannot become brighter than its alpha. */
			uint32_t op = any(2) ? ENGINE_OVER : ENGINE_SRC;
			if (any(3) == 0) {
				same &= fill_both(op, any(1 << 24) | any(256) << 24, boxes, 2) == 0;
				continue;
			}
			uint32_t fourcc = formats[any(6)];
			scatter(&source, fourcc, 1 + any(60), 1 + any(60));
			if (fourcc == DRM_FORMAT_ARGB8888) {
				premultiply(&source, false);
			}
			struct engine_layer layer = layer_at(boxes[0].x, boxes[0].y);
			layer.op = (uint8_t)op;
			layer.alpha = (uint8_t)any(256);
			layer.transform = (uint8_t)any(8);
			layer.filter = (uint8_t)any(2);
			layer.width = (uint16_t)(1 + any(100));
			layer.height = (uint16_t)(1 + any(100));
			struct picture picture = picture_of(&source);
			same &= layer_both(&layer, &picture) == 0;
		}
		int off = difference();
		worst = off > worst ? off : worst;
	}
	tap_ok(same && worst <= LONG, "%u pictures of twelve commands each: %d of 255", pictures,
			worst);
}

/* --- long commands, lost devices -------------------------------------------------------------- */

static bool never(void *data) {
	++*(int *)data;
	return false;
}

static void test_stopped(void) {
	struct gid_layout layout;
	int asked = 0;
	gid_layout_init(&layout, DRM_FORMAT_XRGB8888, 2048, 2048, 64);
	uint8_t *target = aligned_alloc(64, gid_layout_size(&layout));
	uint8_t *memory = aligned_alloc(64, gid_layout_size(&layout));
	memset(target, 0, gid_layout_size(&layout));
	memset(memory, 0xff, gid_layout_size(&layout));
	struct picture picture = {.layout = layout, .memory = memory};
	struct engine_layer layer = layer_at(0, 0);
	by_gles.go_on = never;
	by_gles.data = &asked;
	drawing_begin(&by_gles, &layout, target);
	tap_ok(drawing_layer(&by_gles, &layer, &picture) == -ECANCELED && asked == 1,
			"a long layer can be stopped between its parts");
	by_gles.go_on = NULL;
	drawing_forget(&by_gles);
	free(target);
	free(memory);
}

static GLenum was_reset(void) {
	return GL_GUILTY_CONTEXT_RESET;
}

static void test_lost(void) {
	const struct engine_rectangle all = {0, 0, WIDTH, HEIGHT};
	begin(DRM_FORMAT_XRGB8888);
	fill_both(ENGINE_SRC, 0xff204060, &all, 1);
	const struct gles_device *before = by_gles.device;
	PFNGLGETGRAPHICSRESETSTATUSEXTPROC real = epoxy_glGetGraphicsResetStatusEXT;
	epoxy_glGetGraphicsResetStatusEXT = was_reset;
	tap_ok(before->tells_resets && drawing_flush(&by_gles) == -EIO,
			"that a device was reset is noticed when its pixels are wanted");
	epoxy_glGetGraphicsResetStatusEXT = real;
	begin(DRM_FORMAT_XRGB8888);
	fill_both(ENGINE_SRC, 0xff406020, &all, 1);
	int worst = difference();
	tap_ok(worst == 0 && by_gles.uses_device, "and a new one draws the next picture");
}

static PFNGLTEXSTORAGE2DPROC real_storage;

/* As where there is no memory: the texture has none, and there is an error. */
static void no_storage(
		GLenum target, GLsizei levels, GLenum format, GLsizei width, GLsizei height) {
	real_storage(target, levels, format, -1, -1);
}

static void test_no_memory(void) {
	static struct bitmap source;
	const struct engine_layer layer = layer_at(0, 0);
	scatter(&source, DRM_FORMAT_XRGB8888, 61, 47); /* a size that no texture has */
	const struct picture picture = picture_of(&source);
	begin(DRM_FORMAT_XRGB8888);
	real_storage = epoxy_glTexStorage2D;
	epoxy_glTexStorage2D = no_storage;
	drawing_layer(&by_gles, &layer, &picture);
	epoxy_glTexStorage2D = real_storage;
	tap_ok(drawing_flush(&by_gles) == -ENOMEM,
			"that a device had no memory for a layer is told with the picture");
	begin(DRM_FORMAT_XRGB8888);
	const int ret = layer_both(&layer, &picture);
	tap_ok(ret == 0 && difference() == 0, "and the next picture has it");
}

/* --- where it is not there -------------------------------------------------------------------- */

/* In a process of its own: prints what it is told, as it returns. */
static int child_status(void (*before)(void), bool hardware, const char *expected) {
	pid_t child = fork();
	if (child == 0) {
		char text[256] = "";
		struct gles_device *device = NULL;
		before();
		int ret = gles_device_create(&device, hardware, text, sizeof(text));
		gles_device_destroy(device);
		_exit(ret < 0 && strstr(text, expected) != NULL ? 0 : 1);
	}
	int status = -1;
	waitpid(child, &status, 0);
	return status;
}

static void without_driver(void) {
	setenv("__EGL_VENDOR_LIBRARY_FILENAMES", "/dev/null", 1);
}

static void without_code(void) {
	prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0);
}

static void with_all(void) {
}

static void test_missing(void) {
	tap_ok(child_status(without_driver, false, "libgl1-mesa-dri") == 0,
			"without a driver it says so, and what to install");
	tap_ok(child_status(without_code, false, "MemoryDenyWriteExecute=") == 0,
			"where no code may be made it says so, and does not crash");
	if (access("/dev/dri", F_OK) < 0) {
		tap_ok(child_status(with_all, true, "no graphics device") == 0,
				"a processor is not taken for a graphics device");
	}
}

static void test_all(void) {
	test_fills();
	test_layers();
	test_turned();
	test_formats();
	test_straight();
	test_masks();
	test_refused();
	test_mixed();
	test_many();
	test_stopped();
	test_no_memory();
	test_lost();
}

/* With `dmabufs`: these alone, where the kernel can make some. */
int main(int argc, char **argv) {
	const bool all = argc < 2 || strcmp(argv[1], "dmabufs") != 0;
	char text[256];
	struct gles_device *device;
	if (all) { /* before EGL has threads, which a child would not have */
		test_missing();
	}
	int ret = gles_device_create(&device, false, text, sizeof(text));
	tap_ok(ret == 0, "there is a device: %s", ret == 0 ? device->renderer : text);
	if (ret < 0) {
		return tap_finish();
	}
	drawing_init(&by_pixman);
	drawing_init(&by_gles);
	drawing_use(&by_gles, &gles_back_end, device);
	if (all) {
		test_all();
	} else {
		test_dmabufs();
	}
	drawing_finish(&by_gles);
	drawing_finish(&by_pixman);
	return tap_finish();
}
