// SPDX-License-Identifier: MIT
#include "hidden.h"

static const struct {
	const char *name, *text;
} reasons[] = {
		[GID_HIDDEN_UNSAID] = {"", "the producer hides the surface"},
		[GID_HIDDEN_EMPTY] = {"empty", "the surface has no picture, or is gone"},
		[GID_HIDDEN_SIZE] = {"size", "the picture has another size than the role"},
		[GID_HIDDEN_CROP] = {"crop", "the part that the surface shows cannot be sent"},
		[GID_HIDDEN_SUBSURFACE] = {"subsurface",
				"subsurfaces are too many, or reach beyond the surface"},
		[GID_HIDDEN_FORMAT] = {"format",
				"the picture's format can be neither lent nor copied"},
		[GID_HIDDEN_DMABUF] = {"dmabuf",
				"the picture lies in dma-bufs that cannot be lent"},
		[GID_HIDDEN_COPY] = {"copy",
				"the picture could only be copied, which is forbidden"},
		[GID_HIDDEN_MEMORY] = {"memory",
				"there is no memory for a copy, or the picture's may not be lent"},
		[GID_HIDDEN_GONE] = {"gone", "the picture's memory was taken back"},
};

const char *hidden_name(enum gid_hidden hidden) {
	return reasons[hidden].name;
}

const char *hidden_text(enum gid_hidden hidden) {
	return reasons[hidden].text;
}
