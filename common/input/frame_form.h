// SPDX-License-Identifier: MIT
/**
 * The memory of streams that are no pictures: frames of one published form, each in a slot of a
 * slab of bytes, whose layout has no meaning but its size.
 */
#ifndef GID_FRAME_FORM_H
#define GID_FRAME_FORM_H

#include <stdbool.h>
#include <stdint.h>

#define FRAME_FORM_FOURCC 0x20203852u /* DRM_FORMAT_R8 */

struct frame_form {
	const char *what; /* it is, as in "no input" */
	const char *caps; /* of who sends it */
	uint32_t width, height;
	uint32_t slot_size; /* bytes: width * height */
	uint32_t slots;	    /* for what readers hold, and one to write */
	bool keeps_shown;   /* who comes late begins with the frame of before */
	bool forgets;	    /* who comes late finds nothing of before, wherever they look */
};

#endif
