// SPDX-License-Identifier: MIT
#include "shm_window.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "descriptor.h"
#include "gidd.h"
#include "log.h"
#include "memory.h"
#include "pci.h"
#include "shm_dax.h"
#include "shm_files.h"

/* --- windows in a guest: BAR 2 of QEMU's ivshmem-plain devices -------------------------------- */

/*
 * The file of that memory. On ARM, "resource2" maps it as device memory: unaligned reads, as
 * memcpy() makes them, kill the program with SIGBUS.
 */
#ifdef __aarch64__
#define MEMORY_FILE "resource2_wc"
#else
#define MEMORY_FILE "resource2"
#endif

/* Whether a configured path is that unsuitable file. */
static bool is_as_device(const char *path) {
	const char *name = strrchr(path, '/');
	return strcmp(MEMORY_FILE, "resource2") != 0 && name != NULL &&
			strcmp(name, "/resource2") == 0;
}

/* A device without a driver is disabled, and cannot be read. */
static void enable(const char *device) {
	char path[512];
	snprintf(path, sizeof(path), PCI_DEVICES "/%s/enable", device);
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd >= 0) {
		(void)!write(fd, "1", 1);
		close(fd);
	}
}

/* Copies the first page once: the window's owner may write it at any time. */
static int read_header(int fd, struct gid_wire_window *copy) {
	*copy = (struct gid_wire_window){0};
	void *page = mmap(NULL, SHM_PAGE, PROT_READ, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED) {
		return -errno;
	}
	memcpy(copy, page, sizeof(*copy));
	munmap(page, SHM_PAGE);
	return 0;
}

/* Which window of the domain the file claims to be; false: none. */
static bool read_claim(const char *path, uint32_t domain, uint32_t *number) {
	struct gid_wire_window copy;
	struct stat status;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool found = fd >= 0 && fstat(fd, &status) == 0 &&
			status.st_size >= (off_t)GID_WINDOW_MIN && read_header(fd, &copy) == 0 &&
			gid_wire_window_is_valid(&copy, (uint64_t)status.st_size) &&
			copy.domain == domain;
	if (fd >= 0) {
		close(fd);
	}
	*number = found ? copy.number : 0;
	return found;
}

/* The paths of a domain's windows that this domain may have, by number. */
struct places {
	uint32_t reader; /* our domain; 0: the windows are our own */
	char *paths[GID_WINDOWS_MAX];
	bool is_told[GID_WINDOWS_MAX];	  /* by the machine: what claims the number is none of it */
	uint32_t claims[GID_WINDOWS_MAX]; /* how many devices without an index claim the number */
};

static void places_finish(struct places *places) {
	for (uint32_t i = 0; i < GID_WINDOWS_MAX; i++) {
		free(places->paths[i]);
	}
}

static void claim_device(struct places *places, uint32_t domain, const char *path) {
	uint32_t number;
	if (read_claim(path, domain, &number) && !places->is_told[number] &&
			++places->claims[number] == 1) {
		places->paths[number] = realpath(path, NULL);
	}
}

/* Whatever claims to be that window, before or after. */
static void take_device(struct places *places, uint32_t number, const char *path) {
	free(places->paths[number]);
	places->paths[number] = realpath(path, NULL);
	places->is_told[number] = true;
	places->claims[number] = 0;
}

/* If several devices claim the same number, none of them is used. */
static void drop_unconfirmed(struct places *places, uint32_t domain) {
	for (uint32_t i = 0; i < GID_WINDOWS_MAX; i++) {
		if (places->claims[i] > 1) {
			log_warning("%u devices claim to be window %u of domain %u: none is taken; "
				    "give them acpi-index=, or name them by window-device=",
					places->claims[i], i, (unsigned)domain);
			free(places->paths[i]);
			places->paths[i] = NULL;
		}
	}
}

/*
 * The machine tells by a device's ACPI index which window it is, and that counts. Without an index
 * only its first page tells it, which its owner may write.
 */
