// SPDX-License-Identifier: MIT
#include "foreign_json.h"

#include <errno.h>
#include <string.h>

#include "text.h"

static bool text_can_be_shown(const char *text) {
	size_t size = strlen(text), length = 1;
	for (; size > 0 && length > 0; text += length, size -= length) {
		length = *text == '\n' || *text == '\t' ? 1 : character_length(text, size);
	}
	return size == 0;
}

/* The keys of an object are among its elements. How deep it is, the parser has bounded. */
static bool can_be_shown(sd_json_variant *value) {
	if (sd_json_variant_is_string(value)) {
		return text_can_be_shown(sd_json_variant_string(value));
	}
	bool has_parts = sd_json_variant_is_array(value) || sd_json_variant_is_object(value);
	size_t count = has_parts ? sd_json_variant_elements(value) : 0;
	for (size_t i = 0; i < count; i++) {
		if (!can_be_shown(sd_json_variant_by_index(value, i))) {
			return false;
		}
	}
	return true;
}

const char *foreign_json_line(sd_json_variant *value) {
	const char *text = value != NULL && sd_json_variant_is_string(value)
			? sd_json_variant_string(value)
			: "";
	return strpbrk(text, "\n\t") == NULL ? text : "";
}

int foreign_json_parse(const char *text, sd_json_variant **value) {
	sd_json_variant *parsed = NULL;
	int error = sd_json_parse(text, 0, &parsed, NULL, NULL);
	if (error >= 0 && !can_be_shown(parsed)) {
		sd_json_variant_unref(parsed);
		error = -EILSEQ;
	}
	if (error < 0) {
		return error;
	}
	*value = parsed;
	return 0;
}
