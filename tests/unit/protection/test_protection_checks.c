// SPDX-License-Identifier: MIT
/* The check of a picture: over which bytes it is, that each bit of them counts, and none other. */
#include <drm_fourcc.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef PROTECTION_HAS_CRC64
#include <lzma.h>
#endif

#include "protection_sum.h"
#include "tap.h"
#include "visible.h"

#define PICTURE_MAX 4096
#define STREAM "safety/lamp"

static const uint8_t key[GID_PROTECTION_KEY_SIZE] = {
		1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

struct sent {
	struct gid_layout layout;
	struct gid_frame frame;
	struct gid_check check;
	uint8_t slot[PICTURE_MAX];
};

static struct gid_protection *protect(enum gid_protection_profile profile, const char *stream) {
	struct gid_protection *protection = NULL;
	int error = gid_protection_create(
			profile, stream, profile == GID_PROTECTION_CMAC ? key : NULL, &protection);
	if (error < 0) {
		printf("Bail out! %s: %s\n", gid_protection_profile_name(profile),
				gid_strerror(error));
		exit(1);
	}
	return protection;
}

/* Whether this build has it. */
static bool is_there(enum gid_protection_profile profile) {
	struct gid_protection *protection = NULL;
	int error = gid_protection_create(
			profile, STREAM, profile == GID_PROTECTION_CMAC ? key : NULL, &protection);
	gid_protection_destroy(protection);
	return error != -ENOSYS;
}

/* Draws the same picture whatever the padding of its rows, which has something else. */
static void draw(struct sent *sent, uint32_t fourcc, struct gid_box crop, uint32_t align) {
	*sent = (struct sent){.frame = GID_FRAME_INIT};
	gid_layout_init(&sent->layout, fourcc, 16, 8, align);
	sent->frame.crop = crop;
	memset(sent->slot, (int)align, sizeof(sent->slot));
	for (uint32_t i = 0; i < sent->layout.plane_count; i++) {
		const struct gid_plane *plane = &sent->layout.planes[i];
		uint32_t bytes = gid_format_row_bytes(fourcc, i, 16);
		for (uint32_t y = 0; y < gid_format_rows(fourcc, i, 8); y++) {
			for (uint32_t x = 0; x < bytes; x++) {
				sent->slot[plane->offset + y * plane->stride + x] =
						(uint8_t)(i * 101 + y * 31 + x * 7);
			}
		}
	}
	for (size_t i = 0; i < sizeof(sent->check.descriptor); i++) {
		sent->check.descriptor[i] = (uint8_t)(i * 3);
	}
}

static void make(const struct gid_protection *protection, struct sent *sent) {
	if (gid_protection_make(protection, &sent->frame, &sent->layout, sent->slot,
			    &sent->check) != 0) {
		abort();
	}
}

static int verify(const struct gid_protection *protection, const struct sent *sent) {
	return gid_protection_verify(
			protection, &sent->frame, &sent->check, &sent->layout, sent->slot);
}

/* --- the bytes that docs/wire-ring.md names ----------------------------------------------------
 */

struct bytes {
	uint8_t data[8192];
	size_t size;
};

static void append(void *data, const void *bytes, size_t size) {
	struct bytes *all = data;
	memcpy(all->data + all->size, bytes, size);
	all->size += size;
}

static void append_number(struct bytes *all, uint64_t number, size_t size) {
	for (size_t i = 0; i < size; i++) {
		all->data[all->size++] = (uint8_t)(number >> 8 * i);
	}
}

static void test_bytes(enum gid_protection_profile profile) {
	const char *name = gid_protection_profile_name(profile);
	struct gid_protection *protection = protect(profile, STREAM);
	struct sent sent;
	struct visible visible;
	struct bytes all = {.size = 0};
	draw(&sent, DRM_FORMAT_NV12, (struct gid_box){3, 1, 10, 5}, 64);
	sent.layout.colours = (struct gid_colours){1, 2, 3, 4};
	make(protection, &sent);
	append(&all, "gidcheck", 8);
	append_number(&all, profile, 4);
	append_number(&all, DRM_FORMAT_NV12, 4);
	append_number(&all, DRM_FORMAT_MOD_LINEAR, 8);
	append_number(&all, 16, 4);
	append_number(&all, 8, 4);
	append_number(&all, 0x04030201, 4);
	append(&all, (const uint8_t[12]){0}, 12);
	append(&all, (const char[64]){STREAM}, 64);
	visible_init(&visible, &sent.layout, &sent.frame.crop);
	visible_read(&visible, sent.slot, append, &all);
	append(&all, sent.check.descriptor, sizeof(sent.check.descriptor));
	uint8_t expected[GID_CHECK_SIZE] = {0};
#ifdef PROTECTION_HAS_CMAC
	if (profile == GID_PROTECTION_CMAC) {
		struct cmac_aes128_ctx cmac;
		cmac_aes128_set_key(&cmac, key);
		cmac_aes128_update(&cmac, all.size, all.data);
		cmac_aes128_digest(&cmac, sizeof(expected), expected);
	}
#endif
#ifdef PROTECTION_HAS_CRC64
	if (profile == GID_PROTECTION_CRC64) {
		uint64_t crc = lzma_crc64(all.data, all.size, 0);
		memcpy(expected, &crc, sizeof(crc));
	}
#endif
	tap_ok(memcmp(expected, sent.check.bytes, sizeof(expected)) == 0,
			"%s is over the bytes that are published", name);
	tap_ok(verify(protection, &sent) == 0, "%s: what was sent is right", name);
	gid_protection_destroy(protection);
}

/* --- every bit ---------------------------------------------------------------------------------
 */

static struct {
	const struct sent *sent;
	bool seen[PICTURE_MAX];
} marked;

static void mark_row(void *data, const void *row, size_t size) {
	size_t first = (size_t)((const uint8_t *)row - marked.sent->slot);
	memset(marked.seen + first, true, size);
}

/* How many single bits of these bytes are not told as they should be. */
static unsigned count_untold(const struct gid_protection *protection, const struct sent *sent,
		uint8_t *bytes, size_t size, const bool *matters) {
	unsigned untold = 0;
	for (size_t bit = 0; bit < 8 * size; bit++) {
		bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
		bool wrong = verify(protection, sent) == -EBADMSG;
		untold += wrong != (matters == NULL || matters[bit / 8]);
		bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
	return untold;
}

static void test_every_bit(enum gid_protection_profile profile, uint32_t fourcc,
		struct gid_box crop, const char *what) {
	const char *name = gid_protection_profile_name(profile);
	struct gid_protection *protection = protect(profile, STREAM);
	struct visible visible;
	struct sent sent;
	draw(&sent, fourcc, crop, 64);
	make(protection, &sent);
	marked.sent = &sent;
	memset(marked.seen, 0, sizeof(marked.seen));
	visible_init(&visible, &sent.layout, &crop);
	visible_read(&visible, sent.slot, mark_row, NULL);
	size_t size = gid_layout_size(&sent.layout);
	tap_ok(count_untold(protection, &sent, sent.slot, size, marked.seen) == 0,
			"%s, %s: each bit of what is seen counts, and none of what is not", name,
			what);
	tap_ok(count_untold(protection, &sent, sent.check.descriptor, GID_DESCRIPTOR_SIZE, NULL) ==
					0,
			"%s, %s: so does each of the descriptor", name, what);
	tap_ok(count_untold(protection, &sent, sent.check.bytes, GID_CHECK_SIZE, NULL) == 0,
			"%s, %s: and each of the check itself", name, what);
	gid_protection_destroy(protection);
}

static void test_padding(enum gid_protection_profile profile) {
	struct gid_protection *protection = protect(profile, STREAM);
	struct sent narrow, wide;
	draw(&narrow, DRM_FORMAT_YUV420, (struct gid_box){0}, 1);
	draw(&wide, DRM_FORMAT_YUV420, (struct gid_box){0}, 64);
	make(protection, &narrow);
	wide.check = narrow.check;
	tap_ok(verify(protection, &wide) == 0, "%s: however far rows are apart",
			gid_protection_profile_name(profile));
	gid_protection_destroy(protection);
}

/* --- what else it is of ------------------------------------------------------------------------
 */

static void test_identity(enum gid_protection_profile profile) {
	const char *name = gid_protection_profile_name(profile);
	struct gid_protection *protection = protect(profile, STREAM);
	struct gid_protection *other = protect(profile, "safety/lamps");
	struct sent sent, changed;
	draw(&sent, DRM_FORMAT_XRGB8888, (struct gid_box){0}, 4);
	make(protection, &sent);
	tap_ok(verify(other, &sent) == -EBADMSG, "%s: another stream's is wrong", name);
	changed = sent;
	changed.layout.fourcc = DRM_FORMAT_ARGB8888;
	tap_ok(verify(protection, &changed) == -EBADMSG, "%s: another format is seen", name);
	changed = sent;
	changed.layout.width = 8; /* the same bytes, in rows of another length */
	changed.layout.height = 16;
	changed.layout.planes[0].stride = 32;
	tap_ok(verify(protection, &changed) == -EBADMSG, "%s: so is another size", name);
	changed = sent;
	changed.layout.colours.range = 1;
	tap_ok(verify(protection, &changed) == -EBADMSG, "%s: and other colours", name);
	changed = sent;
	changed.check.kind = 3 - profile;
	tap_ok(verify(protection, &changed) == -ENODATA, "%s: another kind is none", name);
	changed = sent;
	changed.frame.crop = (struct gid_box){8, 0, 9, 1};
	tap_ok(verify(protection, &changed) == -EINVAL, "%s: a crop that leaves the picture", name);
	changed = sent;
	changed.layout.modifier = 1;
	tap_ok(verify(protection, &changed) == -ENOTSUP, "%s: rows that are none", name);
	gid_protection_destroy(other);
	gid_protection_destroy(protection);
}

static void test_keys(void) {
	struct gid_protection *protection = protect(GID_PROTECTION_CMAC, STREAM), *other = NULL;
	struct sent sent;
	draw(&sent, DRM_FORMAT_XRGB8888, (struct gid_box){0}, 4);
	make(protection, &sent);
	unsigned untold = 0;
	for (unsigned bit = 0; bit < 8 * sizeof(key); bit++) {
		uint8_t wrong[sizeof(key)];
		memcpy(wrong, key, sizeof(key));
		wrong[bit / 8] ^= (uint8_t)(1u << bit % 8);
		gid_protection_create(GID_PROTECTION_CMAC, STREAM, wrong, &other);
		untold += verify(other, &sent) != -EBADMSG;
		gid_protection_destroy(other);
	}
	tap_ok(untold == 0, "each bit of the key counts");
	gid_protection_destroy(protection);
}

static void test_mistakes(void) {
	struct gid_protection *none = NULL;
	tap_ok(gid_protection_create(GID_PROTECTION_CMAC, STREAM, NULL, &none) == -EINVAL,
			"cmac needs a key");
	if (is_there(GID_PROTECTION_CRC64)) {
		tap_ok(gid_protection_create(GID_PROTECTION_CRC64, STREAM, key, &none) == -EINVAL,
				"which crc64 does not take");
	}
	tap_ok(gid_protection_create(GID_PROTECTION_NONE, STREAM, NULL, &none) == -EINVAL &&
					gid_protection_create(3, STREAM, NULL, &none) == -EINVAL,
			"none and others are no profile");
	tap_ok(gid_protection_create(GID_PROTECTION_CRC64, "a b", NULL, &none) == -EINVAL &&
					none == NULL,
			"nor has every text a stream's name");
	tap_ok(gid_protection_profile_name(3) == NULL, "what is no profile has no name");
}

/* --- files of keys -----------------------------------------------------------------------------
 */

static int read_text(const char *text, mode_t mode, uint8_t read_key[GID_PROTECTION_KEY_SIZE]) {
	char path[] = "/tmp/gid-key-XXXXXX";
	int fd = mkstemp(path);
	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text) ||
			fchmod(fd, mode) < 0) {
		abort();
	}
	close(fd);
	int error = gid_protection_read_key(path, read_key);
	unlink(path);
	return error;
}

