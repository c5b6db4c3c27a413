// SPDX-License-Identifier: MIT
/*
 * To be preloaded: memory has a fault. Where the file SPOILED_COMPOSITION is, it is removed, and
 * one bit of the next picture that is composed changes, once, in the place of a role.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
#include <wlr/types/wlr_buffer.h>

/* Of tests/safety/test_composed.py: the output, and a pixel in the role's place. */
#define OUTPUT_WIDTH 640
#define X 50
#define Y 30

static uint8_t *drawn; /* what is being drawn; NULL: nothing */
static size_t row;

bool wlr_buffer_begin_data_ptr_access(struct wlr_buffer *buffer, uint32_t flags, void **data,
		uint32_t *format, size_t *stride) {
	__typeof__(&wlr_buffer_begin_data_ptr_access) real = (__typeof__(real))(uintptr_t)dlsym(
			RTLD_NEXT, "wlr_buffer_begin_data_ptr_access");
	bool begun = real(buffer, flags, data, format, stride);
	if (begun && (flags & WLR_BUFFER_DATA_PTR_ACCESS_WRITE) && buffer->width == OUTPUT_WIDTH) {
		drawn = *data;
		row = *stride;
	}
	return begun;
}

void wlr_buffer_end_data_ptr_access(struct wlr_buffer *buffer) {
	__typeof__(&wlr_buffer_end_data_ptr_access) real = (__typeof__(real))(uintptr_t)dlsym(
			RTLD_NEXT, "wlr_buffer_end_data_ptr_access");
	const char *path = getenv("SPOILED_COMPOSITION");
	if (drawn != NULL && path != NULL && unlink(path) == 0) {
		((uint32_t *)(drawn + Y * row))[X] ^= 1u << 8;
	}
	drawn = NULL;
	real(buffer);
}
