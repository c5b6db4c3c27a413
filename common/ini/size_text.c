// SPDX-License-Identifier: MIT
#include "size_text.h"

#include <stddef.h>

const char *size_text_number(const char *text, uint32_t least, uint32_t most, uint32_t *number) {
	uint64_t sum = 0;
	const char *at = text;
	while (*at >= '0' && *at <= '9' && sum <= most) {
		sum = 10 * sum + (uint64_t)(*at++ - '0');
	}
	if (at == text || sum < least || sum > most) {
		return NULL;
	}
	*number = (uint32_t)sum;
	return at;
}

const char *size_text_read(const char *text, uint32_t most, uint32_t *width, uint32_t *height) {
	uint32_t x, y;
	const char *end = size_text_number(text, 1, most, &x);
	end = end != NULL && *end == 'x' ? size_text_number(end + 1, 1, most, &y) : NULL;
	if (end != NULL) {
		*width = x;
		*height = y;
	}
	return end;
}
