// SPDX-License-Identifier: MIT
/*
 * A million faults on the way of a small protected picture, by each profile: single bits of pixels,
 * of what is said of them and of the check that change; frames swapped, repeated, late, or of
 * another stream. What a display does with each is done here: decode, verify, and ask the role.
 * `./run assurance` takes how many are seen from the cases `detected NUMBER of NUMBER by PROFILE`.
 */
#include <drm_fourcc.h>
#include <gid/protection.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/base/role.h"
#include "libgid/wire_ring.h"
#include "tap.h"

#define FAULTS 1000000u
#define FRAMES 64u
#define WIDTH 16u
#define HEIGHT 8u
#define PICTURE (WIDTH * HEIGHT * 4)
#define START UINT64_C(1000000000000)
#define PERIOD UINT64_C(16666667)
#define DEADLINE UINT64_C(100000000)
#define CONTROL_EACH 100u /* faults: then a frame without one */

enum fault {
	PIXEL,
	DESCRIPTOR,
	CHECK,
	SWAPPED_PIXELS,
	SWAPPED_FRAMES,
	REPEATED,
	LATE,
	OTHER_STREAM,
	OTHER_PIXELS,
	KINDS
};

static const char *const fault_names[KINDS] = {"a bit of the pixels", "a bit of the descriptor",
		"a bit of the check", "pixels of another frame", "frames in another order",
		"a frame again", "a frame too late", "a frame of another stream",
		"pixels of another stream"};

/* In turn. Half of them are single bits. */
static const enum fault mixture[] = {PIXEL, DESCRIPTOR, PIXEL, SWAPPED_PIXELS, SWAPPED_FRAMES,
		REPEATED, LATE, OTHER_STREAM, OTHER_PIXELS, DESCRIPTOR, PIXEL, CHECK};
#define MIXTURE (sizeof(mixture) / sizeof(mixture[0]))

struct sent {
	struct gid_wire_frame entry;
	struct gid_check check;
	uint8_t pixels[PICTURE];
};

struct stream {
	struct gid_protection *protection;
	struct sent frames[FRAMES]; /* sequence 1 to FRAMES */
};

static struct stream ours, other;
static struct gid_layout layout;
static uint64_t state = 0x9e3779b97f4a7c15; /* each run makes the same faults */

static uint32_t draw_number(uint32_t below) {
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)((state >> 32) * below >> 32);
}

static void send_frame(struct stream *stream, uint32_t number) {
	struct sent *sent = &stream->frames[number];
	struct gid_frame frame = GID_FRAME_INIT;
	frame.gid = gid_make(1, 7, number % 8, 1);
	frame.sequence = number + 1;
	frame.submit_time = START + number * PERIOD;
	frame.capture_time = frame.submit_time - 1000;
	frame.crop = (struct gid_box){0, 0, WIDTH, HEIGHT};
	for (size_t i = 0; i < PICTURE; i++) {
		sent->pixels[i] = (uint8_t)draw_number(256);
	}
	int error = gid_wire_put_frame(&sent->entry, &frame);
	memcpy(sent->check.descriptor, &sent->entry.gid, GID_DESCRIPTOR_SIZE);
	if (error == 0) {
		error = gid_protection_make(
				stream->protection, &frame, &layout, sent->pixels, &sent->check);
	}
	if (error < 0) {
		abort();
	}
}

/* False: this build does not have the profile. */
static bool start(struct stream *stream, enum gid_protection_profile profile, const char *name) {
	static const uint8_t key[GID_PROTECTION_KEY_SIZE] = "of a test alone";
	if (gid_protection_create(profile, name, profile == GID_PROTECTION_CMAC ? key : NULL,
			    &stream->protection) < 0) {
		return false;
	}
	for (uint32_t i = 0; i < FRAMES; i++) {
		send_frame(stream, i);
	}
	return true;
}

/* --- the display -------------------------------------------------------------------------------
 */

/* A role that has shown the frame of this number. */
static void begin(struct role *role, uint32_t shown) {
	const struct role_limits limits = {.deadline_ns = DEADLINE, .good_frames = 1};
	role_init(role, &limits, START);
	role_frame(role,
			&(struct role_frame){
					.sequence = shown + 1,
					.submit_time = START + shown * PERIOD,
					.has_hash = true,
					.allowed = true,
			},
			START + shown * PERIOD);
}

