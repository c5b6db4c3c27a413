// SPDX-License-Identifier: MIT
/*
 * asks-writeback: whether vkms still writes back what it shows, asked by a program that shares no
 * code with gid-cluster. Nobody else may have the display.
 *
 * It shows a picture and has it written. If 60 refreshes later the device has not said that it is
 * written, the device is at fault: it has lost an earlier picture, and takes the end of each one
 * for that of the one before. Ends with 0 if it is written, 75 if not, 1 if it could not ask.
 */
#include <err.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <xf86drm.h>
#include <xf86drmMode.h>

#define NOT_WRITTEN 75
#define REFRESHES 60
#define LAST_WAIT_MS 2000

struct request {
	int fd;
	drmModeAtomicReq *atomic;
};

static void set(const struct request *request, uint32_t object, uint32_t type, const char *name,
		uint64_t value) {
	drmModeObjectProperties *all = drmModeObjectGetProperties(request->fd, object, type);
	bool is_set = false;
	for (uint32_t i = 0; all != NULL && i < all->count_props; i++) {
		drmModePropertyRes *property = drmModeGetProperty(request->fd, all->props[i]);
		if (property != NULL && strcmp(property->name, name) == 0) {
			is_set = drmModeAtomicAddProperty(request->atomic, object,
						 property->prop_id, value) > 0;
		}
		drmModeFreeProperty(property);
	}
	drmModeFreeObjectProperties(all);
	if (!is_set) {
		errx(1, "object %u has no property %s", object, name);
	}
}

static uint32_t connector_of(int fd, const drmModeRes *resources, bool writeback) {
	for (int i = 0; i < resources->count_connectors; i++) {
		drmModeConnector *one = drmModeGetConnector(fd, resources->connectors[i]);
		bool is_wanted = one != NULL &&
				(one->connector_type == DRM_MODE_CONNECTOR_WRITEBACK) == writeback;
		drmModeFreeConnector(one);
		if (is_wanted) {
			return resources->connectors[i];
		}
	}
	errx(1, "the device has no %s", writeback ? "writeback" : "display");
}

static drmModeModeInfo mode_of(int fd, uint32_t connector) {
	drmModeConnector *found = drmModeGetConnector(fd, connector);
	if (found == NULL || found->count_modes == 0) {
		errx(1, "the display has no mode");
	}
	drmModeModeInfo mode = found->modes[0];
	drmModeFreeConnector(found);
	return mode;
}

static uint32_t primary_plane(int fd) {
	drmModePlaneRes *planes = drmModeGetPlaneResources(fd);
	for (uint32_t i = 0; planes != NULL && i < planes->count_planes; i++) {
		drmModeObjectProperties *all = drmModeObjectGetProperties(
				fd, planes->planes[i], DRM_MODE_OBJECT_PLANE);
		for (uint32_t k = 0; all != NULL && k < all->count_props; k++) {
			drmModePropertyRes *property = drmModeGetProperty(fd, all->props[k]);
			if (property != NULL && strcmp(property->name, "type") == 0 &&
					all->prop_values[k] == DRM_PLANE_TYPE_PRIMARY) {
				return planes->planes[i];
			}
			drmModeFreeProperty(property);
		}
		drmModeFreeObjectProperties(all);
	}
	errx(1, "the device has no primary plane");
}

static uint32_t make_picture(int fd, const drmModeModeInfo *mode) {
	struct drm_mode_create_dumb dumb = {
			.width = mode->hdisplay, .height = mode->vdisplay, .bpp = 32};
	uint32_t picture;
	if (drmIoctl(fd, DRM_IOCTL_MODE_CREATE_DUMB, &dumb) < 0 ||
			drmModeAddFB(fd, dumb.width, dumb.height, 24, 32, dumb.pitch, dumb.handle,
					&picture) < 0) {
		err(1, "a picture");
	}
	return picture;
}

static void commit(struct request *request, uint32_t flags) {
	if (drmModeAtomicCommit(request->fd, request->atomic, flags, NULL) < 0) {
		err(1, "commit");
	}
	drmModeAtomicFree(request->atomic);
	request->atomic = drmModeAtomicAlloc();
}

static void show(struct request *request, const drmModeModeInfo *mode, uint32_t crtc,
		uint32_t connector, uint32_t writeback) {
	uint32_t plane = primary_plane(request->fd), blob;
	if (drmModeCreatePropertyBlob(request->fd, mode, sizeof(*mode), &blob) < 0) {
		err(1, "mode");
	}
	set(request, connector, DRM_MODE_OBJECT_CONNECTOR, "CRTC_ID", crtc);
	set(request, writeback, DRM_MODE_OBJECT_CONNECTOR, "CRTC_ID", crtc);
	set(request, crtc, DRM_MODE_OBJECT_CRTC, "MODE_ID", blob);
	set(request, crtc, DRM_MODE_OBJECT_CRTC, "ACTIVE", 1);
	set(request, plane, DRM_MODE_OBJECT_PLANE, "FB_ID", make_picture(request->fd, mode));
	set(request, plane, DRM_MODE_OBJECT_PLANE, "CRTC_ID", crtc);
	const uint64_t width = mode->hdisplay, height = mode->vdisplay;
	const struct {
		const char *name;
		uint64_t value;
	} box[] = {{"SRC_X", 0}, {"SRC_Y", 0}, {"SRC_W", width << 16}, {"SRC_H", height << 16},
			{"CRTC_X", 0}, {"CRTC_Y", 0}, {"CRTC_W", width}, {"CRTC_H", height}};
	for (size_t i = 0; i < sizeof(box) / sizeof(*box); i++) {
		set(request, plane, DRM_MODE_OBJECT_PLANE, box[i].name, box[i].value);
	}
	commit(request, DRM_MODE_ATOMIC_ALLOW_MODESET);
}

int main(void) {
	struct request request = {drmOpen("vkms", NULL), drmModeAtomicAlloc()};
	if (request.fd < 0 || drmSetClientCap(request.fd, DRM_CLIENT_CAP_ATOMIC, 1) < 0 ||
			drmSetClientCap(request.fd, DRM_CLIENT_CAP_WRITEBACK_CONNECTORS, 1) < 0) {
		errx(1, "no vkms with writeback");
	}
	drmModeRes *resources = drmModeGetResources(request.fd);
	if (resources == NULL || resources->count_crtcs == 0) {
		errx(1, "the device has no crtc");
	}
	uint32_t crtc = resources->crtcs[0];
	uint32_t connector = connector_of(request.fd, resources, false);
	uint32_t writeback = connector_of(request.fd, resources, true);
	drmModeModeInfo mode = mode_of(request.fd, connector);
	show(&request, &mode, crtc, connector, writeback);

	int32_t fence = -1;
	set(&request, writeback, DRM_MODE_OBJECT_CONNECTOR, "WRITEBACK_FB_ID",
			make_picture(request.fd, &mode));
	set(&request, writeback, DRM_MODE_OBJECT_CONNECTOR, "WRITEBACK_OUT_FENCE_PTR",
			(uint64_t)(uintptr_t)&fence);
	commit(&request, 0);
	for (int i = 0; i < REFRESHES; i++) {
		drmVBlank next = {.request = {.type = DRM_VBLANK_RELATIVE, .sequence = 1}};
		if (drmWaitVBlank(request.fd, &next) < 0) {
			err(1, "refresh");
		}
	}
	struct pollfd written = {.fd = fence, .events = POLLIN};
	return poll(&written, 1, LAST_WAIT_MS) == 1 ? 0 : NOT_WRITTEN;
}