static void find_devices(struct places *places, uint32_t domain) {
	DIR *folder = opendir(PCI_DEVICES);
	struct dirent *entry;
	while (folder != NULL && (entry = readdir(folder)) != NULL) {
		char path[512];
		if (entry->d_name[0] == '.' || !pci_is_ivshmem(entry->d_name)) {
			continue;
		}
		unsigned index = pci_acpi_index(entry->d_name);
		unsigned number = index / SHM_INDEX_STEP;
		snprintf(path, sizeof(path), PCI_DEVICES "/%s/" MEMORY_FILE, entry->d_name);
		if (index == 0) {
			enable(entry->d_name);
			claim_device(places, domain, path);
		} else if (index % SHM_INDEX_STEP == domain && number < GID_WINDOWS_MAX &&
				!places->is_told[number]) {
			enable(entry->d_name);
			take_device(places, number, path);
		}
	}
	if (folder != NULL) {
		closedir(folder);
	}
	drop_unconfirmed(places, domain);
}

/* Takes the hub's own files, on its system. */
static bool find_file(
		void *data, uint32_t number, const struct domain_set *readers, const char *path) {
	struct places *places = data;
	bool may_have = places->reader == 0 || domain_set_has(readers, places->reader);
	if (may_have && places->paths[number] == NULL) {
		places->paths[number] = strdup(path);
	}
	return true;
}

/* Takes the paths of window-device=, separated by spaces. */
static void find_named(struct places *places, const struct config_domain *domain) {
	const char *at = domain->window_device;
	while (at != NULL && *at != '\0') {
		size_t length = strcspn(at, " ");
		char path[512];
		if (length > 0 && length < sizeof(path)) {
			memcpy(path, at, length);
			path[length] = '\0';
			if (is_as_device(path)) {
				log_warning("window-device=%s: programs that copy from there would "
					    "be killed: name " MEMORY_FILE,
						path);
			} else {
				claim_device(places, domain->number, path);
			}
		}
		at += length + (at[length] == ' ');
	}
	drop_unconfirmed(places, domain->number);
}

/* Prefers the device-dax for our own windows that have one. */
static void add_dax(void *data, uint32_t slot, const char *path) {
	struct places *places = data;
	if (slot < GID_WINDOWS_MAX) {
		free(places->paths[slot]);
		places->paths[slot] = strdup(path);
	}
}

static void find_all(struct places *places, const struct gidd *gidd,
		const struct config_domain *domain) {
	if (domain->window_device != NULL) {
		find_named(places, domain);
	} else if (!shm_files_each(gidd->runtime, domain, find_file, places)) {
		find_devices(places, domain->number);
		if (domain == gidd->self) {
			shm_dax_each(add_dax, places);
		}
	}
}

/* --- opening ---------------------------------------------------------------------------------- */

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

/* Compares all but the readers. */
static bool is_header_of(const struct gid_wire_window *header, const struct shm_window *window) {
	return gid_wire_window_is_valid(header, window->head + window->size) &&
			header->domain == window->domain && header->number == window->number;
}

