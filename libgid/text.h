// SPDX-License-Identifier: MIT
/** Text of strangers: what of it is UTF-8 that can be shown. Pure: any bytes are fine. */
#ifndef GID_TEXT_H
#define GID_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Characters that show nothing themselves, but change how a line is shown that others stand in:
 * they turn its direction, break it, or hide. Not the joiners U+200C and U+200D, which words are
 * written with.
 */
static inline bool is_formatting(uint32_t code) {
	static const struct {
		uint32_t first, last;
	} ranges[] = {
			{0x00ad, 0x00ad},   /* a hyphen that is not seen */
			{0x061c, 0x061c},   /* marks of direction */
			{0x180e, 0x180e},   /* no width */
			{0x200b, 0x200b},   /* no width */
			{0x200e, 0x200f},   /* marks of direction */
			{0x2028, 0x202e},   /* ends of lines; embeddings, overrides */
			{0x2060, 0x206f},   /* no width; isolates */
			{0xfeff, 0xfeff},   /* no width */
			{0xfff9, 0xfffb},   /* annotations */
			{0xe0000, 0xe007f}, /* tags */
	};
	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
		if (code >= ranges[i].first && code <= ranges[i].last) {
			return true;
		}
	}
	return false;
}

/*
 * The bytes that the UTF-8 character at `bytes` takes, at most `size`, and its code; 0 for a
 * malformed one (RFC 3629: no overlong form, no surrogate, nothing past U+10FFFF).
 */
static inline size_t utf8_read(const char *bytes, size_t size, uint32_t *code) {
	const unsigned char *text = (const unsigned char *)bytes;
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	*code = text[0];
	if (text[0] < 0x80) {
		return 1;
	}
	size_t length = text[0] >= 0xf0 ? 4 : text[0] >= 0xe0 ? 3 : 2;
	if (text[0] < 0xc2 || text[0] > 0xf4 || length > size) {
		return 0;
	}
	*code &= 0x7fu >> length;
	for (size_t i = 1; i < length; i++) {
		if ((text[i] & 0xc0) != 0x80) {
			return 0;
		}
		*code = *code << 6 | (text[i] & 0x3f);
	}
	bool surrogate = *code >= 0xd800 && *code <= 0xdfff;
	return *code < least[length] || *code > 0x10ffff || surrogate ? 0 : length;
}

/* Of C0 and C1: they show nothing, and some terminals obey them. */
static inline bool is_control(uint32_t code) {
	return code < 0x20 || (code >= 0x7f && code < 0xa0);
}

/*
 * The same, and 0 also for a control character (C0, C1), or one that changes how others are shown.
 */
static inline size_t character_length(const char *bytes, size_t size) {
	uint32_t code;
	size_t length = utf8_read(bytes, size, &code);
	return is_control(code) || is_formatting(code) ? 0 : length;
}

#endif
