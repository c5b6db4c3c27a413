// SPDX-License-Identifier: MIT
#include "capture_targets.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "opaque_format.h"

/* Rows without gaps: Weston's GL renderer writes those, whatever the stride of a buffer is. */
#define STRIDE_ALIGN 4

static void *target_data(const struct capture_target *target) {
	return gid_slab_data(target->targets->slab, target->slot);
}

static size_t picture_size(const struct capture_targets *targets) {
	return (size_t)targets->layout.planes[0].stride * targets->layout.height;
}

static uint64_t box_size(const struct capture_targets *targets, struct gid_box box) {
	const struct gid_layout *layout = &targets->layout;
	return (uint64_t)box.height * (uint64_t)box.width * layout->planes[0].stride /
			layout->width;
}

static struct gid_box whole_box(const struct capture_targets *targets) {
	return (struct gid_box){
			0, 0, (int32_t)targets->layout.width, (int32_t)targets->layout.height};
}

/*
 * Maps the slot's memory into the buffer. A slot gets other memory when a domain has lost the right
 * to read the old memory.
 */
static int target_map(struct capture_target *target) {
	gid_id gid = gid_slab_gid(target->targets->slab, target->slot);
	if (target->mapped != GID_NONE && gid_slab_key(gid) == gid_slab_key(target->mapped)) {
		return 0;
	}
	int error = pool_share(&target->pool, target_data(target), picture_size(target->targets));
	target->is_slot = error == 0;
	if (error != 0) {
		error = pool_own(&target->pool);
	}
	if (error == 0) {
		target->mapped = gid;
		target->stale = whole_box(target->targets);
	}
	return error;
}

static void handle_answered(void *data, bool taken) {
	struct capture_target *target = data;
	target->targets->events->answered(target->targets->data, target, taken);
}

static void target_drop_image(struct capture_target *target) {
	if (target->image != NULL) {
		pixman_image_unref(target->image);
		target->image = NULL;
	}
}

/* The buffer goes with the hidden client that owns it. */
static void handle_buffer_destroy(struct wl_listener *listener, void *data) {
	struct capture_target *target = wl_container_of(listener, target, buffer_destroy);
	target->buffer = NULL;
	target_drop_image(target);
}

static int target_init(
		struct capture_target *target, struct capture_targets *targets, uint32_t slot) {
	const struct gid_layout *layout = &targets->layout;
	*target = (struct capture_target){.targets = targets, .slot = slot};
	size_t lead = (uintptr_t)target_data(target) & ((size_t)sysconf(_SC_PAGESIZE) - 1);
	target->buffer = pool_create_buffer(&target->pool, targets->hidden,
			output_capture_get_client(targets->capture), 0, targets->fourcc,
			(int32_t)layout->width, (int32_t)layout->height,
			(int32_t)layout->planes[0].stride, lead);
	if (target->buffer != NULL) {
		target->buffer_destroy.notify = handle_buffer_destroy;
		wl_resource_add_destroy_listener(target->buffer, &target->buffer_destroy);
	}
	target->shot = output_shot_create(targets->capture, handle_answered, target);
	if (target->buffer == NULL || target->shot == NULL) {
		return -ENOMEM;
	}
	return target_map(target);
}

/* Slots that exist already map their new memory when they are next written. */
static void handle_made(void *data, int error, struct gid_slab *slab) {
	struct capture_targets *targets = data;
	for (uint32_t slot = 0; error == 0 && slot < CAPTURE_TARGETS; slot++) {
		if (targets->target[slot].targets == NULL) {
			error = target_init(&targets->target[slot], targets, slot);
		}
	}
	targets->events->made(targets->data, targets, error);
}

int capture_targets_create(struct capture_targets **created, struct gid_domain *domain,
		const char *stream, struct hidden_client *hidden, struct output_capture *capture,
		uint32_t fourcc, int32_t width, int32_t height,
		const struct capture_targets_events *events, void *data) {
	struct capture_targets *targets = calloc(1, sizeof(*targets));
	if (targets == NULL) {
		return -ENOMEM;
	}
	targets->fourcc = fourcc;
	targets->hidden = hidden;
	targets->capture = capture;
	targets->events = events;
	targets->data = data;
	wl_list_init(&targets->link);
	int error = gid_layout_init(&targets->layout, format_without_alpha(fourcc), (uint32_t)width,
			(uint32_t)height, STRIDE_ALIGN);
	if (error == 0 && targets->layout.plane_count != 1) {
		error = -ENOTSUP;
	}
	if (error == 0) {
		error = gid_slab_create_async(domain, stream, &targets->layout, 0, CAPTURE_TARGETS,
				NULL, handle_made, targets, &targets->slab);
	}
	if (error != 0) {
		capture_targets_destroy(targets);
		return error;
	}
	*created = targets;
	return 0;
}

