// SPDX-License-Identifier: MIT
/* What of a client's linux-dmabuf buffer is believed, and under which name the rest is refused. */
#include "weston-plugin/dmabuf_claim.h"

#include <drm_fourcc.h>
#include <string.h>

#include "linux-dmabuf-v1-protocol.h"
#include "tap.h"

#define WIDTH 320
#define HEIGHT 80
#define STRIDE (WIDTH * 4)

static struct dmabuf_claim honest(void) {
	const struct dmabuf_facts facts = {.is_dmabuf = true, .size = STRIDE * HEIGHT, .inode = 7};
	return (struct dmabuf_claim){
			.width = WIDTH,
			.height = HEIGHT,
			.fourcc = DRM_FORMAT_XRGB8888,
			.modifier = DRM_FORMAT_MOD_LINEAR,
			.plane_count = 1,
			.planes[0] = {.stride = STRIDE, .facts = facts},
	};
}

/* Chroma after luma, in the same dma-buf, behind `lead` bytes. */
static struct dmabuf_claim honest_nv12(uint32_t lead) {
	struct dmabuf_claim claim = honest();
	const struct dmabuf_facts facts = {
			.is_dmabuf = true, .size = lead + WIDTH * HEIGHT * 3 / 2, .inode = 7};
	claim.fourcc = DRM_FORMAT_NV12;
	claim.plane_count = 2;
	claim.planes[0].offset = lead;
	claim.planes[1].offset = lead + WIDTH * HEIGHT;
	for (int i = 0; i < 2; i++) {
		claim.planes[i].stride = WIDTH;
		claim.planes[i].facts = facts;
	}
	return claim;
}

static void check_refused(const struct dmabuf_claim *claim, enum gid_hidden hidden,
		const char *word, const char *what) {
	struct gid_layout layout;
	uint64_t offset;
	struct refusal refusal = {0};
	bool lent = dmabuf_claim_check(claim, &layout, &offset, &refusal);
	tap_ok(!lent && refusal.hidden == hidden && refusal.text != NULL &&
					strstr(refusal.text, word) != NULL,
			"%s is refused: %s", what,
			refusal.text != NULL ? refusal.text : "not said");
}

static void test_honest(void) {
	struct gid_layout layout;
	struct refusal refusal;
	uint64_t offset = 1;
	struct dmabuf_claim claim = honest();
	tap_ok(dmabuf_claim_check(&claim, &layout, &offset, &refusal) && offset == 0 &&
					layout.width == WIDTH && layout.height == HEIGHT &&
					layout.fourcc == DRM_FORMAT_XRGB8888 &&
					layout.plane_count == 1 && layout.planes[0].offset == 0 &&
					layout.planes[0].stride == STRIDE,
			"a picture of one plane is lent as it is");
	claim = honest_nv12(4096);
	tap_ok(dmabuf_claim_check(&claim, &layout, &offset, &refusal) && offset == 4096 &&
					layout.plane_count == 2 && layout.planes[0].offset == 0 &&
					layout.planes[1].offset == WIDTH * HEIGHT,
			"planes count from where the picture begins");
	claim.planes[0].offset = WIDTH * HEIGHT / 2;
	claim.planes[1].offset = 0;
	claim.planes[0].facts.size = claim.planes[1].facts.size = WIDTH * HEIGHT * 3 / 2;
	tap_ok(dmabuf_claim_check(&claim, &layout, &offset, &refusal) && offset == 0 &&
					layout.planes[0].offset == WIDTH * HEIGHT / 2 &&
					layout.planes[1].offset == 0,
			"and may be in any order");
	claim = honest();
	claim.planes[0].stride = STRIDE + 64;
	claim.planes[0].facts.size = (STRIDE + 64) * HEIGHT - 64;
	tap_ok(dmabuf_claim_check(&claim, &layout, &offset, &refusal),
			"the last row needs no padding");
}

