// SPDX-License-Identifier: MIT
#include "shm_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "folder.h"
#include "large_pages.h"
#include "log.h"
#include "random_number.h"
#include "shm_dax.h"
#include "shm_map.h"
#include "wire.h"

_Static_assert(CONFIG_WINDOWS_MAX == GID_WINDOWS_MAX, "wire");
_Static_assert(sizeof(struct domain_set) == sizeof((struct gid_wire_window){0}.readers), "wire");

/* --- paths ------------------------------------------------------------------------------------ */

static char *folder_path(const char *runtime, const struct config_domain *owner) {
	char *path;
	return asprintf(&path, "%s/window/%s", runtime, owner->name) < 0 ? NULL : path;
}

static char *file_path(const char *runtime, const struct config_window *window) {
	char name[CONFIG_WINDOW_NAME], *path;
	config_window_put_name(window, name);
	return asprintf(&path, "%s/window/%s/%s", runtime, window->owner->name, name) < 0 ? NULL
											  : path;
}

bool shm_files_each(const char *runtime, const struct config_domain *owner,
		bool (*each)(void *data, uint32_t number, const struct domain_set *readers,
				const char *path),
		void *data) {
	char *folder = folder_path(runtime, owner);
	DIR *entries = folder == NULL ? NULL : opendir(folder);
	const struct dirent *entry;
	bool more = true;
	while (entries != NULL && more && (entry = readdir(entries)) != NULL) {
		struct domain_set readers;
		uint32_t number;
		char *path;
		if (!config_window_parse_name(entry->d_name, &number, &readers) ||
				asprintf(&path, "%s/%s", folder, entry->d_name) < 0) {
			continue;
		}
		more = each(data, number, &readers, path);
		free(path);
	}
	if (entries != NULL) {
		closedir(entries);
	}
	free(folder);
	return entries != NULL;
}

/* --- planning --------------------------------------------------------------------------------- */

struct adding {
	struct config_windows *windows;
	const struct config_domain *owner;
	int error;
};

static bool add_existing(
		void *data, uint32_t number, const struct domain_set *readers, const char *path) {
	struct adding *adding = data;
	int error = config_windows_add(adding->windows, adding->owner, number, readers);
	adding->error = error == -ENOMEM ? error : 0;
	return adding->error == 0;
}

int shm_files_plan(
		struct config_windows *windows, const struct config *config, const char *runtime) {
	const struct config_domain *owner;
	TAILQ_FOREACH(owner, &config->domains, entry) {
		struct adding adding = {.windows = windows, .owner = owner};
		shm_files_each(runtime, owner, add_existing, &adding);
		if (adding.error < 0) {
			return adding.error;
		}
	}
	int error = config_windows_plan(windows, config, &owner);
	if (error == -E2BIG) {
		log_error("domain %s has more than %u sets of readers on other machines, or more "
			  "readers in one than a file's name can hold: use fewer wildcards in its "
			  "shares",
				owner->name, CONFIG_WINDOWS_MAX);
	}
	return error;
}

/* --- creation --------------------------------------------------------------------------------- */

static void put_header(struct gid_wire_window *header, const struct config_window *window) {
	*header = (struct gid_wire_window){
			.magic = GID_WINDOW_MAGIC,
			.version = GID_WINDOW_VERSION,
			.domain = window->owner->number,
			.size = window->size,
			.number = window->number,
	};
	snprintf(header->name, sizeof(header->name), "%s", window->owner->name);
	memcpy(header->readers, window->readers.bits, sizeof(header->readers));
}

/*
 * Guests may have an existing file mapped, so it is kept if its size is right. Its first page is
 * written again, whatever its owner wrote there.
 */
static int open_old(const char *path, struct config_window *window) {
	struct stat status;
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0) {
		return -errno;
	}
	if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode) ||
			status.st_size != (off_t)window->size) {
		close(fd);
		return -ENOENT;
	}
	if ((uint64_t)status.st_blocks * 512 >= window->size) {
		window->made = window->filled = window->size; /* perhaps since an earlier hub */
	}
	return fd;
}

