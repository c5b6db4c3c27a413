// SPDX-License-Identifier: MIT
/*
 * Devices that say by their first page that they are a window of the host's, in a machine that says
 * of one of them which window it is: that one is the window, in whatever order they are found.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "inside.h"
#include "pci.h"
#include "shm_window.h"
#include "tap.h"

#define HOST 3u
#ifdef __aarch64__
#define MEMORY_FILE "resource2_wc"
#else
#define MEMORY_FILE "resource2"
#endif

static const char cockpit[] = "[domain open]\nnumber=1\nkind=guest\nwindow=1M\n"
			      "[domain host]\nnumber=3\nkind=host\nwindow=1M\n"
			      "[share host open]\nstreams=*\n";

static struct config config;
static struct gidd gidd;
static unsigned machines;

/* --- a machine of our own: the files of its devices ------------------------------------------- */

static const char *find(const char *path, char *room, size_t size) {
	const size_t length = strlen(PCI_DEVICES);
	if (strncmp(path, PCI_DEVICES, length) != 0) {
		return path;
	}
	snprintf(room, size, "%s/machine%u%s", gidd.runtime, machines, path + length);
	return room;
}

#define WRAP(type, name, parameters, arguments)                                                    \
	type __real_##name parameters;                                                             \
	type __wrap_##name parameters;                                                             \
	type __wrap_##name parameters {                                                            \
		char room[512];                                                                    \
		return __real_##name arguments;                                                    \
	}
#define THERE find(path, room, sizeof(room))

WRAP(DIR *, opendir, (const char *path), (THERE))
WRAP(char *, realpath, (const char *path, char *real), (THERE, real))
WRAP(FILE *, fopen, (const char *path, const char *mode), (THERE, mode))
WRAP(FILE *, fopen64, (const char *path, const char *mode), (THERE, mode))
/* Its last argument may be left out, and is not looked at then. */
WRAP(int, open, (const char *path, int flags, mode_t mode), (THERE, flags, mode))
WRAP(int, open64, (const char *path, int flags, mode_t mode), (THERE, flags, mode))

static void write_file(const char *device, const char *name, const void *data, size_t size) {
	char path[512];
	snprintf(path, sizeof(path), PCI_DEVICES "/%s/%s", device, name);
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size ||
			ftruncate(fd, strcmp(name, MEMORY_FILE) == 0 ? GID_WINDOW_MIN : size) < 0) {
		tap_ok(false, "a device's %s", name);
	}
	close(fd);
}

/* Its first page says that it is that window of the host's. `index`: the machine's; NULL: none. */
static void make_device(const char *device, const char *index, uint32_t number) {
	const struct gid_wire_window header = {
			.magic = GID_WINDOW_MAGIC,
			.version = GID_WINDOW_VERSION,
			.domain = HOST,
			.number = number,
			.size = GID_WINDOW_MIN,
			.name = "host",
			.readers = {1 << 1},
	};
	char path[512], room[512];
	snprintf(path, sizeof(path), PCI_DEVICES "/%s", device);
	mkdir(find(path, room, sizeof(room)), 0755);
	write_file(device, "vendor", "0x1af4", 6);
	write_file(device, "device", "0x1110", 6);
	if (index != NULL) {
		write_file(device, "acpi_index", index, strlen(index));
	}
	write_file(device, MEMORY_FILE, &header, sizeof(header));
}

static void begin_machine(void) {
	char room[512];
	machines++;
	mkdir(find(PCI_DEVICES, room, sizeof(room)), 0755);
}

/* The device that is taken for that window; "": none is. */
static const char *window_at(uint32_t number) {
	static char device[512];
	const struct shm_window *window = shm_window_find(&gidd, HOST, number);
	device[0] = '\0';
	if (window != NULL) {
		snprintf(device, sizeof(device), "%s", window->path);
		*strrchr(device, '/') = '\0';
		memmove(device, strrchr(device, '/') + 1, strlen(strrchr(device, '/')));
	}
	return device;
}

/* ---------------------------------------------------------------------------------------------- */

static void test_told(bool first) {
	begin_machine();
	for (int i = 0; i < 2; i++) {
		if (first == (i == 0)) {
			make_device("told", "3", 0);
		} else {
			make_device("poser", NULL, 0);
		}
	}
	const char *device = window_at(0);
	tap_ok(strcmp(device, "told") == 0, "what the machine says is the window: %s", device);
	shm_window_forget_all(&gidd);
}

static void test_claimed(void) {
	begin_machine();
	make_device("one", NULL, 0);
	make_device("other", NULL, 1);
	make_device("another", NULL, 1);
	const char *device = window_at(0);
	tap_ok(strcmp(device, "one") == 0, "without, what alone says so: %s", device);
	tap_ok(window_at(1)[0] == '\0', "and of two that say so none");
	shm_window_forget_all(&gidd);
}

int main(void) {
	inside_init(&gidd, &config, cockpit, "open");
	inside_make_runtime(&gidd);
	test_told(true);
	test_told(false);
	test_claimed();
	return tap_finish();
}
