// SPDX-License-Identifier: MIT
/**
 * The memory of streams of other data than pictures: frames of one published form, each in a slot
 * of a slab of bytes. Only the size of the slab's layout has a meaning.
 */
#ifndef GID_FRAME_FORM_H
#define GID_FRAME_FORM_H

#include <stdbool.h>
#include <stdint.h>

#define FRAME_FORM_FOURCC 0x20203852u /* DRM_FORMAT_R8 */

struct frame_form {
	const char *what; /* the data, for messages: "no input" */
	const char *caps; /* the slab's description */
	uint32_t width, height;
	uint32_t slot_size; /* bytes: width * height */
	uint32_t slots;	    /* as many as readers may hold, and one to write */
	bool keeps_shown;   /* a new reader begins with the last frame */
	/* Frames that were read are wiped: a new reader finds nothing older in the memory. */
	bool forgets;
};

#endif
