// SPDX-License-Identifier: MIT
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <gid/protection.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../convert/visible.h"
#include "protection_sum.h"

#define DIGITS (2 * GID_PROTECTION_KEY_SIZE)

static const char *const names[] = {
		[GID_PROTECTION_NONE] = "none",
		[GID_PROTECTION_CRC64] = "crc64",
		[GID_PROTECTION_CMAC] = "cmac",
};
#define PROFILES (sizeof(names) / sizeof(names[0]))

const char *gid_protection_profile_name(enum gid_protection_profile profile) {
	return (size_t)profile < PROFILES ? names[profile] : NULL;
}

/* --- keys ------------------------------------------------------------------------------------- */

static bool parse_key(const char *text, size_t size, uint8_t key[GID_PROTECTION_KEY_SIZE]) {
	static const char digits[] = "0123456789abcdef";
	memset(key, 0, GID_PROTECTION_KEY_SIZE);
	for (size_t i = 0; i < size; i++) {
		const char *digit = i < DIGITS && text[i] != '\0'
				? strchr(digits, tolower((unsigned char)text[i]))
				: NULL;
		if (digit != NULL) {
			key[i / 2] = (uint8_t)(key[i / 2] << 4 | (digit - digits));
		} else if (i < DIGITS || !isspace((unsigned char)text[i])) {
			return false;
		}
	}
	return size >= DIGITS;
}

int gid_protection_read_key(const char *path, uint8_t key[GID_PROTECTION_KEY_SIZE]) {
	char text[DIGITS + 32];
	struct stat status;
	ssize_t size = -1;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	int error = fd < 0 || fstat(fd, &status) < 0 ? -errno : 0;
	if (error == 0 && (status.st_mode & (S_IWGRP | S_IRWXO)) != 0) {
		error = -EPERM;
	} else if (error == 0) {
		size = read(fd, text, sizeof(text));
		error = size < 0 ? -errno : 0;
	}
	if (error == 0 && (size == sizeof(text) || !parse_key(text, (size_t)size, key))) {
		error = -EINVAL;
	}
	explicit_bzero(text, sizeof(text));
	if (fd >= 0) {
		close(fd);
	}
	return error;
}

const char *gid_protection_key_error(int error) {
	switch (error) {
	case -EINVAL:
		return "it has not 32 hexadecimal digits";
	case -EPERM:
		return "others may read or write it: chmod 600";
	default:
		return strerror(-error);
	}
}

/* --- life ------------------------------------------------------------------------------------- */

static int set_profile(struct gid_protection *protection, enum gid_protection_profile profile,
		const uint8_t *key) {
	protection->profile = profile;
	switch (profile) {
	case GID_PROTECTION_CRC64:
#ifdef PROTECTION_HAS_CRC64
		return key == NULL ? 0 : -EINVAL;
#else
		return -ENOSYS;
#endif
	case GID_PROTECTION_CMAC:
		if (key == NULL) {
			return -EINVAL;
		}
#ifdef PROTECTION_HAS_CMAC
		cmac_aes128_set_key(&protection->keyed, key);
		return 0;
#else
		return -ENOSYS;
#endif
	case GID_PROTECTION_NONE:
		break;
	}
	return -EINVAL;
}

int gid_protection_create(enum gid_protection_profile profile, const char *stream,
		const uint8_t *key, struct gid_protection **result) {
	if (!gid_name_is_valid(stream)) {
		return -EINVAL;
	}
	struct gid_protection *protection = calloc(1, sizeof(*protection));
	if (protection == NULL) {
		return -ENOMEM;
	}
	int error = set_profile(protection, profile, key);
	if (error < 0) {
		gid_protection_destroy(protection);
		return error;
	}
	memcpy(protection->stream, stream, strlen(stream));
	*result = protection;
	return 0;
}

void gid_protection_destroy(struct gid_protection *protection) {
	if (protection != NULL) {
		explicit_bzero(protection, sizeof(*protection));
		free(protection);
	}
}

enum gid_protection_profile gid_protection_profile(const struct gid_protection *protection) {
	return protection->profile;
}

/* --- pictures --------------------------------------------------------------------------------- */

static void add_row(void *data, const void *row, size_t size) {
	protection_sum_add(data, row, size);
}

static int sum_picture(const struct gid_protection *protection, const struct gid_layout *layout,
		const struct gid_box *crop, const void *slot,
		const uint8_t descriptor[GID_DESCRIPTOR_SIZE], uint8_t bytes[GID_CHECK_SIZE]) {
	struct visible visible;
	struct protection_sum sum;
	int error = visible_init(&visible, layout, crop);
	if (error < 0) {
		return error;
	}
	protection_sum_begin(&sum, protection, layout);
	visible_read(&visible, slot, add_row, &sum);
	protection_sum_end(&sum, descriptor, bytes);
	explicit_bzero(&sum, sizeof(sum));
	return 0;
}

int gid_protection_make(const struct gid_protection *protection, const struct gid_frame *frame,
		const struct gid_layout *layout, const void *slot, struct gid_check *check) {
	check->kind = protection->profile;
	return sum_picture(protection, layout, &frame->crop, slot, check->descriptor, check->bytes);
}

static int make_check(void *data, const struct gid_frame *frame, const struct gid_slab *slab,
		struct gid_check *check) {
	const struct gid_protection *protection = data;
	struct gid_slab_info info;
	const void *slot = gid_slab_view(slab, gid_slot_of(frame->gid));
	gid_slab_get_info(slab, &info);
	bool is_dmabuf = info.memory == GID_MEMORY_DMABUF;
	if (slot == NULL) {
		return -EINVAL;
	}
	int error = is_dmabuf ? gid_dmabuf_begin_read(info.fd) : 0;
	if (error < 0) {
		return error;
	}
	error = gid_protection_make(protection, frame, &info.layout, slot, check);
	if (is_dmabuf) {
		gid_dmabuf_end_read(info.fd);
	}
	return error;
}

void gid_protection_protect(
		const struct gid_protection *protection, struct gid_producer *producer) {
	gid_producer_set_check(producer, make_check, (void *)protection);
}

int gid_protection_verify(const struct gid_protection *protection, const struct gid_frame *frame,
		const struct gid_check *check, const struct gid_layout *layout, const void *slot) {
	uint8_t bytes[GID_CHECK_SIZE];
	if (check->kind != protection->profile) {
		return -ENODATA;
	}
	int error = sum_picture(protection, layout, &frame->crop, slot, check->descriptor, bytes);
	if (error < 0) {
		return error;
	}
	return protection_sums_are_equal(bytes, check->bytes) ? 0 : -EBADMSG;
}
