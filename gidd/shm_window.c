// SPDX-License-Identifier: MIT
#include "shm_window.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "descriptor.h"
#include "gidd.h"
#include "log.h"
#include "pci.h"

/* --- in a guest: QEMU's ivshmem-plain devices, whose second resource is the memory ------------ */

/* A device that nobody drives is off, and cannot be read. */
static void enable(const char *device) {
	char path[512];
	snprintf(path, sizeof(path), PCI_DEVICES "/%s/enable", device);
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd >= 0) {
		(void)!write(fd, "1", 1);
		close(fd);
	}
}

static bool is_window_of(const char *path, uint32_t domain) {
	struct gid_wire_window copy;
	struct stat status;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	void *page = MAP_FAILED;
	if (fd >= 0 && fstat(fd, &status) == 0 && status.st_size >= (off_t)GID_WINDOW_MIN) {
		page = mmap(NULL, SHM_PAGE, PROT_READ, MAP_SHARED, fd, 0);
	}
	bool found = page != MAP_FAILED;
	if (found) {
		memcpy(&copy, page, sizeof(copy));
		munmap(page, SHM_PAGE);
		found = gid_wire_window_is_valid(&copy, (uint64_t)status.st_size) &&
				copy.domain == domain;
	}
	if (fd >= 0) {
		close(fd);
	}
	return found;
}

/*
 * Whose a device is, the machine says by its ACPI index. Of a device that has none, its first page
 * says so, which its owner may write: where two claim one number, neither is taken.
 */
static char *find_device(uint32_t domain) {
	DIR *folder = opendir(PCI_DEVICES);
	char *claimed = NULL, *found = NULL;
	unsigned claims = 0;
	struct dirent *entry;
	while (folder != NULL && found == NULL && (entry = readdir(folder)) != NULL) {
		char path[512];
		if (entry->d_name[0] == '.' || !pci_is_ivshmem(entry->d_name)) {
			continue;
		}
		unsigned index = pci_acpi_index(entry->d_name);
		if (index != 0 && index != domain) {
			continue;
		}
		enable(entry->d_name);
		snprintf(path, sizeof(path), PCI_DEVICES "/%s/resource2", entry->d_name);
		if (index != 0) {
			found = realpath(path, NULL);
		} else if (is_window_of(path, domain) && ++claims == 1) {
			claimed = realpath(path, NULL);
		}
	}
	if (folder != NULL) {
		closedir(folder);
	}
	if (found == NULL && claims == 1) {
		return claimed;
	}
	free(claimed);
	if (found == NULL && claims > 1) {
		log_warning("%u devices claim to be the window of domain %u: none is taken; give "
			    "them acpi-index=, or name one by window-device=",
				claims, (unsigned)domain);
	}
	return found;
}

/* --- of the hub ------------------------------------------------------------------------------- */

static char *window_path(const struct gidd *gidd, const struct config_domain *domain) {
	char *path;
	return asprintf(&path, "%s/window/%s", gidd->runtime, domain->name) < 0 ? NULL : path;
}

static void put_header(struct gid_wire_window *header, const struct config_domain *domain) {
	*header = (struct gid_wire_window){
			.magic = GID_WINDOW_MAGIC,
			.version = GID_WINDOW_VERSION,
			.domain = domain->number,
			.size = domain->window,
	};
	(void)!getrandom(&header->cookie, sizeof(header->cookie), 0);
	snprintf(header->name, sizeof(header->name), "%s", domain->name);
}

/*
 * One that is there already goes on, for guests may have it mapped: if its size is right, its first
 * page can be written again, whatever its owner made of it.
 */
static int open_old(const char *path, const struct config_domain *domain) {
	struct stat status;
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0) {
		return -errno;
	}
	if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode) ||
			status.st_size != (off_t)domain->window) {
		close(fd);
		return -ENOENT;
	}
	return fd;
}

/* All of it is there from the start: a guest that finds no page left would be killed. */
static int make_new(const char *path, const struct config_domain *domain) {
	if (unlink(path) < 0 && errno != ENOENT) {
		return -errno;
	}
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0) {
		return -errno;
	}
	int error = -posix_fallocate(fd, 0, (off_t)domain->window);
	if (error < 0) {
		unlink(path);
		close(fd);
		return error;
	}
	return fd;
}

static int window_make(struct gidd *gidd, const struct config_domain *domain) {
	struct gid_wire_window header;
	char *path = window_path(gidd, domain);
	if (path == NULL) {
		return -ENOMEM;
	}
	put_header(&header, domain);
	int fd = open_old(path, domain);
	if (fd < 0) {
		if (access(path, F_OK) == 0) {
			log_warning("the window of domain %s is new (%llu MiB): a machine that has "
				    "the old one must be restarted",
					domain->name, (unsigned long long)domain->window >> 20);
		}
		fd = make_new(path, domain);
	}
	int error = fd < 0 ? fd : 0;
	if (error == 0 && pwrite(fd, &header, sizeof(header), 0) != (ssize_t)sizeof(header)) {
		error = -EIO;
	}
	if (error < 0) {
		log_error("cannot make the window of domain %s, %s of %llu MiB: %s", domain->name,
				path, (unsigned long long)domain->window >> 20, strerror(-error));
	}
	if (fd >= 0) {
		close(fd);
	}
	free(path);
	return error;
}

