// SPDX-License-Identifier: MIT
#include "hashes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The place of the first hash that is not smaller. */
static size_t hashes_place(const struct hashes *hashes, uint64_t hash) {
	size_t low = 0, high = hashes->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (hashes->list[middle] < hash) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low;
}

int hashes_add(struct hashes *hashes, uint64_t hash) {
	size_t place = hashes_place(hashes, hash);
	if (place < hashes->count && hashes->list[place] == hash) {
		return 0;
	}
	if (hashes->count == hashes->capacity) {
		size_t capacity = hashes->capacity ? hashes->capacity * 2 : 64;
		uint64_t *list = reallocarray(hashes->list, capacity, sizeof(*list));
		if (list == NULL) {
			return -ENOMEM;
		}
		hashes->list = list;
		hashes->capacity = capacity;
	}
	memmove(hashes->list + place + 1, hashes->list + place,
		(hashes->count - place) * sizeof(hashes->list[0]));
	hashes->list[place] = hash;
	hashes->count++;
	return 1;
}

static int hashes_add_line(struct hashes *hashes, char *line) {
	line[strcspn(line, "#\r\n")] = '\0';
	line += strspn(line, " \t");
	size_t digits = strspn(line, "0123456789abcdefABCDEF");
	if (line[0] == '\0') {
		return 0;
	}
	if (digits != 16 || line[16 + strspn(line + 16, " \t")] != '\0') {
		return -EINVAL;
	}
	line[16] = '\0';
	return hashes_add(hashes, strtoull(line, NULL, 16));
}

int hashes_read(struct hashes *hashes, const char *path) {
	FILE *file = fopen(path, "re");
	if (file == NULL) {
		return -errno;
	}
	char *line = NULL;
	size_t capacity = 0;
	int ret = 0;
	while (ret >= 0 && getline(&line, &capacity, file) >= 0) {
		ret = hashes_add_line(hashes, line);
	}
	if (ret >= 0 && ferror(file)) {
		ret = -EIO;
	}
	free(line);
	fclose(file);
	return ret < 0 ? ret : 0;
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
	fprintf(file, "# XXH3-64 of every picture that may be shown; gid-cluster(1)\n");
	for (size_t i = 0; i < hashes->count; i++) {
		fprintf(file, "%016" PRIx64 "\n", hashes->list[i]);
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
