// SPDX-License-Identifier: MIT
#include "accepted.h"

#include <drm_fourcc.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../common/convert/to_rgb.h"
#include "ini_file.h"

/* In the order of enum wl_output_transform. */
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

/* Returns whether the word is valid. */
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

/* --- pictures --------------------------------------------------------------------------------- */

#define DIGITS (2 * sizeof(struct digest))
#define LINE_SIZE 1024 /* the longest line, comments included */

/* The index of the first entry that is not smaller. */
static size_t hashes_place(const struct hashes *hashes, const struct digest *digest) {
	size_t low = 0, high = hashes->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (memcmp(&hashes->list[middle], digest, sizeof(*digest)) < 0) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low;
}

static bool is_at(const struct hashes *hashes, size_t place, const struct digest *digest) {
	return place < hashes->count && memcmp(&hashes->list[place], digest, sizeof(*digest)) == 0;
}

bool hashes_have(const struct hashes *hashes, const struct digest *digest) {
	return is_at(hashes, hashes_place(hashes, digest), digest);
}

/* Makes room for one more entry. */
static int hashes_grow(struct hashes *hashes) {
	if (hashes->count < hashes->capacity) {
		return 0;
	}
	size_t capacity = hashes->capacity ? hashes->capacity * 2 : 64;
	struct digest *list = reallocarray(hashes->list, capacity, sizeof(*list));
	if (list == NULL) {
		return -ENOMEM;
	}
	hashes->list = list;
	hashes->capacity = capacity;
	return 0;
}

int hashes_add(struct hashes *hashes, const struct digest *digest) {
	size_t place = hashes_place(hashes, digest);
	if (is_at(hashes, place, digest)) {
		return 0;
	}
	int error = hashes_grow(hashes);
	if (error < 0) {
		return error;
	}
	memmove(hashes->list + place + 1, hashes->list + place,
			(hashes->count - place) * sizeof(hashes->list[0]));
	hashes->list[place] = *digest;
	hashes->count++;
	return 1;
}

/* Appends the digest of a line. hashes_sort() brings the list in order. */
static int hashes_append_line(struct hashes *hashes, char *line) {
	line[strcspn(line, "#\r\n")] = '\0';
	line += strspn(line, " \t");
	size_t digits = strspn(line, "0123456789abcdefABCDEF");
	if (line[0] == '\0') {
		return 0;
	}
	if (digits != DIGITS || line[DIGITS + strspn(line + DIGITS, " \t")] != '\0') {
		return -EINVAL;
	}
	struct digest digest;
	for (size_t i = 0; i < sizeof(digest.bytes); i++) {
		char byte[] = {line[2 * i], line[2 * i + 1], '\0'};
		digest.bytes[i] = (uint8_t)strtoul(byte, NULL, 16);
	}
	int error = hashes_grow(hashes);
	if (error == 0) {
		hashes->list[hashes->count++] = digest;
	}
	return error;
}

static int compare(const void *one, const void *other) {
	return memcmp(one, other, sizeof(struct digest));
}

/* Sorts the list, and removes duplicates. */
static void hashes_sort(struct hashes *hashes) {
	size_t count = 0;
	if (hashes->count > 0) {
		qsort(hashes->list, hashes->count, sizeof(hashes->list[0]), compare);
	}
	for (size_t i = 0; i < hashes->count; i++) {
		if (count == 0 || compare(&hashes->list[count - 1], &hashes->list[i]) != 0) {
			hashes->list[count++] = hashes->list[i];
		}
	}
	hashes->count = count;
}

int hashes_read(struct hashes *hashes, const char *path) {
	FILE *file = fopen(path, "re");
	if (file == NULL) {
		return -errno;
	}
	char line[LINE_SIZE];
	int error = 0;
	while (error == 0 && fgets(line, sizeof(line), file) != NULL) {
		/*
		 * Else the line is too long, or has a zero byte in it, as /dev/zero has without
		 * end.
		 */
		bool whole = strchr(line, '\n') != NULL || feof(file);
		error = whole ? hashes_append_line(hashes, line) : -EINVAL;
	}
	if (error == 0 && ferror(file)) {
		error = -errno; /* set by the last read, for example of a folder */
	}
	hashes_sort(hashes);
	fclose(file);
	return error;
}

int hashes_write(const struct hashes *hashes, const char *before, const char *path) {
	char *partial;
	if (asprintf(&partial, "%s.partial", path) < 0) {
		return -ENOMEM;
	}
	int ret = 0;
	FILE *file = fopen(partial, "we");
	if (file == NULL) {
		ret = -errno;
		goto done;
	}
	fputs(before, file);
	for (size_t i = 0; i < hashes->count; i++) {
		for (size_t k = 0; k < sizeof(hashes->list[i].bytes); k++) {
			fprintf(file, "%02x", hashes->list[i].bytes[k]);
		}
		fputc('\n', file);
	}
	/* On the disk before it has its name: else a power cut could leave an empty file there. */
	bool failed = ferror(file) || fflush(file) != 0 || fsync(fileno(file)) != 0;
	if ((fclose(file) != 0 || failed) || rename(partial, path) != 0) {
		ret = errno != 0 ? -errno : -EIO;
		unlink(partial);
	}

done:
	free(partial);
	return ret;
}

void hashes_finish(struct hashes *hashes) {
	free(hashes->list);
	*hashes = (struct hashes){0};
}
