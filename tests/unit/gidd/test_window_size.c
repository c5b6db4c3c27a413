// SPDX-License-Identifier: MIT
/* A window of our own that is larger than what can be mapped is none, rather than a part of it. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "inside.h"
#include "shm_window.h"
#include "tap.h"

/* By its lower 32 bits it has the size of the smallest one. */
#define SIZE ((UINT64_C(4) << 30) + GID_WINDOW_MIN)

static const char cockpit[] = "[domain open]\nnumber=1\nkind=guest\nwindow=1M\n"
			      "[domain host]\nnumber=3\nkind=host\nwindow=1M\n"
			      "[share host open]\nstreams=*\n";

static struct config config;
static struct gidd gidd;

/* As the hub makes it, but for its pages. */
static bool make_window(void) {
	const struct gid_wire_window header = {
			.magic = GID_WINDOW_MAGIC,
			.version = GID_WINDOW_VERSION,
			.domain = 3,
			.size = SIZE,
			.name = "host",
			.readers = {1 << 1},
	};
	char path[128];
	snprintf(path, sizeof(path), "%s/window", gidd.runtime);
	bool made = mkdir(path, 0755) == 0;
	snprintf(path, sizeof(path), "%s/window/host", gidd.runtime);
	made = made && mkdir(path, 0755) == 0;
	snprintf(path, sizeof(path), "%s/window/host/0.1", gidd.runtime);
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	made = made && fd >= 0 && ftruncate(fd, SIZE) == 0 &&
			write(fd, &header, sizeof(header)) == sizeof(header);
	close(fd);
	return made;
}

int main(void) {
	inside_init(&gidd, &config, cockpit, "host");
	inside_make_runtime(&gidd);
	if (!tap_ok(make_window(), "a window of more than 4 GiB")) {
		return tap_finish();
	}
	const struct shm_window *window = shm_window_find(&gidd, 3, 0);
	if (SIZE > SIZE_MAX) {
		tap_ok(window == NULL, "which cannot be mapped, is not taken");
	} else if (tap_ok(window != NULL && window->size == SIZE, "is taken")) {
		window->data[SIZE - 1] = 1;
		tap_ok(window->data[SIZE - 1] == 1, "and mapped to its end");
	}
	shm_window_forget_all(&gidd);
	return tap_finish();
}
