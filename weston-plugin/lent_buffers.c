// SPDX-License-Identifier: MIT
#include "lent_buffers.h"

#include <gid/domain.h>
#include <stdlib.h>

#include "libweston_exports.h"

static void lent_buffer_destroy(struct lent_buffer *lent) {
	wl_list_remove(&lent->link);
	weston_buffer_reference(&lent->buffer, NULL, BUFFER_WILL_NOT_BE_ACCESSED);
	weston_buffer_release_reference(&lent->release, NULL);
	gid_slab_give(lent->slab, gid_slot_of(lent->gid)); /* frees the slot of a copy */
	gid_slab_unref(lent->slab);
	free(lent);
}

static struct lent_buffer *find(struct wl_list *list, gid_id gid) {
	struct lent_buffer *lent;
	wl_list_for_each(lent, list, link) {
		if (lent->gid == gid) {
			return lent;
		}
	}
	return NULL;
}

struct lent_buffer *lent_buffers_add(struct wl_list *list, const struct forward_picture *picture) {
	struct lent_buffer *lent = find(list, picture->gid);
	if (lent == NULL) {
		lent = calloc(1, sizeof(*lent));
		if (lent == NULL) {
			return NULL;
		}
		lent->gid = picture->gid;
		lent->is_copy = picture->buffer == NULL;
		lent->slab = gid_slab_ref(picture->slab);
		wl_list_insert(list, &lent->link);
	}
	if (picture->buffer != NULL) {
		weston_buffer_reference(&lent->buffer, picture->buffer, BUFFER_MAY_BE_ACCESSED);
		weston_buffer_release_reference(&lent->release, picture->release);
	}
	return lent;
}

void lent_buffers_give_back(struct wl_list *list, const struct lent_buffer *shown) {
	struct lent_buffer *lent, *next;
	wl_list_for_each_safe(lent, next, list, link) {
		if (lent != shown && gid_slab_holders(lent->slab, gid_slot_of(lent->gid)) == 0) {
			lent_buffer_destroy(lent);
		}
	}
}

void lent_buffers_end(struct wl_list *list) {
	struct lent_buffer *lent, *next;
	wl_list_for_each_safe(lent, next, list, link) {
		lent_buffer_destroy(lent);
	}
}
