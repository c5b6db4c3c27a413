// SPDX-License-Identifier: MIT
#include "monitor.h"

#include <drm_fourcc.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cluster_config.h"
#include "examiner.h"

struct monitor {
	struct cluster_config config;
	struct examiner examiner;
	struct own_picture picture; /* drawn by the examiner, and shown to nobody */
	struct role role;
};

static const struct role_config *find_role(const struct cluster_config *config, const char *name) {
	for (size_t i = 0; i < config->role_count; i++) {
		if (strcmp(config->roles[i].name, name) == 0) {
			return &config->roles[i];
		}
	}
	return NULL;
}

static int picture_init(struct own_picture *picture, const struct gid_box *box) {
	uint32_t width = (uint32_t)box->width, height = (uint32_t)box->height;
	picture->data = calloc((size_t)width * height, sizeof(*picture->data));
	picture->pixels = (struct pixels){picture->data, width, height, (size_t)width * 4};
	return picture->data != NULL ? 0 : -ENOMEM;
}

static int monitor_init(
		struct monitor *monitor, const char *config, const char *name, uint64_t now) {
	int ret = cluster_config_read(&monitor->config, config, stderr);
	if (ret < 0) {
		return ret;
	}
	const struct role_config *role = find_role(&monitor->config, name);
	if (role == NULL) {
		fprintf(stderr, "%s: there is no [role %s]\n", config, name);
		return -ENOENT;
	}
	monitor->examiner.rules =
			(struct examiner_rules){.fit = FIT_EXACT, .accepted = &role->accepted};
	ret = picture_init(&monitor->picture, &role->box);
	return ret < 0 ? ret : role_init(&monitor->role, &role->limits, now);
}

struct monitor *monitor_create(const char *config, const char *role, uint64_t now) {
	struct monitor *monitor = calloc(1, sizeof(*monitor));
	if (monitor != NULL && monitor_init(monitor, config, role, now) < 0) {
		monitor_destroy(monitor);
		return NULL;
	}
	return monitor;
}

void monitor_destroy(struct monitor *monitor) {
	if (monitor == NULL) {
		return;
	}
	role_finish(&monitor->role);
	free(monitor->picture.data);
	examiner_finish(&monitor->examiner);
	cluster_config_finish(&monitor->config);
	free(monitor);
}

/* What a reader would find in its ring, and in the slab that it names. Returns 0 or -ENOMEM. */
static int examination_init(struct examination *of, const struct monitor_frame *frame) {
	const struct pixels pixels = {
			frame->pixels, frame->width, frame->height, (size_t)frame->width * 4};
	struct pixel_hashes hashes = {0};
	of->frame = (struct gid_frame)GID_FRAME_INIT;
	of->frame.sequence = frame->sequence;
	of->frame.submit_time = frame->submit_time;
	of->slot = frame->pixels;
	of->slab.memory = GID_MEMORY_MEMFD;
	of->slab.fd = -1; /* ours, and all there: no file to be asked for its pages */
	of->slab.slot_count = 1;
	int ret = gid_layout_init(
			&of->slab.layout, DRM_FORMAT_XRGB8888, frame->width, frame->height, 4);
	of->slab.slot_size = gid_layout_size(&of->slab.layout);
	if (ret == 0) {
		ret = pixels_hash(&pixels, &hashes, NULL);
	}
	of->frame.content_hash = hashes.content;
	of->frame.flags = GID_FRAME_HASH;
	return ret;
}

const char *monitor_receive(
		struct monitor *monitor, const struct monitor_frame *frame, uint64_t now) {
	struct examination of = {.picture = &monitor->picture};
	if (examination_init(&of, frame) < 0) {
		of.reason = ROLE_REASON_LAYOUT;
	} else {
		examiner_examine(&monitor->examiner, &of);
	}
	const struct role_frame found = {
			.refused = of.reason,
			.sequence = of.frame.sequence,
			.submit_time = of.frame.submit_time,
			.stated_hash = of.frame.content_hash,
			.pixel_hash = of.content,
			.colour = of.picture->colour,
			.has_hash = (of.frame.flags & GID_FRAME_HASH) != 0,
			.allowed = of.allowed,
	};
	role_frame(&monitor->role, &found, now);
	return role_reason_name(monitor->role.reason);
}

const char *monitor_tick(struct monitor *monitor, uint64_t now) {
	role_tick(&monitor->role, now);
	return role_reason_name(monitor->role.reason);
}

uint64_t monitor_deadline(const struct monitor *monitor) {
	return monitor->role.limits.deadline_ns;
}

uint32_t monitor_good_frames(const struct monitor *monitor) {
	return monitor->role.limits.good_frames;
}