static int make_new(const char *path, const struct config_window *window) {
	if (unlink(path) < 0 && errno != ENOENT) {
		return -errno;
	}
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0) {
		return -errno;
	}
	/* Allocating the last page sets the size: truncation.c forbids gidd to truncate files. */
	int error = -posix_fallocate(fd, (off_t)(window->size - SHM_PAGE), SHM_PAGE);
	if (error < 0) {
		unlink(path);
		close(fd);
		return error;
	}
	return fd;
}

/* Large pages are faster for machines and readers. Without them everything still works. */
static void make_pages_large(const struct config_window *window, int fd) {
	size_t size = (size_t)window->filled;
	void *data = gid_large_map(size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (data != MAP_FAILED) {
		gid_large_make(data, size);
		munmap(data, size);
	}
}

/* Allocates all pages that can be used: a guest that finds no page left would be killed. */
static int fill_pages(struct config_window *window, int fd) {
	if (window->made >= window->filled) {
		return 0;
	}
	bool is_first = window->made == 0; /* no program uses its pages yet */
	int error = -posix_fallocate(fd, 0, (off_t)window->filled);
	window->made = error == 0 ? window->filled : window->made;
	if (error == 0 && is_first) {
		make_pages_large(window, fd);
	}
	return error;
}

/*
 * The cookie names one life of the owner's machine. It changes when that ends (`anew`), and is new
 * for a new window.
 */
static uint64_t find_cookie(int fd, bool anew) {
	uint64_t cookie = 0;
	const off_t at = offsetof(struct gid_wire_window, cookie);
	if (anew || pread(fd, &cookie, sizeof(cookie), at) != sizeof(cookie)) {
		cookie = 0;
	}
	return cookie != 0 ? cookie : random_number();
}

static int put(int fd, const void *data, size_t size, uint64_t offset) {
	return pwrite(fd, data, size, (off_t)offset) == (ssize_t)size ? 0 : -EIO;
}

/*
 * Writes the blocks that make it a device-dax in its owner's machine, with a first page of its own.
 */
static int put_dax(int fd, const struct gid_wire_window *header) {
	uint8_t block[SHM_DAX_INFO_SIZE];
	shm_dax_put_info(block, header->size);
	int error = put(fd, block, sizeof(block), SHM_DAX_INFO);
	return error < 0 ? error : put(fd, header, sizeof(*header), SHM_DAX_HEAD);
}

static int make(struct config_window *window, const char *runtime, bool anew) {
	struct gid_wire_window header;
	const char *owner = window->owner->name;
	unsigned long long mib = (unsigned long long)window->size >> 20;
	char *path = file_path(runtime, window);
	if (path == NULL) {
		return -ENOMEM;
	}
	put_header(&header, window);
	int fd = open_old(path, window);
	bool is_new = fd < 0;
	if (is_new) {
		if (access(path, F_OK) == 0) {
			log_warning("window %u of domain %s is new (%llu MiB): a machine that has "
				    "the old one must be restarted",
					window->number, owner, mib);
		}
		fd = make_new(path, window);
		window->made = 0;
	}
	int error = fd < 0 ? fd : fill_pages(window, fd);
	if (error == -ENOSPC && is_new) {
		unlink(path); /* an old file stays: machines have it mapped */
	}
	if (error == 0) {
		header.cookie = find_cookie(fd, anew);
		error = put(fd, &header, sizeof(header), 0);
	}
	if (error == 0 && config_window_has_pages(window->owner, window->size)) {
		error = put_dax(fd, &header);
	}
	if (error < 0) {
		log_error("cannot make the window of domain %s, %s of %llu MiB: %s", owner, path,
				mib, strerror(-error));
	}
	if (fd >= 0) {
		close(fd);
	}
	free(path);
	return error;
}

struct clearing {
	const struct config_windows *windows;
	const struct config_domain *owner;
};

/*
 * Clears and removes a file that the plan no longer has: its content was for other readers. Every
 * mapping of it reads zeroes from now on.
 */
static bool clear_old(
		void *data, uint32_t number, const struct domain_set *readers, const char *path) {
	const struct clearing *clearing = data;
	const struct config_window *window =
			config_windows_find(clearing->windows, clearing->owner, number);
	if (window != NULL && window->size > 0 && domain_set_is_equal(&window->readers, readers)) {
		return true;
	}
	struct stat status;
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	if (fd >= 0 && fstat(fd, &status) == 0 && status.st_size > 0) {
		(void)fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, status.st_size);
	}
	if (fd >= 0) {
		close(fd);
	}
	unlink(path);
	return true;
}

