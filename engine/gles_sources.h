// SPDX-License-Identifier: MIT
/** Pictures as textures: where they are, if they are dma-bufs, else copied. */
#ifndef ENGINE_GLES_SOURCES_H
#define ENGINE_GLES_SOURCES_H

#include "back_end.h"
#include "gles_device.h"

/* Whether layers of the format can be drawn. */
bool gles_source_can(const struct gid_layout *layout);

/* From where a layer of such a format has its colours. */
enum gles_kind gles_source_kind(const struct gid_layout *layout);

/*
 * Makes the box of a picture the source of what is drawn next, by the program of its kind. The
 * layout was checked. Returns 0;
 * -ENOTSUP; -ECANCELED: the drawing's go_on ended it.
 */
int gles_source_set(struct drawing *drawing, const struct picture *source,
		const struct engine_layer *layer, const pixman_box32_t *box);

/* The same for the bytes of a picture of format R8. */
int gles_source_set_mask(
		struct drawing *drawing, const struct picture *source, const pixman_box32_t *box);

#endif
