// SPDX-License-Identifier: MIT
#include "planes.h"

#include <drm_fourcc.h>
#include <errno.h>

void planes_init(struct planes *planes, const struct picture *picture,
		const struct planes_events *events, void *data) {
	*planes = (struct planes){.picture = *picture, .events = events, .data = data};
	for (uint32_t i = 0; i < GID_PLANES_MAX; i++) {
		planes->plane[i].planes = planes;
	}
}

/* --- to the slabs and back -------------------------------------------------------------------- */

void planes_drop(struct planes *planes) {
	for (uint32_t i = 0; i < GID_PLANES_MAX; i++) {
		struct plane *plane = &planes->plane[i];
		bool may_wait = i < planes->picture.layout.plane_count && plane->slab == NULL;
		if (planes->pending > 0 && may_wait) {
			gid_slab_import_cancel(planes->domain, plane);
		}
		if (plane->listening) {
			gid_slab_on_revoked(plane->slab, NULL, plane);
			plane->listening = false;
		}
		gid_slab_unref(plane->slab);
		plane->slab = NULL;
	}
	planes->pending = 0;
}

static void handle_imported(void *data, gid_id gid, int error, struct gid_slab *slab) {
	struct plane *plane = data;
	struct planes *planes = plane->planes;
	plane->slab = slab;
	planes->pending--;
	if (error != 0) {
		planes_drop(planes);
	}
	if (error != 0 || planes->pending == 0) {
		planes->events->imported(planes->data, error);
	}
}

int planes_import(struct planes *planes, struct gid_domain *domain) {
	planes->domain = domain;
	for (uint32_t i = 0; i < planes->picture.layout.plane_count; i++) {
		struct plane *plane = &planes->plane[i];
		int ret = gid_slab_import_async(domain, planes->picture.gids[i], handle_imported,
				plane, &plane->slab);
		if (ret == -EINPROGRESS) {
			planes->pending++;
		} else if (ret != 0) {
			planes_drop(planes);
			return ret;
		}
	}
	return planes->pending > 0 ? -EINPROGRESS : 0;
}

static void handle_revoked(void *data, struct gid_slab *slab) {
	struct plane *plane = data;
	plane->listening = false; /* a listener is called once */
	planes_drop(plane->planes);
	plane->planes->events->revoked(plane->planes->data);
}

int planes_listen(struct planes *planes) {
	int error = 0;
	for (uint32_t i = 0; i < planes->picture.layout.plane_count && error == 0; i++) {
		struct plane *plane = &planes->plane[i];
		error = gid_slab_on_revoked(plane->slab, handle_revoked, plane);
		plane->listening = error == 0;
	}
	return error;
}

/* --- what is in them -------------------------------------------------------------------------- */

int planes_check(const struct planes *planes) {
	int error = 0;
	for (uint32_t i = 0; i < planes->picture.layout.plane_count && error == 0; i++) {
		error = picture_check_plane(&planes->picture, i, planes->plane[i].slab);
	}
	return error;
}

const void *planes_view(const struct planes *planes) {
	const struct gid_layout *layout = &planes->picture.layout;
	const uint8_t *slot = gid_slab_view_untouched(
			planes->plane[0].slab, gid_slot_of(planes->picture.gids[0]));
	bool readable = layout->plane_count == 1 && layout->modifier == DRM_FORMAT_MOD_LINEAR &&
			layout->planes[0].offset % 4 == 0 && layout->planes[0].stride % 4 == 0;
	return slot != NULL && readable ? slot + layout->planes[0].offset : NULL;
}

/* How far into its slab. */
static uint64_t offset_in_slab(const struct planes *planes, uint32_t plane) {
	const struct picture *picture = &planes->picture;
	struct gid_slab_info info;
	gid_slab_get_info(planes->plane[plane].slab, &info);
	return gid_slot_of(picture->gids[plane]) * info.slot_size +
			picture->layout.planes[plane].offset;
}

uint64_t planes_offset(const struct planes *planes, uint32_t plane) {
	struct gid_slab_info info;
	gid_slab_get_info(planes->plane[plane].slab, &info);
	return info.offset + offset_in_slab(planes, plane);
}

bool planes_get_dmabuf(const struct planes *planes, struct planes_dmabuf *dmabuf) {
	for (uint32_t i = 0; i < planes->picture.layout.plane_count; i++) {
		uint64_t begin = 0;
		dmabuf->fd[i] = gid_slab_get_dmabuf(planes->plane[i].slab, &begin);
		uint64_t offset = begin + offset_in_slab(planes, i);
		if (dmabuf->fd[i] < 0 || offset > UINT32_MAX) {
			return false;
		}
		dmabuf->offset[i] = (uint32_t)offset;
	}
	return true;
}
