// SPDX-License-Identifier: MIT
/**
 * Imports after a restart of gidd. It knows neither what we imported nor, before their owners are
 * back, what there is to import: so each import is asked for again until it is found. Meanwhile
 * the old mapping serves on.
 */
#include <errno.h>
#include <sys/stat.h>

#include "import.h"
#include "slab_object.h"
#include "socket.h"

#define CONFIRM_NS 5000000000ull
#define CONFIRM_EVERY_NS 250000000ull

/* Another process may have exported something else under the same number meanwhile. */
static bool is_same_memory(int fd, int other) {
	struct stat a, b;
	return fstat(fd, &a) == 0 && fstat(other, &b) == 0 && a.st_dev == b.st_dev &&
		a.st_ino == b.st_ino;
}

static void confirmed(
	void *data, int error, const union gid_wire_message *answer, int fds[GID_WIRE_FDS_MAX]) {
	struct gid_slab *slab = data;
	if (error < 0) {
		slab->confirm = GID_CONFIRM_ASK;
	} else if (slab->info.offset == answer->imported.offset &&
		is_same_memory(slab->info.fd, fds[0])) {
		slab->confirm = GID_CONFIRM_DONE;
		gid_slab_grant_again(slab);
	} else {
		gid_import_revoke(slab);
	}
}

static struct gid_slab *find_unconfirmed(struct gid_domain *domain) {
	struct gid_slab *slab = domain->slabs;
	while (slab != NULL && (!slab->known || slab->confirm == GID_CONFIRM_DONE)) {
		slab = slab->next;
	}
	return slab;
}

void gid_imports_confirm_due(void *data) {
	struct gid_imports *imports = data;
	struct gid_domain *domain = imports->domain;
	struct gid_slab *slab;
	uint64_t now = gid_socket_now();
	while (now >= imports->confirm_until && (slab = find_unconfirmed(domain)) != NULL) {
		gid_import_revoke(slab);
	}
	for (slab = domain->slabs; slab != NULL; slab = slab->next) {
		union gid_wire_message message;
		if (!slab->known || slab->confirm != GID_CONFIRM_ASK) {
			continue;
		}
		gid_import_put(&message, slab->info.gid);
		if (gid_domain_request_async(domain, &message, NULL, 0, confirmed, slab) == 0) {
			slab->confirm = GID_CONFIRM_ASKED;
		}
	}
	/* Where gidd went away again its return begins this anew. */
	if (domain->state == GID_CONNECTION_UP && find_unconfirmed(domain) != NULL) {
		gid_loop_arm(&domain->loop, &imports->confirm, now + CONFIRM_EVERY_NS);
	}
}

void gid_imports_confirm(struct gid_endpoint *endpoint) {
	struct gid_imports *imports = (struct gid_imports *)endpoint;
	while (imports->oldest != NULL) {
		gid_import_revoke(imports->oldest);
	}
	for (struct gid_slab *slab = imports->domain->slabs; slab != NULL; slab = slab->next) {
		slab->confirm = GID_CONFIRM_ASK;
	}
	imports->confirm_until = gid_socket_now() + CONFIRM_NS;
	gid_imports_confirm_due(imports);
}
