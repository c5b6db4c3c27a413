// SPDX-License-Identifier: MIT
#include "window.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "descriptor.h"
#include "log.h"

/* --- opening ---------------------------------------------------------------------------------- */

/* The first page, copied out once: a window's owner may write it at any time. */
static int read_header(int fd, struct gid_wire_window *copy) {
	void *page = mmap(NULL, WINDOW_PAGE, PROT_READ, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED) {
		return -errno;
	}
	memcpy(copy, page, sizeof(*copy));
	munmap(page, WINDOW_PAGE);
	return 0;
}

/* Takes the path. */
static char *find_path(struct gidd *gidd, const struct config_domain *domain) {
	if (domain->window_device != NULL) {
		return strdup(domain->window_device);
	}
	char *path = window_path(gidd, domain);
	if (path != NULL && access(path, F_OK) == 0) {
		return path;
	}
	free(path);
	return window_pci_find(domain->number);
}

static void window_destroy(struct window *window) {
	if (window->data != NULL) {
		munmap(window->data, window->size);
	}
	if (window->writable >= 0) {
		close(window->writable);
	}
	if (window->fd >= 0) {
		close(window->fd);
	}
	window_map_finish(&window->map);
	free(window->path);
	free(window);
}

static int open_files(struct window *window, bool own) {
	struct stat status;
	struct gid_wire_window header;
	window->fd = open(window->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (window->fd < 0 || fstat(window->fd, &status) < 0) {
		return -errno;
	}
	if (!S_ISREG(status.st_mode) || status.st_size < (off_t)GID_WINDOW_MIN) {
		return -EBADF;
	}
	window->size = (uint64_t)status.st_size;
	window->dev = status.st_dev;
	window->ino = status.st_ino;
	int error = read_header(window->fd, &header);
	if (error < 0) {
		return error;
	}
	if (!gid_wire_window_is_valid(&header, window->size) || header.domain != window->domain) {
		return -EBADF;
	}
	window->cookie = header.cookie;
	if (!own) {
		return 0;
	}
	window->writable = open(window->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	if (window->writable < 0) {
		return -errno;
	}
	void *data =
		mmap(NULL, window->size, PROT_READ | PROT_WRITE, MAP_SHARED, window->writable, 0);
	if (data == MAP_FAILED) {
		return -errno;
	}
	window->data = data;
	return 0;
}

static struct window *window_open(struct gidd *gidd, const struct config_domain *domain) {
	struct window *window = calloc(1, sizeof(*window));
	if (window == NULL) {
		return NULL;
	}
	*window = (struct window){.domain = domain->number, .fd = -1, .writable = -1};
	window_map_init(&window->map, 0, 0);
	window->path = find_path(gidd, domain);
	if (window->path == NULL) {
		window_destroy(window);
		return NULL;
	}
	int error = open_files(window, domain == gidd->self);
	if (error < 0) {
		log_warning("the window of domain %s: %s: %s", domain->name, window->path,
			error == -EBADF ? "is none of it" : strerror(-error));
		window_destroy(window);
		return NULL;
	}
	window_map_init(&window->map, WINDOW_PAGE, window->size);
	log_info("the window of domain %s: %s, %llu MiB", domain->name, window->path,
		(unsigned long long)window->size >> 20);
	return window;
}

/* --- finding ---------------------------------------------------------------------------------- */

struct window *window_find(struct gidd *gidd, uint32_t domain) {
	const struct config_domain *owner = config_domain_by_number(gidd->config, domain);
	if (owner == NULL || !config_has_window(gidd->config, owner)) {
		return NULL;
	}
	if (gidd->windows[domain] == NULL) {
		gidd->windows[domain] = window_open(gidd, owner);
	}
	return gidd->windows[domain];
}

void window_forget(struct gidd *gidd, uint32_t domain) {
	if (gidd->windows[domain] != NULL) {
		window_destroy(gidd->windows[domain]);
		gidd->windows[domain] = NULL;
	}
}

void window_forget_all(struct gidd *gidd) {
	for (uint32_t domain = 0; domain <= GID_DOMAIN_MAX; domain++) {
		window_forget(gidd, domain);
	}
}

const char *window_judge(struct gidd *gidd, uint32_t domain) {
	const struct window *window = window_find(gidd, domain);
	struct gid_wire_window header;
	struct stat status;
	if (window == NULL || fstat(window->fd, &status) < 0 ||
		(uint64_t)status.st_size != window->size) {
		return "the size of its window has changed";
	}
	if (read_header(window->fd, &header) == 0 &&
		(!gid_wire_window_is_valid(&header, window->size) || header.domain != domain)) {
		return "broken memory: the first page of its window";
	}
	return NULL;
}

int window_check(struct gidd *gidd, uint32_t domain, int fd, uint64_t offset, uint64_t size,
	const char **why) {
	const struct window *window = window_find(gidd, domain);
	struct stat status;
	if (window == NULL || fstat(fd, &status) < 0 || status.st_dev != window->dev ||
		status.st_ino != window->ino) {
		*why = "the descriptor is not the domain's window";
		return -EBADF;
	}
	if (offset < WINDOW_PAGE || offset > window->size || size > window->size - offset) {
		*why = "the memory leaves its window";
		return -ERANGE;
	}
	return 0;
}

int window_check_read(struct gidd *gidd, uint32_t domain, int fd, uint64_t offset, uint64_t size,
	const char **why) {
	int error = window_check(gidd, domain, fd, offset, size, why);
	if (error == 0 && !descriptor_is_read_only(fd)) {
		*why = "the window is writable: pass a read-only description of it";
		error = -EACCES;
	}
	return error;
}
