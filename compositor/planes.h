// SPDX-License-Identifier: MIT
/** The memory of a picture: the slabs that its planes lie in, which may be one or several. */
#ifndef GID_COMPOSITOR_PLANES_H
#define GID_COMPOSITOR_PLANES_H

#include "picture.h"

struct planes;

struct plane {
	struct planes *planes;
	struct gid_slab *slab; /* our reference, or NULL */
	bool listening;	       /* for the slab's revocation */
};

/* From within gid_domain_dispatch(), each once at most. */
struct planes_events {
	void (*imported)(void *data, int error); /* after -EINPROGRESS */
	void (*revoked)(void *data);		 /* the slabs were dropped */
};

struct planes {
	struct picture picture;
	struct plane plane[GID_PLANES_MAX];
	uint32_t pending; /* imports under way */
	struct gid_domain *domain;
	const struct planes_events *events;
	void *data;
};

void planes_init(struct planes *planes, const struct picture *picture,
		const struct planes_events *events, void *data);

/* Returns 0: the slabs are there; -EINPROGRESS; or why not, and then nothing is held. */
int planes_import(struct planes *planes, struct gid_domain *domain);

/*
 * From now on `revoked` is called when a slab is revoked. Returns 0; or -ENOMEM, -ENOENT: then it
 * may not be, so the picture must not be shown, and the slabs are to be dropped.
 */
int planes_listen(struct planes *planes);

/* Gives the slabs back, and cancels imports. May be called at any time, also twice. */
void planes_drop(struct planes *planes);

static inline bool planes_are_there(const struct planes *planes) {
	return planes->plane[0].slab != NULL && planes->pending == 0;
}

/* Whether the slabs hold what the picture says: 0 or an error of picture_check_plane(). */
int planes_check(const struct planes *planes);

/*
 * The first row of a picture that a processor can read: linear, of one plane, in words of four
 * bytes. Otherwise NULL. planes_check() has looked for its pages: nothing of the slot is touched,
 * of which a stranger chooses how large it is.
 */
const void *planes_view(const struct planes *planes);

/* Where a plane begins in the file of its slab, which must be there. */
uint64_t planes_offset(const struct planes *planes, uint32_t plane);

/* The dma-bufs of the planes, for a renderer. The descriptors stay the slabs'. */
struct planes_dmabuf {
	int fd[GID_PLANES_MAX];
	uint32_t offset[GID_PLANES_MAX];
};

/* Returns whether the planes lie in dma-bufs, or in windows that the kernel makes dma-bufs of. */
bool planes_get_dmabuf(const struct planes *planes, struct planes_dmabuf *dmabuf);

#endif