static void test_files(void) {
	static const char good[] = "0102030405060708090a0B0c0D0e0f10";
	uint8_t got[GID_PROTECTION_KEY_SIZE];
	char text[200];
	tap_ok(read_text(good, 0600, got) == 0 && memcmp(got, key, sizeof(key)) == 0,
			"a key is 32 digits");
	snprintf(text, sizeof(text), "%s\n", good);
	tap_ok(read_text(text, 0440, got) == 0 && memcmp(got, key, sizeof(key)) == 0,
			"on a line, which its group may read");
	tap_ok(read_text(text, 0604, got) == -EPERM && read_text(text, 0620, got) == -EPERM,
			"but not others, who cannot write it either");
	tap_ok(read_text("", 0600, got) == -EINVAL && read_text("\n", 0600, got) == -EINVAL &&
					read_text(good + 1, 0600, got) == -EINVAL,
			"less is none");
	snprintf(text, sizeof(text), "%s0", good);
	tap_ok(read_text(text, 0600, got) == -EINVAL, "nor is more");
	snprintf(text, sizeof(text), "%.31sg", good);
	tap_ok(read_text(text, 0600, got) == -EINVAL, "nor what has other letters");
	snprintf(text, sizeof(text), "%s%100s", good, "");
	tap_ok(read_text(text, 0600, got) == -EINVAL, "nor a long file");
	tap_ok(gid_protection_read_key("/nowhere/key", got) == -ENOENT, "or none at all");
}

int main(void) {
	for (enum gid_protection_profile profile = GID_PROTECTION_CRC64;
			profile <= GID_PROTECTION_CMAC; profile++) {
		if (!is_there(profile)) {
			printf("# without %s\n", gid_protection_profile_name(profile));
			continue;
		}
		test_bytes(profile);
		test_every_bit(profile, DRM_FORMAT_XRGB8888, (struct gid_box){3, 2, 9, 5}, "XR24");
		test_every_bit(profile, DRM_FORMAT_NV12, (struct gid_box){3, 1, 10, 5}, "NV12");
		test_padding(profile);
		test_identity(profile);
	}
	if (is_there(GID_PROTECTION_CMAC)) {
		test_keys();
	}
	test_mistakes();
	test_files();
	return tap_finish();
}