static int make_folder(const char *path) {
	struct stat status;
	if (lstat(path, &status) == 0 && S_ISREG(status.st_mode)) {
		unlink(path); /* an older gidd had one window file for each domain here */
	}
	return folder_make(path, 0711);
}

static int make_folders(const struct config *config, const char *runtime) {
	const struct config_domain *owner;
	char *path;
	if (asprintf(&path, "%s/window", runtime) < 0) {
		return -ENOMEM;
	}
	int error = make_folder(path);
	free(path);
	TAILQ_FOREACH(owner, &config->domains, entry) {
		if (error == 0 && config_has_window(config, owner)) {
			path = folder_path(runtime, owner);
			error = path == NULL ? -ENOMEM : make_folder(path);
			free(path);
		}
	}
	return error;
}

static int make_all(struct config_windows *windows, const char *runtime) {
	struct config_window *window;
	int error = 0;
	TAILQ_FOREACH(window, windows, entry) {
		if (error == 0 && window->size > 0) {
			error = make(window, runtime, false);
		}
	}
	return error;
}

int shm_files_make(
		struct config_windows *windows, const struct config *config, const char *runtime) {
	const struct config_domain *owner;
	int error = make_folders(config, runtime);
	TAILQ_FOREACH(owner, &config->domains, entry) {
		struct clearing clearing = {windows, owner};
		shm_files_each(runtime, owner, clear_old, &clearing);
	}
	return error == 0 ? make_all(windows, runtime) : error;
}

int shm_files_extend(
		struct config_windows *windows, const struct config *config, const char *runtime) {
	const struct config_domain *owner;
	int error = config_windows_extend(windows, config, &owner);
	return error == 0 ? make_all(windows, runtime) : error;
}

/*
 * Writes zeroes, and does not punch holes: another process could take the freed pages, perhaps the
 * last ones, and a machine or display that reads there would be killed.
 */
static int overwrite(int fd, uint64_t offset, uint64_t size) {
	static uint8_t zeroes[16 * SHM_PAGE]; /* not const: it would be that much of the file */
	int error = 0;
	for (uint64_t done = 0; done < size && error == 0; done += sizeof(zeroes)) {
		uint64_t left = size - done;
		error = put(fd, zeroes, left < sizeof(zeroes) ? left : sizeof(zeroes),
				offset + done);
	}
	return error;
}

int shm_files_punch(const struct config_windows *windows, const char *runtime,
		const struct config_domain *owner, uint64_t place, uint64_t size) {
	const struct config_window *window =
			config_windows_find(windows, owner, gid_wire_window_number(place));
	uint64_t offset = gid_wire_window_offset(place);
	if (window == NULL || offset > window->made || size > window->made - offset) {
		return -ERANGE;
	}
	char *path = file_path(runtime, window);
	int fd = path == NULL ? -1 : open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	int error = fd < 0 ? -errno : overwrite(fd, offset, size);
	if (fd >= 0) {
		close(fd);
	}
	free(path);
	return error;
}

void shm_files_mark(struct config_windows *windows, const char *runtime,
		const struct config_domain *owner) {
	struct config_window *window;
	TAILQ_FOREACH(window, windows, entry) {
		if (window->owner == owner && window->size > 0) {
			(void)make(window, runtime, false); /* it logs its errors */
		}
	}
}

int shm_files_end_life(struct config_windows *windows, const char *runtime,
		const struct config_domain *owner) {
	struct config_window *window;
	int error = 0;
	TAILQ_FOREACH(window, windows, entry) {
		if (window->owner == owner && window->size > 0) {
			int failed = make(window, runtime, true);
			error = error == 0 ? failed : error;
		}
	}
	return error;
}
