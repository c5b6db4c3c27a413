// SPDX-License-Identifier: MIT
/*
 * To be preloaded by a reader: as long as there is a file UNHEARD, there is no memory to listen for
 * a slab's end.
 */
#include <dlfcn.h>
#include <errno.h>
#include <gid/domain.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int gid_slab_on_revoked(struct gid_slab *slab, gid_revoked_func func, void *data) {
	const char *path = getenv("UNHEARD");
	if (func != NULL && path != NULL && access(path, F_OK) == 0) {
		fprintf(stderr, "unheard: %s\n", gid_strerror(-ENOMEM));
		return -ENOMEM;
	}
	return ((__typeof__(&gid_slab_on_revoked))(uintptr_t)dlsym(
			RTLD_NEXT, "gid_slab_on_revoked"))(slab, func, data);
}