void shm_window_mark(struct gidd *gidd, const struct config_domain *domain) {
	(void)window_make(gidd, domain); /* says what is wrong */
}

int shm_window_make_all(struct gidd *gidd) {
	char folder[128];
	snprintf(folder, sizeof(folder), "%s/window", gidd->runtime);
	if (mkdir(folder, 0711) < 0 && errno != EEXIST) {
		log_error("cannot make %s: %s", folder, strerror(errno));
		return -errno;
	}
	const struct config_domain *domain;
	TAILQ_FOREACH(domain, &gidd->config->domains, entry) {
		int error = config_has_window(gidd->config, domain) ? window_make(gidd, domain) : 0;
		if (error < 0) {
			return error;
		}
	}
	return 0;
}

/* --- opening ---------------------------------------------------------------------------------- */

/* The first page, copied out once: a window's owner may write it at any time. */
static int read_header(int fd, struct gid_wire_window *copy) {
	void *page = mmap(NULL, SHM_PAGE, PROT_READ, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED) {
		return -errno;
	}
	memcpy(copy, page, sizeof(*copy));
	munmap(page, SHM_PAGE);
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
	return find_device(domain->number);
}

static void window_destroy(struct shm_window *window) {
	if (window->data != NULL) {
		munmap(window->data, window->size);
	}
	if (window->writable >= 0) {
		close(window->writable);
	}
	if (window->fd >= 0) {
		close(window->fd);
	}
	sd_event_source_disable_unref(window->cleaning);
	shm_map_finish(&window->map);
	free(window->path);
	free(window);
}

static int open_files(struct shm_window *window, bool own) {
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
	void *data = mmap(NULL, window->size, PROT_READ | PROT_WRITE, MAP_SHARED, window->writable,
			0);
	if (data == MAP_FAILED) {
		return -errno;
	}
	window->data = data;
	return 0;
}

static struct shm_window *window_open(struct gidd *gidd, const struct config_domain *domain) {
	struct shm_window *window = calloc(1, sizeof(*window));
	if (window == NULL) {
		return NULL;
	}
	*window = (struct shm_window){.domain = domain->number, .fd = -1, .writable = -1};
	shm_map_init(&window->map, 0, 0);
	TAILQ_INIT(&window->dirty);
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
	shm_map_init(&window->map, SHM_PAGE, window->size);
	log_info("the window of domain %s: %s, %llu MiB", domain->name, window->path,
			(unsigned long long)window->size >> 20);
	return window;
}

/* --- finding ---------------------------------------------------------------------------------- */

struct shm_window *shm_window_find(struct gidd *gidd, uint32_t domain) {
	const struct config_domain *owner = config_domain_by_number(gidd->config, domain);
	if (owner == NULL || !config_has_window(gidd->config, owner)) {
		return NULL;
	}
	if (gidd->windows[domain] == NULL) {
		gidd->windows[domain] = window_open(gidd, owner);
	}
	return gidd->windows[domain];
}

void shm_window_forget(struct gidd *gidd, uint32_t domain) {
	if (gidd->windows[domain] != NULL) {
		window_destroy(gidd->windows[domain]);
		gidd->windows[domain] = NULL;
	}
}

void shm_window_forget_all(struct gidd *gidd) {
	for (uint32_t domain = 0; domain <= GID_DOMAIN_MAX; domain++) {
		shm_window_forget(gidd, domain);
	}
}

const char *shm_window_judge(struct gidd *gidd, uint32_t domain) {
	const struct shm_window *window = shm_window_find(gidd, domain);
	struct gid_wire_window header;
	struct stat status;
	if (window == NULL || fstat(window->fd, &status) < 0 ||
			(uint64_t)status.st_size != window->size) {
		return "the size of its window has changed";
	}
	if (read_header(window->fd, &header) == 0 &&
			(!gid_wire_window_is_valid(&header, window->size) ||
					header.domain != domain)) {
		return "broken memory: the first page of its window";
	}
	return NULL;
}

int shm_window_check(struct gidd *gidd, uint32_t domain, int fd, uint64_t offset, uint64_t size,
		const char **why) {
	const struct shm_window *window = shm_window_find(gidd, domain);
	struct stat status;
	if (window == NULL || fstat(fd, &status) < 0 || status.st_dev != window->dev ||
			status.st_ino != window->ino) {
		*why = "the descriptor is not the domain's window";
		return -EBADF;
	}
	if (offset < SHM_PAGE || offset > window->size || size > window->size - offset) {
		*why = "the memory leaves its window";
		return -ERANGE;
	}
	return 0;
}

int shm_window_check_read(struct gidd *gidd, uint32_t domain, int fd, uint64_t offset,
		uint64_t size, const char **why) {
	int error = shm_window_check(gidd, domain, fd, offset, size, why);
	if (error == 0 && !descriptor_is_read_only(fd)) {
		*why = "the window is writable: pass a read-only descriptor of it";
		error = -EACCES;
	}
	return error;
}
