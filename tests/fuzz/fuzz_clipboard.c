// SPDX-License-Identifier: MIT
/*
 * Any bytes as a frame of a clipboard: what is read of them is a text within bounds, and the same
 * when it is written and read again. The bytes are a text, too, or none.
 */
#include "../../common/input/clipboard_format.h"

#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "text.h"

static void demand_text(const char *text, size_t size) {
	demand(size > 0 && size <= CLIPBOARD_TEXT_MAX && memchr(text, '\0', size) == NULL);
	for (size_t at = 0, length; at < size; at += length) {
		uint32_t code;
		length = utf8_read(text + at, size - at, &code);
		demand(length > 0 && (!is_control(code) || strchr("\t\n\r", (int)code) != NULL));
	}
}

static void try_again(void *slot, const char *text, size_t size) {
	static char again[CLIPBOARD_TEXT_MAX];
	demand_text(text, size);
	clipboard_frame_write(slot, text, size);
	demand(clipboard_frame_read(again, slot) == (int)size && memcmp(again, text, size) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	char *slot = calloc(1, clipboard_form.slot_size);
	char *text = malloc(CLIPBOARD_TEXT_MAX); /* of its own size: what is beyond is found */
	demand(slot != NULL && text != NULL);
	memcpy(slot, data, size < clipboard_form.slot_size ? size : clipboard_form.slot_size);
	if (size > 0 && data[0] % 2 == 0) {
		memcpy(slot, &(uint64_t){CLIPBOARD_MAGIC}, 8);
		memset(slot + 12, 0, 52);
	}
	int length = clipboard_frame_read(text, slot);
	if (length > 0) {
		try_again(slot, text, (size_t)length);
	}
	demand(length != 0);
	char *bytes = malloc(size > 0 ? size : 1);
	demand(bytes != NULL);
	memcpy(bytes, data, size);
	if (clipboard_text_is_valid(bytes, size)) {
		try_again(slot, bytes, size);
	}
	free(bytes);
	free(text);
	free(slot);
	return 0;
}
