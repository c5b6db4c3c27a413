// SPDX-License-Identifier: MIT
#include "hashes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DIGITS (2 * sizeof(struct digest))
#define LINE_SIZE 1024 /* of a comment, too */

/* The place of the first one that is not smaller. */
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

/* Makes room for one more. */
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

/* Puts it behind all others: hashes_sort() puts it in its place. */
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

/* Sorts all, and leaves each only once. */
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
		/* Without an end it is too long, or has a zero in it, as a device has without end.
		 */
		bool whole = strchr(line, '\n') != NULL || feof(file);
		error = whole ? hashes_append_line(hashes, line) : -EINVAL;
	}
	if (error == 0 && ferror(file)) {
		error = -EIO;
	}
	hashes_sort(hashes);
	fclose(file);
	return error;
}

int hashes_write(const struct hashes *hashes, const char *path) {
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
	fprintf(file, "# SHA-256 of every picture that may be shown; gid-cluster(1)\n");
	for (size_t i = 0; i < hashes->count; i++) {
		for (size_t k = 0; k < sizeof(hashes->list[i].bytes); k++) {
			fprintf(file, "%02x", hashes->list[i].bytes[k]);
		}
		fputc('\n', file);
	}
	bool failed = ferror(file) || fflush(file) != 0;
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
