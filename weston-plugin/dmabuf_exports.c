// SPDX-License-Identifier: MIT
#include "dmabuf_exports.h"

#include <stdlib.h>

#include "client_dmabuf.h"

/*
 * The exports of one role. A client draws into three or four buffers in turn. Beyond the limit, the
 * least recently shown one is dropped, and exported again when it is shown again.
 */
#define EXPORTS_MAX 32

/* Exports that a gidd which hangs did not answer: no more are requested. */
#define EXPORTING_MAX 8

struct dmabuf_export {
	struct wl_list link;
	struct dmabuf_exports *exports;
	struct wl_resource *resource; /* the wl_buffer; NULL: destroyed before gidd answered */
	struct wl_listener resource_destroy;
	struct gid_slab *slab; /* NULL: the export failed, see `refusal` */
	bool exporting;
	struct refusal refusal;
};

static void export_forget_resource(struct dmabuf_export *export) {
	if (export->resource != NULL) {
		wl_list_remove(&export->resource_destroy.link);
		export->resource = NULL;
	}
}

static void export_destroy(struct dmabuf_export *export) {
	export_forget_resource(export);
	wl_list_remove(&export->link);
	export->exports->count--;
	export->exports->exporting -= export->exporting;
	gid_slab_unref(export->slab);
	free(export);
}

/* No surface shows it any more. */
static void export_let_go(struct dmabuf_export *export) {
	if (export->exporting) {
		export_forget_resource(export);
	} else {
		export_destroy(export);
	}
}

static void handle_resource_destroy(struct wl_listener *listener, void *data) {
	struct dmabuf_export *export = wl_container_of(listener, export, resource_destroy);
	export_let_go(export);
}

void dmabuf_exports_init(struct dmabuf_exports *exports, void (*settled)(void *data), void *data) {
	*exports = (struct dmabuf_exports){.settled = settled, .data = data};
	wl_list_init(&exports->list);
}

void dmabuf_exports_finish(struct dmabuf_exports *exports) {
	struct dmabuf_export *export, *next;
	wl_list_for_each_safe(export, next, &exports->list, link) {
		export_destroy(export);
	}
}

void dmabuf_exports_forget(struct dmabuf_exports *exports) {
	struct dmabuf_export *export, *next;
	wl_list_for_each_safe(export, next, &exports->list, link) {
		export_let_go(export);
	}
}

static struct dmabuf_export *exports_find(
		struct dmabuf_exports *exports, const struct wl_resource *resource) {
	struct dmabuf_export *export;
	wl_list_for_each(export, &exports->list, link) {
		if (export->resource == resource) {
			return export;
		}
	}
	return NULL;
}

/* --- from a buffer to a slab ------------------------------------------------------------------ */

static bool refuse(struct refusal *refusal, enum gid_hidden hidden, const char *text) {
	*refusal = (struct refusal){hidden, text};
	return false;
}

/* An exported slab of one slot has no generations: if it was reclaimed by force, it is revoked. */
static bool is_revoked(const struct gid_slab *slab) {
	struct gid_slab_info info;
	gid_slab_get_info(slab, &info);
	return info.revoked;
}

static void export_fail(struct dmabuf_export *export, enum gid_hidden hidden, const char *text) {
	refuse(&export->refusal, hidden, text);
	gid_slab_unref(export->slab);
	export->slab = NULL;
}

static void handle_exported(void *data, int error, struct gid_slab *slab) {
	struct dmabuf_export *export = data;
	struct dmabuf_exports *exports = export->exports;
	export->exporting = false;
	exports->exporting--;
	if (export->resource == NULL) {
		export_destroy(export);
	} else if (error != 0) {
		export_fail(export, GID_HIDDEN_MEMORY, gid_strerror(error));
	} else if (gid_slab_view(slab, 0) == NULL) {
		export_fail(export, GID_HIDDEN_DMABUF,
				"the processor cannot read the dma-buf, so that nobody could check "
				"the picture");
	}
	exports->settled(exports->data);
}

/* Requests the export from gidd. */
static bool export_begin(struct dmabuf_export *export, struct gid_domain *domain,
		const struct weston_buffer *buffer, struct refusal *refusal) {
	struct dmabuf_claim claim;
	struct gid_layout layout;
	uint64_t offset;
	int fd;
	if (!client_dmabuf_read(buffer, &claim, &fd)) {
		return refuse(refusal, GID_HIDDEN_DMABUF,
				"this version of Weston keeps dma-bufs in a way that the module "
				"does not know");
	}
	if (!dmabuf_claim_check(&claim, &layout, &offset, refusal)) {
		return false;
	}
	int error = gid_slab_export_async(
			domain, fd, offset, &layout, NULL, handle_exported, export, &export->slab);
	return error == 0 || refuse(refusal, GID_HIDDEN_MEMORY, gid_strerror(error));
}

/* Drops the export that was least recently shown. */
static void exports_drop_one(struct dmabuf_exports *exports) {
	struct dmabuf_export *export;
	wl_list_for_each_reverse(export, &exports->list, link) {
		if (!export->exporting) {
			export_destroy(export);
			return;
		}
	}
}

static bool exports_add(struct dmabuf_exports *exports, struct gid_domain *domain,
		const struct weston_buffer *buffer, struct refusal *refusal) {
	struct dmabuf_export *export = calloc(1, sizeof(*export));
	if (export == NULL) {
		return refuse(refusal, GID_HIDDEN_MEMORY,
				"there is no memory to remember the dma-buf");
	}
	if (!export_begin(export, domain, buffer, refusal)) {
		free(export);
		return false;
	}
	export->exporting = true;
	export->exports = exports;
	export->resource = buffer->resource;
	export->resource_destroy.notify = handle_resource_destroy;
	wl_resource_add_destroy_listener(buffer->resource, &export->resource_destroy);
	wl_list_insert(&exports->list, &export->link);
	exports->exporting++;
	exports->count++;
	if (exports->count > EXPORTS_MAX) {
		exports_drop_one(exports);
	}
	return true;
}

enum dmabuf_found dmabuf_exports_get(struct dmabuf_exports *exports, struct gid_domain *domain,
		const struct weston_buffer *buffer, struct gid_slab **slab,
		struct refusal *refusal) {
	struct dmabuf_export *export = exports_find(exports, buffer->resource);
	if (export != NULL && export->slab == NULL) {
		*refusal = export->refusal; /* the next commit tries again */
		export_destroy(export);
		return DMABUF_REFUSED;
	}
	if (export != NULL && !export->exporting && is_revoked(export->slab)) {
		export_destroy(export);
		export = NULL;
	}
	if (export == NULL) {
		if (exports->exporting >= EXPORTING_MAX) {
			return DMABUF_LATER;
		}
		return exports_add(exports, domain, buffer, refusal) ? DMABUF_LATER
								     : DMABUF_REFUSED;
	}
	wl_list_remove(&export->link);
	wl_list_insert(&exports->list, &export->link);
	*slab = export->slab;
	return export->exporting ? DMABUF_LATER : DMABUF_FOUND;
}