static int open_files(struct shm_window *window, bool own) {
	struct stat status;
	struct gid_wire_window header;
	window->fd = open(window->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (window->fd < 0 || fstat(window->fd, &status) < 0) {
		return -errno;
	}
	if ((!S_ISREG(status.st_mode) && (!own || !S_ISCHR(status.st_mode))) ||
			gid_memory_size(window->fd, &window->size) < 0 ||
			window->size < GID_WINDOW_MIN) {
		return -EBADF;
	}
	window->head = S_ISCHR(status.st_mode) ? SHM_DAX_HEAD : 0;
	window->dev = status.st_dev;
	window->ino = status.st_ino;
	int error = read_header(window->fd, &header);
	if (error < 0) {
		return error;
	}
	if (!is_header_of(&header, window)) {
		return -EBADF;
	}
	memcpy(window->readers.bits, header.readers, sizeof(header.readers));
	if (!own) {
		return 0;
	}
	if (window->size > SIZE_MAX) { /* for machines with 32-bit words */
		return -EFBIG;
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

/* Takes ownership of `path`. */
static struct shm_window *window_open(struct gidd *gidd, const struct config_domain *domain,
		uint32_t number, char *path) {
	struct shm_window *window = calloc(1, sizeof(*window));
	if (window == NULL) {
		free(path);
		return NULL;
	}
	*window = (struct shm_window){
			.domain = domain->number,
			.number = number,
			.path = path,
			.fd = -1,
			.writable = -1,
	};
	shm_map_init(&window->map, 0, 0);
	TAILQ_INIT(&window->dirty);
	int error = open_files(window, domain == gidd->self);
	if (error < 0) {
		log_warning("window %u of domain %s: %s: %s", number, domain->name, path,
				error == -EBADF ? "is none of it" : strerror(-error));
		window_destroy(window);
		return NULL;
	}
	/* The owner may see it as a device-dax, which begins at that offset. */
	bool skips = window->head == 0 && config_window_has_pages(domain, window->size);
	shm_map_init(&window->map, (skips ? SHM_DAX_HEAD : 0) + gid_memory_round_up(SHM_PAGE),
			window->size);
	log_info("window %u of domain %s: %s, %llu MiB", number, domain->name, window->path,
			(unsigned long long)window->size >> 20);
	return window;
}

/* --- what the hub says of our own windows ----------------------------------------------------- */

struct shm_own_windows {
	bool all;
	struct shm_own_window {
		uint64_t size, filled; /* 0: the hub has said nothing of this window */
		struct domain_set readers;
	} windows[GID_WINDOWS_MAX];
};

static const struct shm_own_window *find_own_window(
		const struct gidd *gidd, const struct shm_window *window) {
	const struct shm_own_window *own = gidd->own_windows == NULL
			? NULL
			: &gidd->own_windows->windows[window->number];
	return own != NULL && own->size == window->head + window->size ? own : NULL;
}

bool shm_window_knows_own(const struct gidd *gidd) {
	return gidd->own_windows != NULL && gidd->own_windows->all;
}

uint64_t shm_window_filled(const struct gidd *gidd, const struct shm_window *window) {
	const struct shm_own_window *own = find_own_window(gidd, window);
	return own == NULL || own->filled < window->head ? 0 : own->filled - window->head;
}

int shm_window_set_own(struct gidd *gidd, const struct gid_wire_own_window *message) {
	if (gidd->own_windows == NULL) {
		gidd->own_windows = calloc(1, sizeof(*gidd->own_windows));
	}
	if (gidd->own_windows == NULL) {
		return -ENOMEM;
	}
	struct shm_own_window *own = &gidd->own_windows->windows[message->number];
	own->size = message->size;
	own->filled = message->filled;
	memcpy(own->readers.bits, message->readers, sizeof(message->readers));
	gidd->own_windows->all = message->more == 0;
	/* The hub has just rewritten its first page, whatever it held before. */
	struct shm_window *window = shm_window_at(gidd, gidd->self->number, message->number);
	struct gid_wire_window header;
	if (window != NULL && read_header(window->fd, &header) == 0 &&
			is_header_of(&header, window)) {
		memcpy(window->readers.bits, header.readers, sizeof(header.readers));
	}
	return 0;
}

/* --- places ----------------------------------------------------------------------------------- */

uint64_t shm_window_place(const struct shm_window *window, uint64_t offset) {
	return gid_wire_window_place(window->number, offset == 0 ? 0 : window->head + offset);
}

bool shm_window_offset(const struct shm_window *window, uint64_t place, uint64_t *offset) {
	uint64_t in_file = gid_wire_window_offset(place);
	*offset = in_file == 0 ? 0 : in_file - window->head;
	return gid_wire_window_number(place) == window->number &&
			(in_file == 0 || in_file >= window->head);
}

/* --- finding ---------------------------------------------------------------------------------- */

struct shm_window *shm_window_at(struct gidd *gidd, uint32_t domain, uint32_t number) {
	struct shm_window *window;
	SLIST_FOREACH(window, &gidd->windows[domain], entry) {
		if (window->number == number) {
			break;
		}
	}
	return window;
}

bool shm_window_open_all(struct gidd *gidd, uint32_t domain) {
	const struct config_domain *owner = config_domain_by_number(gidd->config, domain);
	struct places places = {.reader = owner == gidd->self ? 0 : gidd->self->number};
	if (owner == NULL || !config_has_window(gidd->config, owner)) {
		return false;
	}
	find_all(&places, gidd, owner);
	for (uint32_t number = 0; number < GID_WINDOWS_MAX; number++) {
		if (places.paths[number] == NULL || shm_window_at(gidd, domain, number) != NULL) {
			continue;
		}
		struct shm_window *window = window_open(gidd, owner, number, places.paths[number]);
		places.paths[number] = NULL;
		if (window != NULL) {
			SLIST_INSERT_HEAD(&gidd->windows[domain], window, entry);
		}
	}
	places_finish(&places);
	return !SLIST_EMPTY(&gidd->windows[domain]);
}

struct shm_window *shm_window_find(struct gidd *gidd, uint32_t domain, uint32_t number) {
	struct shm_window *window = shm_window_at(gidd, domain, number);
	if (window == NULL && shm_window_open_all(gidd, domain)) {
		window = shm_window_at(gidd, domain, number);
	}
	return window;
}

static struct shm_window *find_for(struct gidd *gidd, const struct domain_set *readers) {
	struct shm_window *window;
	SLIST_FOREACH(window, &gidd->windows[gidd->self->number], entry) {
		const struct shm_own_window *own = find_own_window(gidd, window);
		if (own != NULL && domain_set_is_equal(&own->readers, readers) &&
				domain_set_is_equal(&window->readers, readers)) {
			break;
		}
	}
	return window;
}

struct shm_window *shm_window_find_for(struct gidd *gidd, const struct domain_set *readers) {
	struct shm_window *window = find_for(gidd, readers);
	if (window == NULL && shm_window_open_all(gidd, gidd->self->number)) {
		window = find_for(gidd, readers);
	}
	return window;
}

struct shm_window *shm_window_of(struct gidd *gidd, uint32_t domain, int fd) {
	struct shm_window *window;
	dev_t device;
	ino_t inode;
	if (!descriptor_find_file(fd, &device, &inode)) {
		return NULL;
	}
	SLIST_FOREACH(window, &gidd->windows[domain], entry) {
		if (device == window->dev && inode == window->ino) {
			break;
		}
	}
	return window;
}

void shm_window_forget(struct gidd *gidd, uint32_t domain) {
	struct shm_window *window;
	while ((window = SLIST_FIRST(&gidd->windows[domain])) != NULL) {
		SLIST_REMOVE_HEAD(&gidd->windows[domain], entry);
		window_destroy(window);
	}
}

void shm_window_forget_all(struct gidd *gidd) {
	for (uint32_t domain = 0; domain <= GID_DOMAIN_MAX; domain++) {
		shm_window_forget(gidd, domain);
	}
	free(gidd->own_windows);
	gidd->own_windows = NULL;
}

static const char *judge(const struct shm_window *window) {
	struct gid_wire_window header;
	uint64_t size;
	if (gid_memory_size(window->fd, &size) < 0 || size != window->size) {
		return "the size of its window has changed";
	}
	bool is_read = read_header(window->fd, &header) == 0;
	bool is_good = is_header_of(&header, window) &&
			memcmp(window->readers.bits, header.readers, sizeof(header.readers)) == 0;
	return is_read && !is_good ? "broken memory: the first page of its window" : NULL;
}

const char *shm_window_judge(struct gidd *gidd, uint32_t domain) {
	const struct shm_window *window;
	const char *why = NULL;
	if (SLIST_EMPTY(&gidd->windows[domain]) && !shm_window_open_all(gidd, domain)) {
		return "its windows are not there";
	}
	SLIST_FOREACH(window, &gidd->windows[domain], entry) {
		why = why == NULL ? judge(window) : why;
	}
	return why;
}

int shm_window_check(struct gidd *gidd, uint32_t domain, int fd, uint64_t offset, uint64_t size,
		const char **why) {
	if (SLIST_EMPTY(&gidd->windows[domain])) {
		shm_window_open_all(gidd, domain);
	}
	const struct shm_window *window = shm_window_of(gidd, domain, fd);
	if (window == NULL) {
		*why = "the descriptor is not a window of the domain";
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
