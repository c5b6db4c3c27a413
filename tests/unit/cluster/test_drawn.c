// SPDX-License-Identifier: MIT
/*
 * Pictures that a device still draws: nobody waits for its fence. An eventfd stands for the
 * dma-buf: it cannot be read before it is "drawn"; and what would wait for the device, the ioctl()
 * before a processor reads, is counted.
 */
#include <drm_fourcc.h>
#include <errno.h>
#include <linux/dma-buf.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "cluster/pictures/examiner.h"
#include "tap.h"

static int fence;
static unsigned syncs, syncs_too_early;
static bool begins_anew; /* a device, when the kernel is told of the reader */
static struct gid_slab_info info;
static uint8_t picture[16 * 64];

static bool is_drawn(void) {
	eventfd_t count;
	bool drawn = eventfd_read(fence, &count) == 0;
	if (drawn) {
		eventfd_write(fence, count);
	}
	return drawn;
}

int ioctl(int fd, unsigned long request, ...) {
	if (fd != fence || request != DMA_BUF_IOCTL_SYNC) {
		errno = ENOTTY;
		return -1;
	}
	syncs++;
	syncs_too_early += !is_drawn();
	if (begins_anew) {
		const struct timespec minute = {60, 0};
		return nanosleep(&minute, NULL); /* as the kernel waits: until a signal comes */
	}
	return 0;
}

/* --- what libgid says of a slab --------------------------------------------------------------- */

void gid_slab_get_info(const struct gid_slab *slab, struct gid_slab_info *out) {
	*out = info;
}

/* --- tests ------------------------------------------------------------------------------------ */

static void draw(bool drawn) {
	eventfd_t count;
	(void)eventfd_read(fence, &count);
	if (drawn) {
		eventfd_write(fence, 1);
	}
	syncs = syncs_too_early = 0;
}

static struct examination examine(void) {
	static uint32_t pixels[16 * 16];
	struct own_picture drawn = {.data = pixels, .pixels = {pixels, 16, 16, 64}};
	struct examiner examiner = {.rules = {.fit = FIT_EXACT, .accepted = &accepted_plain}};
	struct examination of = {.frame = {.gid = gid_make(1, 1, 0, 0)},
			.slab = info,
			.slot = picture,
			.picture = &drawn};
	examiner_examine(&examiner, &of);
	examiner_finish(&examiner);
	return of;
}

static void test_frames(void) {
	info.memory = GID_MEMORY_DMABUF;
	draw(false);
	struct examination of = examine();
	tap_ok(of.undrawn && of.reason == ROLE_REASON_MEMORY,
			"a frame that is being drawn is not one to read");
	tap_ok(syncs == 0, "which is found out without asking the device");
	draw(true);
	of = examine();
	tap_ok(!of.undrawn && of.reason == ROLE_REASON_NONE, "once it is drawn it is");
	tap_ok(syncs == 2 && syncs_too_early == 0, "between two words to the device");
	draw(false);
	info.memory = GID_MEMORY_MEMFD;
	tap_ok(!examine().undrawn, "memory is always drawn");
	info.memory = GID_MEMORY_DMABUF;
}

/* A fence that comes between the look at the fence and the kernel's. */
static void test_attack(void) {
	draw(true);
	begins_anew = true;
	uint64_t begin = gid_clock_now();
	enum role_reason reason = examine().reason;
	uint64_t took = gid_clock_now() - begin;
	tap_ok(reason == ROLE_REASON_MEMORY && syncs == 1,
			"a picture that a device begins to draw again is not read");
	tap_ok(took < 1000000000, "and not waited for (%.1f ms)", (double)took / 1e6);
	begins_anew = false;
	draw(false);
}

static void destroyed(struct memory_view *view) {
}

static bool can_be_read(struct memory_view *view) {
	void *data;
	uint32_t format;
	size_t stride;
	if (!wlr_buffer_begin_data_ptr_access(&view->base, WLR_BUFFER_DATA_PTR_ACCESS_READ, &data,
			    &format, &stride)) {
		return false;
	}
	wlr_buffer_end_data_ptr_access(&view->base);
	return data == picture;
}

static void test_buffers(void) {
	struct memory_view view;
	memory_view_init(&view, picture, info.layout.fourcc, 16, 16, 64, destroyed);
	tap_ok(can_be_read(&view) && syncs == 0, "a buffer of memory is read without a word");
	view.dmabuf = (struct wlr_dmabuf_attributes){.n_planes = 1, .fd = {fence}};
	draw(false);
	tap_ok(!can_be_read(&view) && syncs == 0, "one that is being drawn is not read now");
	draw(true);
	tap_ok(can_be_read(&view) && syncs == 2 && syncs_too_early == 0, "later it is");
	memory_view_forget_dmabuf(&view);
	wlr_buffer_drop(&view.base);
}

/* As dear as a layer's picture can be; its size and format are a stranger's choice. */
static void test_memory(uint32_t width, uint32_t height, enum role_reason expected) {
	uint32_t *pixels = calloc((size_t)640 * 480, 4);
	struct own_picture drawn = {.data = pixels, .pixels = {pixels, 640, 480, (size_t)640 * 4}};
	struct examiner examiner = {.rules = {.fit = FIT_CONTAIN, .accepted = &accepted_any}};
	struct examination of = {.frame = {.gid = gid_make(1, 1, 0, 0), .transform = 1},
			.slab = {.slot_count = 1}};
	gid_layout_init(&of.slab.layout, DRM_FORMAT_Q410, width, height, 64);
	of.slab.slot_size = gid_layout_size(&of.slab.layout);
	size_t size = (size_t)of.slab.slot_size, kept = 0;
	void *slot = mmap(
			NULL, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	of.slot = slot != MAP_FAILED ? slot : NULL;
	of.picture = &drawn;
	examiner_examine(&examiner, &of);
	for (size_t i = 0; i < DRAWING_MEMORY_COUNT; i++) {
		kept += examiner.drawing.sizes[i];
	}
	tap_ok(of.reason == expected && (expected != ROLE_REASON_NONE || drawn.data[0] != 0),
			"%ux%u: reason %d", width, height, of.reason);
	tap_ok(kept <= (size_t)144 << 20, "%zu MiB are taken for %zu MiB of it", kept >> 20,
			size >> 20);
	examiner_finish(&examiner);
	free(pixels);
	munmap(slot, size);
}

int main(void) {
	test_memory(7680, 4320, ROLE_REASON_NONE);
	test_memory(GID_SIZE_MAX, 2048, ROLE_REASON_NONE);
	test_memory(8192, 8192, ROLE_REASON_LAYOUT);
	fence = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	info = (struct gid_slab_info){.slot_size = sizeof(picture), .slot_count = 1, .fd = fence};
	gid_layout_init(&info.layout, DRM_FORMAT_XRGB8888, 16, 16, 64);
	test_frames();
	test_attack();
	test_buffers();
	close(fence);
	return tap_finish();
}
