// SPDX-License-Identifier: MIT
#include "kms_objects.h"

#include <drm_fourcc.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xf86drm.h>
#include <xf86drmMode.h>

static const char *const plane_names[KMS_PLANE_PROPERTIES] = {
		[KMS_PLANE_TYPE] = "type",
		[KMS_PLANE_IN_FORMATS] = "IN_FORMATS",
		[KMS_PLANE_FB_ID] = "FB_ID",
		[KMS_PLANE_CRTC_ID] = "CRTC_ID",
		[KMS_PLANE_SRC_X] = "SRC_X",
		[KMS_PLANE_SRC_Y] = "SRC_Y",
		[KMS_PLANE_SRC_W] = "SRC_W",
		[KMS_PLANE_SRC_H] = "SRC_H",
		[KMS_PLANE_CRTC_X] = "CRTC_X",
		[KMS_PLANE_CRTC_Y] = "CRTC_Y",
		[KMS_PLANE_CRTC_W] = "CRTC_W",
		[KMS_PLANE_CRTC_H] = "CRTC_H",
		[KMS_PLANE_ZPOS] = "zpos",
		[KMS_PLANE_ALPHA] = "alpha",
		[KMS_PLANE_ROTATION] = "rotation",
		[KMS_PLANE_IN_FENCE_FD] = "IN_FENCE_FD",
};

static const char *const crtc_names[KMS_CRTC_PROPERTIES] = {
		[KMS_CRTC_ACTIVE] = "ACTIVE",
		[KMS_CRTC_MODE_ID] = "MODE_ID",
		[KMS_CRTC_GAMMA_LUT] = "GAMMA_LUT",
		[KMS_CRTC_DEGAMMA_LUT] = "DEGAMMA_LUT",
		[KMS_CRTC_CTM] = "CTM",
		[KMS_CRTC_VRR_ENABLED] = "VRR_ENABLED",
};

static const char *const connector_names[KMS_CONNECTOR_PROPERTIES] = {
		[KMS_CONNECTOR_CRTC_ID] = "CRTC_ID",
		[KMS_CONNECTOR_LINK_STATUS] = "link-status",
		[KMS_CONNECTOR_WRITEBACK_FB_ID] = "WRITEBACK_FB_ID",
		[KMS_CONNECTOR_WRITEBACK_OUT_FENCE_PTR] = "WRITEBACK_OUT_FENCE_PTR",
		[KMS_CONNECTOR_WRITEBACK_PIXEL_FORMATS] = "WRITEBACK_PIXEL_FORMATS",
};

static int read_properties(int fd, uint32_t object, uint32_t type, const char *const *names,
		size_t count, uint32_t *numbers, uint64_t *values) {
	drmModeObjectProperties *list = drmModeObjectGetProperties(fd, object, type);
	if (list == NULL) {
		return -errno;
	}
	for (uint32_t i = 0; i < list->count_props; i++) {
		drmModePropertyRes *property = drmModeGetProperty(fd, list->props[i]);
		for (size_t k = 0; property != NULL && k < count; k++) {
			if (strcmp(names[k], property->name) == 0) {
				numbers[k] = property->prop_id;
				values[k] = list->prop_values[i];
			}
		}
		drmModeFreeProperty(property);
	}
	drmModeFreeObjectProperties(list);
	return 0;
}

static void plane_read_zpos(struct kms_plane *plane, int fd, uint64_t now) {
	drmModePropertyRes *property = plane->properties[KMS_PLANE_ZPOS] != 0
			? drmModeGetProperty(fd, plane->properties[KMS_PLANE_ZPOS])
			: NULL;
	if (property != NULL) {
		plane->has_zpos = true;
		plane->zpos = now;
		plane->zpos_is_fixed = property->flags & DRM_MODE_PROP_IMMUTABLE;
		plane->zpos_max = property->count_values > 1 ? property->values[1] : now;
	}
	drmModeFreeProperty(property);
}

static void plane_read_modifiers(struct kms_plane *plane, int fd, uint64_t id) {
	drmModePropertyBlobRes *blob = id != 0 ? drmModeGetPropertyBlob(fd, (uint32_t)id) : NULL;
	if (blob == NULL) {
		return;
	}
	drmModeFormatModifierIterator at = {0};
	while (drmModeFormatModifierBlobIterNext(blob, &at)) {
		wlr_drm_format_set_add(&plane->formats, at.fmt, at.mod);
	}
	drmModeFreePropertyBlob(blob);
}

