// SPDX-License-Identifier: MIT
/* A picture whose revocation cannot be heard is refused: it could never be taken off a screen. */
#include "planes.h"

#include <errno.h>

#include "tap.h"

struct gid_slab {
	uint32_t references, listeners;
};

static struct gid_slab slabs[2];
static uint32_t listeners_left; /* what memory there is for */

int __wrap_gid_slab_import_async(struct gid_domain *domain, gid_id gid, gid_imported_func func,
		void *data, struct gid_slab **imported);
int __wrap_gid_slab_on_revoked(struct gid_slab *slab, gid_revoked_func func, void *data);
void __wrap_gid_slab_unref(struct gid_slab *slab);

int __wrap_gid_slab_import_async(struct gid_domain *domain, gid_id gid, gid_imported_func func,
		void *data, struct gid_slab **imported) {
	*imported = &slabs[gid];
	slabs[gid].references++;
	return 0;
}

int __wrap_gid_slab_on_revoked(struct gid_slab *slab, gid_revoked_func func, void *data) {
	if (func == NULL) {
		slab->listeners--;
		return 0;
	}
	if (listeners_left == 0) {
		return -ENOMEM;
	}
	listeners_left--;
	slab->listeners++;
	return 0;
}

void __wrap_gid_slab_unref(struct gid_slab *slab) {
	if (slab != NULL) {
		slab->references--;
	}
}

static bool is_unused(const struct gid_slab *slab) {
	return slab->references == 0 && slab->listeners == 0;
}

int main(void) {
	static const struct picture picture = {.layout = {.plane_count = 2}, .gids = {0, 1}};
	static const struct planes_events events;
	struct planes planes;
	planes_init(&planes, &picture, &events, NULL);
	listeners_left = 2;
	tap_ok(planes_import(&planes, NULL) == 0 && planes_listen(&planes) == 0 &&
					slabs[0].listeners == 1 && slabs[1].listeners == 1,
			"the revocation of each plane's slab is heard");
	planes_drop(&planes);
	tap_ok(is_unused(&slabs[0]) && is_unused(&slabs[1]), "until the slabs are given back");
	for (uint32_t left = 0; left < 2; left++) {
		listeners_left = left;
		tap_ok(planes_import(&planes, NULL) == 0 && planes_listen(&planes) == -ENOMEM,
				"that no memory is left after %u of them is an error", left);
		planes_drop(&planes);
		tap_ok(is_unused(&slabs[0]) && is_unused(&slabs[1]), "after which nothing is held");
	}
	return tap_finish();
}
