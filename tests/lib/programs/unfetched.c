// SPDX-License-Identifier: MIT
/*
 * To be preloaded by a reader: as long as there is a file UNFETCHED, memory that is asked for
 * cannot be had, as where its owner has given too much of it.
 */
#include <dlfcn.h>
#include <errno.h>
#include <gid/domain.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

int gid_slab_import_async(struct gid_domain *domain, gid_id gid, gid_imported_func done, void *data,
		struct gid_slab **slab) {
	const char *path = getenv("UNFETCHED");
	if (path != NULL && access(path, F_OK) == 0) {
		return -EDQUOT;
	}
	return ((__typeof__(&gid_slab_import_async))(uintptr_t)dlsym(
			RTLD_NEXT, "gid_slab_import_async"))(domain, gid, done, data, slab);
}