void capture_targets_destroy(struct capture_targets *targets) {
	if (targets == NULL) {
		return;
	}
	for (size_t i = 0; i < CAPTURE_TARGETS; i++) {
		struct capture_target *target = &targets->target[i];
		capture_part_end(&target->part);
		output_shot_destroy(target->shot);
		if (target->buffer != NULL) {
			wl_resource_destroy(target->buffer);
		}
	}
	wl_list_remove(&targets->link);
	gid_slab_unref(targets->slab);
	free(targets);
}

/* If the slots have lost their content, all of it is stale. */
static void targets_notice_loss(struct capture_targets *targets) {
	uint64_t emptied = gid_slab_emptied(targets->slab);
	for (size_t i = 0; emptied != targets->emptied && i < CAPTURE_TARGETS; i++) {
		targets->target[i].stale = whole_box(targets);
	}
	targets->emptied = emptied;
}

struct capture_target *capture_targets_write(struct capture_targets *targets, bool asks) {
	int slot = gid_slab_renew(targets->slab) == 0 ? gid_slab_take(targets->slab) : -1;
	if (slot < 0) {
		return NULL;
	}
	struct capture_target *target = &targets->target[slot];
	if (target->buffer == NULL || target_map(target) != 0 ||
			(asks && !output_shot_take(target->shot, target->buffer))) {
		gid_slab_give(targets->slab, (uint32_t)slot);
		return NULL;
	}
	targets_notice_loss(targets);
	if (asks) {
		capture_part_await(&target->part, target->pool.address + target->pool.lead);
	}
	targets->taken++;
	target->state = CAPTURE_TARGET_WRITTEN;
	target->copied = picture_size(targets);
	return target;
}

void capture_target_draw(struct capture_target *target) {
	struct gid_box box = target->stale;
	if (capture_part_take(&target->part, box)) {
		target->stale = (struct gid_box){0};
		target->copied = box_size(target->targets, box);
	}
}

bool capture_target_make_image(struct capture_target *target, pixman_format_code_t format) {
	const struct gid_layout *layout = &target->targets->layout;
	if (target->image == NULL && target->buffer != NULL) {
		target->image = pixman_image_create_bits_no_clear(format, (int)layout->width,
				(int)layout->height,
				(uint32_t *)(void *)(target->pool.address + target->pool.lead),
				(int)layout->planes[0].stride);
	}
	return target->image != NULL;
}

bool capture_target_is_intact(const struct capture_target *target) {
	const struct gid_slab *slab = target->targets->slab;
	return target->image != NULL && slab != NULL &&
			gid_slab_emptied(slab) == target->targets->emptied &&
			gid_slab_key(gid_slab_gid(slab, target->slot)) ==
			gid_slab_key(target->mapped);
}

uint64_t capture_target_finish(struct capture_target *target) {
	size_t size = picture_size(target->targets);
	capture_part_end(&target->part);
	target->state = CAPTURE_TARGET_KEPT;
	target->frame.gid = gid_slab_gid(target->targets->slab, target->slot);
	if (!target->is_slot) {
		memcpy(target_data(target), target->pool.address + target->pool.lead, size);
	}
	return target->copied + (target->is_slot ? 0 : size);
}

void capture_target_give(struct capture_target *target) {
	capture_part_end(&target->part);
	target->state = CAPTURE_TARGET_FREE;
	target->targets->taken--;
	if (target->targets->slab != NULL) {
		gid_slab_give(target->targets->slab, target->slot);
	}
}

void capture_targets_update(struct capture_targets *targets) {
	for (size_t i = 0; i < CAPTURE_TARGETS; i++) {
		struct capture_target *target = &targets->target[i];
		if (targets->slab != NULL && target->state == CAPTURE_TARGET_SENT &&
				gid_slab_holders(targets->slab, target->slot) == 0) {
			capture_target_give(target);
		}
	}
}

void capture_targets_forget(struct capture_targets *targets) {
	for (size_t i = 0; i < CAPTURE_TARGETS; i++) {
		struct capture_target *target = &targets->target[i];
		if (target->state == CAPTURE_TARGET_KEPT || target->state == CAPTURE_TARGET_SENT) {
			capture_target_give(target);
		}
	}
	gid_slab_unref(targets->slab);
	targets->slab = NULL;
}
