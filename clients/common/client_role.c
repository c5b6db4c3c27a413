// SPDX-License-Identifier: MIT
#include "client_role.h"

#include <err.h>
#include <limits.h>

#include "gid-safety-v1-client-protocol.h"

static void handle_shown(void *data, struct gid_safety_surface_v1 *object, uint32_t sequence_hi,
		uint32_t sequence_lo, uint32_t sec_hi, uint32_t sec_lo, uint32_t nsec) {
	struct client_role *role = data;
	role->shown++;
	role->sequence = (uint64_t)sequence_hi << 32 | sequence_lo;
}

static const char *reason_text(uint32_t reason) {
	switch (reason) {
	case GID_SAFETY_SURFACE_V1_REASON_WAITING:
		return "no display reads them yet";
	case GID_SAFETY_SURFACE_V1_REASON_GONE:
		return "the other display went away";
	case GID_SAFETY_SURFACE_V1_REASON_LATE:
		return "the other display does not keep up";
	case GID_SAFETY_SURFACE_V1_REASON_REFUSED_CONTENT:
		return "the content cannot be forwarded; the compositor's log says why";
	case GID_SAFETY_SURFACE_V1_REASON_REFUSED_MEMORY:
		return "the memory cannot be forwarded; the compositor's log says why";
	case GID_SAFETY_SURFACE_V1_REASON_NO_DAEMON:
		return "the compositor has no connection to its gidd now";
	case GID_SAFETY_SURFACE_V1_REASON_NOT_ALLOWED:
		return "the cockpit's configuration does not let the compositor's domain publish "
		       "the role's stream; the compositor's log says what is missing";
	case GID_SAFETY_SURFACE_V1_REASON_TAKEN:
		return "another program publishes the role's stream already; the compositor's "
		       "log says which";
	default:
		return "for a reason that this program does not know";
	}
}

static void handle_lost(void *data, struct gid_safety_surface_v1 *object, uint32_t reason) {
	struct client_role *role = data;
	role->lost++;
	warnx("frames do not arrive: %s", reason_text(reason));
}

static const struct gid_safety_surface_v1_listener listener = {
		.shown = handle_shown,
		.lost = handle_lost,
};

int client_role_init(struct client_role *role, struct wayland *wayland, struct wl_surface *surface,
		const char *name) {
	*role = (struct client_role){0};
	if (wayland->gid_safety == NULL) {
		char own[PATH_MAX], compositor[PATH_MAX];
		warnx("%s offers no safety role to this program: it must be Weston with "
		      "gid-buffer.so, and its weston.ini name %s under clients= in a section "
		      "[gid-safety], for this user; see weston-gid-buffer(7)",
				wayland_describe_compositor(
						wayland, compositor, sizeof(compositor)),
				program_path("/proc/self/exe", own, sizeof(own)));
		return -1;
	}
	role->object = gid_safety_manager_v1_get_safety_surface(wayland->gid_safety, surface, name);
	gid_safety_surface_v1_add_listener(role->object, &listener, role);
	return 0;
}

void client_role_finish(struct client_role *role) {
	if (role->object != NULL) {
		gid_safety_surface_v1_destroy(role->object);
		role->object = NULL;
	}
}
