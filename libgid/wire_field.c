// SPDX-License-Identifier: MIT
/** Texts and names in messages. */
#include "wire_field.h"

#include <string.h>

/*
 * The bytes that the UTF-8 character at `text` takes, at most `size`; 0 for a malformed one (RFC
 * 3629: no overlong form, no surrogate, nothing past U+10FFFF) or a control character (C0, C1).
 */
static size_t character_length(const unsigned char *text, size_t size) {
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	if (text[0] < 0x80) {
		return text[0] >= 0x20 && text[0] != 0x7f ? 1 : 0;
	}
	size_t length = text[0] >= 0xf0 ? 4 : text[0] >= 0xe0 ? 3 : 2;
	if (text[0] < 0xc2 || text[0] > 0xf4 || length > size) {
		return 0;
	}
	uint32_t code = text[0] & (0x7fu >> length);
	for (size_t i = 1; i < length; i++) {
		if ((text[i] & 0xc0) != 0x80) {
			return 0;
		}
		code = code << 6 | (text[i] & 0x3f);
	}
	bool surrogate = code >= 0xd800 && code <= 0xdfff;
	if (code < least[length] || code > 0x10ffff || surrogate || code < 0xa0) {
		return 0;
	}
	return length;
}

bool gid_wire_text_is_valid(const char *text, size_t length) {
	size_t used = 0;
	while (used < length) {
		size_t step = character_length((const unsigned char *)text + used, length - used);
		if (step == 0) {
			return false;
		}
		used += step;
	}
	return true;
}

bool gid_field_is_text(const char *field, size_t size) {
	size_t length = strnlen(field, size);
	if (length == size || !gid_wire_text_is_valid(field, length)) {
		return false;
	}
	for (size_t i = length; i < size; i++) {
		if (field[i] != '\0') {
			return false;
		}
	}
	return true;
}

bool gid_field_is_name(const char *field, size_t size) {
	return gid_field_is_text(field, size) && gid_name_is_valid(field);
}
