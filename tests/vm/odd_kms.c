// SPDX-License-Identifier: MIT
/*
 * Preloaded into a display, its KMS device has a whim or a fault, which the first word of the file
 * $ODD_KMS names, looked at with each atomic commit:
 *
 *   limit N   takes no commit, nor the test of one, with more than N planes smaller than the screen
 *   refuse    takes tests of such planes, and no commit with one
 *   silent    shows frames, and says of none that it was shown
 *   busy      takes no commit, for ever
 *   shift     shows each of them a pixel too far to the right
 *   unwritten says of each picture that it has written that it could not
 */
#include <drm.h>
#include <drm_mode.h>
#include <errno.h>
#include <linux/sync_file.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PROPERTIES_MAX 4096
#define SCREEN_WIDTH 640

int ioctl(int fd, unsigned long request, ...);

static bool is_called(int fd, uint32_t property, const char *name) {
	static char names[PROPERTIES_MAX][DRM_PROP_NAME_LEN];
	if (property >= PROPERTIES_MAX) {
		return false;
	}
	if (names[property][0] == '\0') {
		struct drm_mode_get_property get = {.prop_id = property};
		if (syscall(SYS_ioctl, fd, DRM_IOCTL_MODE_GETPROPERTY, &get) == 0) {
			memcpy(names[property], get.name, DRM_PROP_NAME_LEN);
		}
	}
	return strcmp(names[property], name) == 0;
}

/* How many planes smaller than the screen are shown, after they were moved. */
static int look_at(int fd, const struct drm_mode_atomic *atomic, uint64_t right) {
	const uint32_t *counts = (const uint32_t *)(uintptr_t)atomic->count_props_ptr;
	const uint32_t *properties = (const uint32_t *)(uintptr_t)atomic->props_ptr;
	uint64_t *values = (uint64_t *)(uintptr_t)atomic->prop_values_ptr;
	int found = 0;
	for (uint32_t i = 0; i < atomic->count_objs; i++) {
		uint64_t *x = NULL;
		bool small = false;
		for (uint32_t k = 0; k < counts[i]; k++) {
			if (is_called(fd, properties[k], "CRTC_X")) {
				x = &values[k];
			} else if (is_called(fd, properties[k], "CRTC_W")) {
				small = values[k] < SCREEN_WIDTH;
			}
		}
		if (small && x != NULL) {
			*x += right;
			found++;
		}
		properties += counts[i];
		values += counts[i];
	}
	return found;
}

static void read_whim(char word[static 16], int *number) {
	word[0] = '\0';
	const char *path = getenv("ODD_KMS");
	FILE *file = path != NULL ? fopen(path, "re") : NULL;
	if (file != NULL) {
		if (fscanf(file, "%15s %d", word, number) < 1) {
			word[0] = '\0';
		}
		fclose(file);
	}
}

static int commit(int fd, struct drm_mode_atomic *atomic) {
	char word[16];
	int number = 0;
	read_whim(word, &number);
	int planes = look_at(fd, atomic, strcmp(word, "shift") == 0);
	bool test = atomic->flags & DRM_MODE_ATOMIC_TEST_ONLY;
	if (strcmp(word, "limit") == 0 && planes > number) {
		return ENOSPC;
	}
	if (strcmp(word, "busy") == 0 && !test) {
		return EBUSY;
	}
	if (strcmp(word, "silent") == 0) {
		atomic->flags &= ~(uint32_t)DRM_MODE_PAGE_FLIP_EVENT;
	}
	return strcmp(word, "refuse") == 0 && planes > 0 && !test ? EINVAL : 0;
}

static void look_at_written(struct sync_file_info *info) {
	char word[16];
	int number = 0;
	read_whim(word, &number);
	if (strcmp(word, "unwritten") == 0) {
		info->status = -EIO;
	}
}

int ioctl(int fd, unsigned long request, ...) {
	va_list arguments;
	va_start(arguments, request);
	void *argument = va_arg(arguments, void *);
	va_end(arguments);
	int error = request == DRM_IOCTL_MODE_ATOMIC ? commit(fd, argument) : 0;
	if (error != 0) {
		errno = error;
		return -1;
	}
	int ret = (int)syscall(SYS_ioctl, fd, request, argument);
	if (ret == 0 && request == SYNC_IOC_FILE_INFO) {
		look_at_written(argument);
	}
	return ret;
}
