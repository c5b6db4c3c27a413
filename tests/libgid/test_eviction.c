// SPDX-License-Identifier: MIT
/* A slab leaves its memory: who reads there finds its gid out of date before it finds zeroes. */
#include <errno.h>

#include "cockpit.h"
#include "tap.h"

#define CLUSTER 2
#define WORD 0x00abcdefu

int main(void) {
	struct gid_domain *owner = NULL, *reader = NULL;
	struct gid_layout layout;
	struct gid_slab *slab = NULL, *got = NULL;
	gid_layout_init(&layout, 0x34325258 /* XR24 */, 64, 16, 4);
	if (!cockpit_init() || gid_domain_connect("open", &owner) < 0 ||
			gid_domain_connect("cluster", &reader) < 0 ||
			gid_slab_create(owner, &layout, 0, 1, NULL, &slab) < 0) {
		tap_ok(false, "two domains, and a slab");
		cockpit_finish();
		return tap_finish();
	}
	*(uint32_t *)gid_slab_data(slab, 0) = WORD;
	const gid_id gid = gid_slab_gid(slab, 0);
	gid_slab_grant(slab, CLUSTER);
	cockpit_pass_on(owner, reader);
	int error = gid_slab_import(reader, gid, &got);
	const volatile uint32_t *view = error == 0 ? gid_slab_view(got, 0) : NULL;
	tap_ok(view != NULL && *view == WORD && gid_slab_is_current(got, gid),
			"a slab is read in another domain");
	tap_ok(gid_domain_revoke(owner, "open", NULL, gid, NULL) == 0, "and taken from it");
	/* The reader hears of nothing meanwhile. */
	for (long end = cockpit_now_ms() + COCKPIT_PATIENCE_MS;
			view != NULL && *view == WORD && cockpit_now_ms() < end;
			cockpit_sleep_ms(1)) {
		gid_domain_dispatch(owner);
	}
	tap_ok(view != NULL && *view == 0 && !gid_slab_is_current(got, gid),
			"what it sees there then is out of date, also before it is told");
	tap_ok(gid_slab_gid(slab, 0) != gid && *(uint32_t *)gid_slab_data(slab, 0) == WORD,
			"while the owner goes on in other memory");
	gid_slab_unref(got);
	gid_slab_destroy(slab, true);
	gid_domain_destroy(reader);
	gid_domain_destroy(owner);
	cockpit_finish();
	return tap_finish();
}