static int plane_init(struct kms_plane *plane, int fd, uint32_t id) {
	uint64_t values[KMS_PLANE_PROPERTIES] = {0}, modifiers = 0;
	drmModePlane *found = drmModeGetPlane(fd, id);
	if (found == NULL) {
		return -errno;
	}
	plane->id = id;
	plane->possible_crtcs = found->possible_crtcs;
	int error = read_properties(fd, id, DRM_MODE_OBJECT_PLANE, plane_names,
			KMS_PLANE_PROPERTIES, plane->properties, values);
	if (error == 0) {
		plane->type = values[KMS_PLANE_TYPE];
		plane_read_zpos(plane, fd, values[KMS_PLANE_ZPOS]);
		for (uint32_t i = 0; i < found->count_formats; i++) {
			/*
			 * Without a modifier: the layout that the driver chooses, also for dumb
			 * buffers.
			 */
			wlr_drm_format_set_add(
					&plane->formats, found->formats[i], DRM_FORMAT_MOD_INVALID);
		}
		if (drmGetCap(fd, DRM_CAP_ADDFB2_MODIFIERS, &modifiers) == 0 && modifiers == 1) {
			plane_read_modifiers(plane, fd, values[KMS_PLANE_IN_FORMATS]);
		}
	}
	drmModeFreePlane(found);
	return error;
}

static int objects_read_planes(struct kms_objects *objects, int fd) {
	drmModePlaneRes *list = drmModeGetPlaneResources(fd);
	if (list == NULL) {
		return -errno;
	}
	int error = 0;
	objects->planes = calloc(list->count_planes + 1, sizeof(*objects->planes));
	if (objects->planes == NULL) {
		error = -ENOMEM;
	}
	for (uint32_t i = 0; i < list->count_planes && error == 0; i++) {
		error = plane_init(&objects->planes[objects->plane_count++], fd, list->planes[i]);
	}
	drmModeFreePlaneResources(list);
	return error;
}

static int objects_read_crtcs(struct kms_objects *objects, int fd) {
	drmModeRes *list = drmModeGetResources(fd);
	if (list == NULL) {
		return -errno;
	}
	int error = 0;
	objects->crtcs = calloc((size_t)list->count_crtcs + 1, sizeof(*objects->crtcs));
	if (objects->crtcs == NULL) {
		error = -ENOMEM;
	}
	for (int i = 0; i < list->count_crtcs && error == 0; i++) {
		uint64_t values[KMS_CRTC_PROPERTIES];
		struct kms_crtc *crtc = &objects->crtcs[objects->crtc_count++];
		crtc->id = list->crtcs[i];
		crtc->index = (uint32_t)i;
		error = read_properties(fd, crtc->id, DRM_MODE_OBJECT_CRTC, crtc_names,
				KMS_CRTC_PROPERTIES, crtc->properties, values);
	}
	drmModeFreeResources(list);
	return error;
}

int kms_objects_init(struct kms_objects *objects, int fd) {
	*objects = (struct kms_objects){0};
	int error = objects_read_crtcs(objects, fd);
	return error == 0 ? objects_read_planes(objects, fd) : error;
}

void kms_objects_finish(struct kms_objects *objects) {
	for (size_t i = 0; i < objects->plane_count; i++) {
		wlr_drm_format_set_finish(&objects->planes[i].formats);
	}
	free(objects->planes);
	free(objects->crtcs);
	*objects = (struct kms_objects){0};
}

int kms_connector_read(struct kms_connector *connector, int fd, uint32_t id) {
	*connector = (struct kms_connector){.id = id};
	drmModeConnector *found = drmModeGetConnectorCurrent(fd, id);
	if (found == NULL) {
		return -errno;
	}
	connector->possible_crtcs = drmModeConnectorGetPossibleCrtcs(fd, found);
	drmModeFreeConnector(found);
	return read_properties(fd, id, DRM_MODE_OBJECT_CONNECTOR, connector_names,
			KMS_CONNECTOR_PROPERTIES, connector->properties, connector->values);
}
