// SPDX-License-Identifier: MIT
#include "accepted.h"

#include <drm_fourcc.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../convert/to_rgb.h"
#include "ini_file.h"

/* As enum wl_output_transform counts them. */
static const char *const transform_names[] = {"normal", "90", "180", "270", "flipped", "flipped-90",
		"flipped-180", "flipped-270"};
#define TRANSFORMS (sizeof(transform_names) / sizeof(transform_names[0]))

const struct accepted accepted_plain = {
		.formats = {DRM_FORMAT_XRGB8888, DRM_FORMAT_ARGB8888},
		.format_count = 2,
		.transforms = 1,
};
const struct accepted accepted_any = {.any_format = true, .transforms = (1u << TRANSFORMS) - 1};

/* --- the configuration ------------------------------------------------------------------------ */

/* Returns whether the word is one that there is. */
typedef bool (*take_word_func)(struct accepted *accepted, const char *word);

static void take_words(struct accepted *accepted, struct ini_file *ini, const char *value,
		take_word_func take, const char *key, const char *wanted) {
	char *list = strdup(value), *rest = list;
	if (list == NULL) {
		ini->result = -ENOMEM;
	}
	while (rest != NULL) {
		char *word = strsep(&rest, ",");
		word += strspn(word, " \t");
		word[strcspn(word, " \t")] = '\0';
		if (!take(accepted, word)) {
			ini_file_mistake(ini, "%s=%s: \"%s\" is not %s", key, value, word, wanted);
			break;
		}
	}
	free(list);
}

static bool can_be_shown(uint32_t fourcc) {
	return to_rgb_can(fourcc) && !to_rgb_is_slow(fourcc);
}

static bool take_format(struct accepted *accepted, const char *word) {
	if (strcmp(word, "any") == 0) {
		accepted->any_format = true;
		return true;
	}
	if (strlen(word) != 4 || accepted->format_count == GID_SHOWABLE_MAX) {
		return false;
	}
	uint32_t fourcc = fourcc_code(word[0], word[1], word[2], word[3]);
	accepted->formats[accepted->format_count++] = fourcc;
	return can_be_shown(fourcc);
}

void accepted_set_formats(struct accepted *accepted, struct ini_file *ini, const char *value) {
	accepted->any_format = false;
	accepted->format_count = 0;
	take_words(accepted, ini, value, take_format, "formats",
			"the code of a format that can be shown, such as XR24, AR24 or NV12, or any");
}

static bool take_transform(struct accepted *accepted, const char *word) {
	if (strcmp(word, "any") == 0) {
		accepted->transforms = accepted_any.transforms;
		return true;
	}
	for (uint32_t i = 0; i < TRANSFORMS; i++) {
		if (strcmp(word, transform_names[i]) == 0) {
			accepted->transforms |= 1u << i;
			return true;
		}
	}
	return false;
}

void accepted_set_transforms(struct accepted *accepted, struct ini_file *ini, const char *value) {
	accepted->transforms = 0;
	take_words(accepted, ini, value, take_transform, "transform",
			"normal, 90, 180, 270, flipped, flipped-90, flipped-180, flipped-270 or "
			"any");
}

/* --- frames ----------------------------------------------------------------------------------- */

bool accepted_has_format(const struct accepted *accepted, uint32_t fourcc) {
	bool found = accepted->any_format;
	for (uint32_t i = 0; i < accepted->format_count && !found; i++) {
		found = accepted->formats[i] == fourcc;
	}
	return found && can_be_shown(fourcc);
}

bool accepted_has_transform(const struct accepted *accepted, uint32_t transform) {
	return transform < TRANSFORMS && (accepted->transforms & 1u << transform);
}

void accepted_format_name(uint32_t fourcc, char name[5]) {
	for (int i = 0; i < 4; i++) {
		name[i] = (char)(fourcc >> 8 * i);
	}
	name[4] = '\0';
}

const char *accepted_transform_name(uint32_t transform) {
	return transform < TRANSFORMS ? transform_names[transform] : "?";
}
