// SPDX-License-Identifier: MIT
/**
 * What a KMS device has for atomic commits: CRTCs, planes and connectors, with the numbers of those
 * of their properties that are used here. A property with the number 0 is one that is not there.
 */
#ifndef KMS_OBJECTS_H
#define KMS_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <wlr/render/drm_format_set.h>

struct kms_output;

enum kms_plane_property {
	KMS_PLANE_TYPE,
	KMS_PLANE_IN_FORMATS,
	KMS_PLANE_FB_ID,
	KMS_PLANE_CRTC_ID,
	KMS_PLANE_SRC_X,
	KMS_PLANE_SRC_Y,
	KMS_PLANE_SRC_W,
	KMS_PLANE_SRC_H,
	KMS_PLANE_CRTC_X,
	KMS_PLANE_CRTC_Y,
	KMS_PLANE_CRTC_W,
	KMS_PLANE_CRTC_H,
	KMS_PLANE_ZPOS,
	KMS_PLANE_ALPHA,
	KMS_PLANE_ROTATION,
	KMS_PLANE_IN_FENCE_FD,
	KMS_PLANE_PROPERTIES,
};

enum kms_crtc_property {
	KMS_CRTC_ACTIVE,
	KMS_CRTC_MODE_ID,
	KMS_CRTC_GAMMA_LUT,
	KMS_CRTC_DEGAMMA_LUT,
	KMS_CRTC_CTM,
	KMS_CRTC_VRR_ENABLED,
	KMS_CRTC_PROPERTIES,
};

enum kms_connector_property {
	KMS_CONNECTOR_CRTC_ID,
	KMS_CONNECTOR_LINK_STATUS,
	KMS_CONNECTOR_WRITEBACK_FB_ID,
	KMS_CONNECTOR_WRITEBACK_OUT_FENCE_PTR,
	KMS_CONNECTOR_WRITEBACK_PIXEL_FORMATS,
	KMS_CONNECTOR_PROPERTIES,
};

struct kms_plane {
	uint32_t id;
	uint32_t possible_crtcs; /* bit i: the CRTC with index i */
	uint64_t type;		 /* DRM_PLANE_TYPE_… */
	bool has_zpos, zpos_is_fixed;
	/* With has_zpos: the present value; the largest, where it can be chosen. */
	uint64_t zpos, zpos_max;
	struct wlr_drm_format_set formats;
	struct kms_output *output; /* the output that claimed it; NULL: free */
	uint32_t properties[KMS_PLANE_PROPERTIES];
};

struct kms_crtc {
	uint32_t id, index;
	struct kms_output *output; /* likewise */
	uint32_t properties[KMS_CRTC_PROPERTIES];
};

/* Connectors come and go on some devices: this is read anew where it is needed. */
struct kms_connector {
	uint32_t id;
	uint32_t possible_crtcs;
	uint32_t properties[KMS_CONNECTOR_PROPERTIES];
	uint64_t values[KMS_CONNECTOR_PROPERTIES];
};

struct kms_objects {
	struct kms_plane *planes;
	size_t plane_count;
	struct kms_crtc *crtcs;
	size_t crtc_count;
};

/* Returns 0 or -errno. The objects are to be finished in either case. */
int kms_objects_init(struct kms_objects *objects, int fd);
void kms_objects_finish(struct kms_objects *objects);

/* Returns 0 or -errno: the connector is gone. */
int kms_connector_read(struct kms_connector *connector, int fd, uint32_t id);

#endif
