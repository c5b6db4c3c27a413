// SPDX-License-Identifier: MIT
#include "dmabuf_exports.h"

#include "client_dmabuf.h"
#include <stdlib.h>

/*
 * Of one role. A client draws into three or four in turn; of more, those that were not shown for
 * longest are forgotten, and exported again when they are shown again.
 */
#define EXPORTS_MAX 32

struct dmabuf_export {
	struct wl_list link;
	struct dmabuf_exports *exports;
	struct wl_resource *resource; /* the wl_buffer */
	struct wl_listener resource_destroy;
	struct gid_slab *slab;
};

static void export_destroy(struct dmabuf_export *export) {
	wl_list_remove(&export->resource_destroy.link);
	wl_list_remove(&export->link);
	export->exports->count--;
	gid_slab_unref(export->slab);
	free(export);
}

static void handle_resource_destroy(struct wl_listener *listener, void *data) {
	struct dmabuf_export *export = wl_container_of(listener, export, resource_destroy);
	export_destroy(export);
}

void dmabuf_exports_init(struct dmabuf_exports *exports) {
	wl_list_init(&exports->list);
	exports->count = 0;
}

void dmabuf_exports_finish(struct dmabuf_exports *exports) {
	struct dmabuf_export *export, *next;
	wl_list_for_each_safe(export, next, &exports->list, link) {
		export_destroy(export);
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

static bool refuse(struct refusal *refusal, enum gid_hidden hidden, const char *text) {
	*refusal = (struct refusal){hidden, text};
	return false;
}

/* Memory of one slot has no generations: what was taken back by force is a slab no more. */
static bool is_revoked(const struct gid_slab *slab) {
	struct gid_slab_info info;
	gid_slab_get_info(slab, &info);
	return info.revoked;
}

static bool export_buffer(struct gid_domain *domain, const struct weston_buffer *buffer,
		struct gid_slab **slab, struct refusal *refusal) {
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
	int error = gid_slab_export(domain, fd, offset, &layout, NULL, slab);
	if (error != 0) {
		return refuse(refusal, GID_HIDDEN_MEMORY, gid_strerror(error));
	}
	if (gid_slab_view(*slab, 0) == NULL) {
		gid_slab_unref(*slab);
		return refuse(refusal, GID_HIDDEN_DMABUF,
				"the processor cannot read the dma-buf, so that nobody could check "
				"the picture");
	}
	return true;
}

static struct dmabuf_export *exports_add(struct dmabuf_exports *exports,
		struct wl_resource *resource, struct gid_slab *slab) {
	struct dmabuf_export *export = calloc(1, sizeof(*export));
	if (export == NULL) {
		return NULL;
	}
	export->exports = exports;
	export->resource = resource;
	export->slab = slab;
	export->resource_destroy.notify = handle_resource_destroy;
	wl_resource_add_destroy_listener(resource, &export->resource_destroy);
	wl_list_insert(&exports->list, &export->link);
	exports->count++;
	if (exports->count > EXPORTS_MAX) {
		struct dmabuf_export *oldest = wl_container_of(exports->list.prev, oldest, link);
		export_destroy(oldest);
	}
	return export;
}

struct gid_slab *dmabuf_exports_get(struct dmabuf_exports *exports, struct gid_domain *domain,
		const struct weston_buffer *buffer, struct refusal *refusal) {
	struct dmabuf_export *export = exports_find(exports, buffer->resource);
	if (export != NULL && is_revoked(export->slab)) {
		export_destroy(export);
		export = NULL;
	}
	if (export != NULL) {
		wl_list_remove(&export->link);
		wl_list_insert(&exports->list, &export->link);
		return export->slab;
	}
	struct gid_slab *slab;
	if (!export_buffer(domain, buffer, &slab, refusal)) {
		return NULL;
	}
	if (exports_add(exports, buffer->resource, slab) == NULL) {
		gid_slab_unref(slab);
		refuse(refusal, GID_HIDDEN_MEMORY, "there is no memory to remember the dma-buf");
		return NULL;
	}
	return slab;
}