/* Whether it would be shown as live. */
static bool is_shown(struct role *role, const struct gid_wire_frame *entry,
		const struct gid_check *carried, const uint8_t *pixels, uint64_t now) {
	struct gid_frame frame;
	struct gid_check check = *carried;
	if (gid_wire_get_frame(&frame, entry, 1) < 0) {
		return false;
	}
	memcpy(check.descriptor, &entry->gid, GID_DESCRIPTOR_SIZE);
	if (gid_protection_verify(ours.protection, &frame, &check, &layout, pixels) != 0) {
		return false;
	}
	const struct role_frame good = {
			.sequence = frame.sequence,
			.submit_time = frame.submit_time,
			.has_hash = true,
			.allowed = true,
	};
	return role_frame(role, &good, now) && role_is_live(role);
}

/* --- faults ------------------------------------------------------------------------------------
 */

static void flip(void *bytes, size_t size) {
	uint32_t bit = draw_number((uint32_t)size * 8);
	((uint8_t *)bytes)[bit / 8] ^= (uint8_t)(1u << bit % 8);
}

/* Whether a frame is shown though this happened to it. */
static bool is_missed(enum fault fault) {
	uint32_t number = 2 + draw_number(FRAMES - 2), apart = 1 + draw_number(FRAMES - 1);
	uint32_t another = (number + apart) % FRAMES;
	struct sent sent = ours.frames[number];
	uint64_t now = sent.entry.submit_time + draw_number((uint32_t)DEADLINE);
	struct role role;
	begin(&role, fault == REPEATED || fault == SWAPPED_FRAMES ? number : number - 1);
	switch (fault) {
	case PIXEL:
		flip(sent.pixels, sizeof(sent.pixels));
		break;
	case DESCRIPTOR:
		flip(&sent.entry.gid, GID_DESCRIPTOR_SIZE);
		break;
	case CHECK:
		flip(sent.check.bytes, sizeof(sent.check.bytes));
		break;
	case SWAPPED_PIXELS:
		memcpy(sent.pixels, ours.frames[another].pixels, PICTURE);
		break;
	case SWAPPED_FRAMES: /* one that was sent before what is shown */
		sent = ours.frames[draw_number(number)];
		break;
	case REPEATED:
		break;
	case LATE:
		now = sent.entry.submit_time + DEADLINE + 1 + draw_number(UINT32_MAX);
		break;
	case OTHER_STREAM:
		sent = other.frames[number];
		break;
	case OTHER_PIXELS:
		memcpy(sent.pixels, other.frames[number].pixels, PICTURE);
		break;
	case KINDS:
		break;
	}
	bool shown = is_shown(&role, &sent.entry, &sent.check, sent.pixels, now);
	role_finish(&role);
	return shown;
}

/* The same without a fault. */
static bool is_refused(void) {
	uint32_t number = 1 + draw_number(FRAMES - 1);
	const struct sent *sent = &ours.frames[number];
	struct role role;
	begin(&role, number - 1);
	bool shown = is_shown(&role, &sent->entry, &sent->check, sent->pixels,
			sent->entry.submit_time + draw_number((uint32_t)DEADLINE));
	role_finish(&role);
	return !shown;
}

static void test_faults(enum gid_protection_profile profile) {
	const char *name = gid_protection_profile_name(profile);
	uint32_t made[KINDS] = {0}, seen[KINDS] = {0}, detected = 0, refused = 0;
	if (!start(&ours, profile, "safety/left") || !start(&other, profile, "safety/right")) {
		printf("# without %s\n", name);
		return;
	}
	for (uint32_t i = 0; i < FAULTS; i++) {
		enum fault fault = mixture[i % MIXTURE];
		bool missed = is_missed(fault);
		made[fault]++;
		seen[fault] += !missed;
		detected += !missed;
		refused += i % CONTROL_EACH == 0 && is_refused();
	}
	for (enum fault fault = 0; fault < KINDS; fault++) {
		tap_ok(seen[fault] == made[fault], "%s: %s: %u of %u", name, fault_names[fault],
				seen[fault], made[fault]);
	}
	tap_ok(refused == 0, "%s: of %u without a fault none is refused: %u", name,
			FAULTS / CONTROL_EACH, refused);
	tap_ok(detected == FAULTS, "detected %u of %u by %s", detected, FAULTS, name);
	gid_protection_destroy(ours.protection);
	gid_protection_destroy(other.protection);
}

int main(void) {
	gid_layout_init(&layout, DRM_FORMAT_XRGB8888, WIDTH, HEIGHT, 4);
	test_faults(GID_PROTECTION_CRC64);
	test_faults(GID_PROTECTION_CMAC);
	return tap_finish();
}