static void test_formats(void) {
	struct dmabuf_claim claim = honest();
	claim.modifier = I915_FORMAT_MOD_X_TILED;
	check_refused(&claim, GID_HIDDEN_FORMAT, "modifier", "a tiled picture");
	claim.modifier = DRM_FORMAT_MOD_INVALID;
	check_refused(&claim, GID_HIDDEN_FORMAT, "modifier", "one without a modifier");
	claim = honest();
	claim.fourcc = 0x12345678;
	check_refused(&claim, GID_HIDDEN_FORMAT, "format", "an unknown format");
	claim = honest();
	claim.plane_count = 2;
	claim.planes[1] = claim.planes[0];
	check_refused(&claim, GID_HIDDEN_FORMAT, "planes", "a plane too many");
	claim = honest_nv12(0);
	claim.plane_count = 1;
	check_refused(&claim, GID_HIDDEN_FORMAT, "planes", "a plane too few");
	claim.plane_count = 0;
	check_refused(&claim, GID_HIDDEN_FORMAT, "planes", "no plane");
	claim.plane_count = -1;
	check_refused(&claim, GID_HIDDEN_FORMAT, "planes", "less than no plane");
}

static void test_flags(void) {
	struct dmabuf_claim claim = honest();
	claim.flags = ZWP_LINUX_BUFFER_PARAMS_V1_FLAGS_Y_INVERT;
	check_refused(&claim, GID_HIDDEN_DMABUF, "y_invert", "a picture upside down");
	claim.flags = ZWP_LINUX_BUFFER_PARAMS_V1_FLAGS_INTERLACED;
	check_refused(&claim, GID_HIDDEN_DMABUF, "interlaced", "an interlaced one");
	claim.flags |= ZWP_LINUX_BUFFER_PARAMS_V1_FLAGS_BOTTOM_FIRST;
	check_refused(&claim, GID_HIDDEN_DMABUF, "interlaced", "in any order");
	claim.flags = 0x80000000;
	check_refused(&claim, GID_HIDDEN_DMABUF, "flags", "a flag of the future");
}

static void test_memory(void) {
	struct dmabuf_claim claim = honest();
	claim.planes[0].facts.is_dmabuf = false;
	check_refused(&claim, GID_HIDDEN_DMABUF, "descriptor", "any other file");
	claim.planes[0].facts.is_unknown = true;
	check_refused(&claim, GID_HIDDEN_DMABUF, "/proc", "what cannot be known");
	claim = honest_nv12(0);
	claim.planes[1].facts.is_dmabuf = false;
	check_refused(&claim, GID_HIDDEN_DMABUF, "descriptor", "as a second plane, too,");
	claim = honest_nv12(0);
	claim.planes[1].facts.inode++;
	check_refused(&claim, GID_HIDDEN_DMABUF, "several", "a picture in two dma-bufs");
	claim = honest();
	claim.planes[0].facts.size--;
	check_refused(&claim, GID_HIDDEN_DMABUF, "smaller", "a dma-buf that is a byte too small");
	claim = honest_nv12(4096);
	claim.planes[0].facts.size--;
	check_refused(&claim, GID_HIDDEN_DMABUF, "smaller", "for the second plane, too,");
	claim = honest();
	claim.planes[0].offset = STRIDE * HEIGHT;
	check_refused(&claim, GID_HIDDEN_DMABUF, "smaller", "a picture behind the end");
	claim.planes[0].offset = UINT32_MAX;
	check_refused(&claim, GID_HIDDEN_DMABUF, "smaller", "far behind the end");
	claim = honest();
	claim.planes[0].stride = STRIDE - 1;
	check_refused(&claim, GID_HIDDEN_DMABUF, "stride", "a stride shorter than a row");
	claim.planes[0].stride = UINT32_MAX;
	check_refused(&claim, GID_HIDDEN_DMABUF, "stride", "an endless stride");
	claim.planes[0].stride = 0;
	check_refused(&claim, GID_HIDDEN_DMABUF, "stride", "no stride");
}

static void test_sizes(void) {
	const int32_t sizes[] = {0, -1, INT32_MIN, INT32_MAX, GID_SIZE_MAX + 1};
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct dmabuf_claim claim = honest();
		claim.planes[0].facts.size = UINT64_MAX;
		claim.width = sizes[i];
		struct gid_layout layout;
		uint64_t offset;
		struct refusal refusal = {0};
		bool wide = dmabuf_claim_check(&claim, &layout, &offset, &refusal);
		claim.width = WIDTH;
		claim.height = sizes[i];
		bool high = dmabuf_claim_check(&claim, &layout, &offset, &refusal);
		tap_ok(!wide && !high, "no picture is %d pixels wide or high", sizes[i]);
	}
}

int main(void) {
	test_honest();
	test_formats();
	test_flags();
	test_memory();
	test_sizes();
	return tap_finish();
}
