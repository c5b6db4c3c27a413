// SPDX-License-Identifier: MIT
/*
 * hostile-dma PATTERN [own]: in a guest, has devices of the guest write by themselves (DMA) into
 * the memory of other domains, or, to see that they can, into its own domain's. PATTERN: 16
 * hexadecimal digits, which fill each page that is written.
 *
 * The devices are QEMU's teaching devices (edu), which read and write where their registers say.
 * At first the guest's IOMMU stands between, which has no page mapped for them: they are asked to
 * write into a page of this program. Then the guest's kernel, which here is the attacker's, lets
 * them through; that they write into that page now shows that they can. From then on they write
 * into pages of the windows of other domains, at random, and where there is no memory at all.
 *
 * Before all that this program itself writes into such pages, as the guest's processor can.
 *
 * Needs root. Says that it writes as soon as it does so, and ends with status 2 where a page of a
 * window is seen to have the pattern.
 */
#include <err.h>
#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "ending.h"
#include "random.h"

#define PAGE 4096u
#define MANY 16
#define PCI_COMMAND 4 /* of its configuration space */
#define PCI_COMMAND_MEMORY_AND_MASTER 6

/* The device's registers, and the place of its own memory in the addresses that it takes. */
#define FROM 0x80
#define TO 0x88
#define BYTES 0x90
#define ORDER 0x98
#define ORDER_START 1u
#define ORDER_TO_MEMORY 2u
#define INSIDE 0x40000u

#define NO_MEMORY (UINT64_C(1) << 44) /* beyond all that a guest has */
#define UNTOUCHED UINT64_C(0x5555555555555555)
#define LOOK_NS 5000000
#define LOOKS 2000
#define WRITES 1000

struct device {
	volatile uint8_t *registers;
	char folder[128];
};

struct window {
	uint64_t address;
	const volatile uint64_t *memory;
	size_t pages;
};

struct attack {
	struct random random;
	uint64_t pattern;
	bool aims_at_own;
	struct device devices[MANY];
	struct window windows[MANY];
	size_t device_count, window_count;
	uint64_t *own; /* a page of ours, and its address for devices */
	uint64_t own_address;
	uint64_t refused, passed, arrived, tried, nowhere, changed;
	uint64_t written, held; /* pages, by the processor */
};

/* --- what there is ---------------------------------------------------------------------------- */

static bool is_kind(const char *folder, unsigned vendor, unsigned device) {
	const char *names[] = {"vendor", "device"};
	unsigned wanted[] = {vendor, device}, found = 0;
	for (int i = 0; i < 2; i++) {
		char path[160];
		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		FILE *file = fopen(path, "re");
		if (file == NULL || fscanf(file, "%x", &found) != 1) {
			found = 0;
		}
		if (file != NULL) {
			fclose(file);
		}
		if (found != wanted[i]) {
			return false;
		}
	}
	return true;
}

static void write_text(const char *folder, const char *name, const char *text) {
	char path[192];
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, text, strlen(text)) < 0) {
		err(EXIT_FAILURE, "%s", path);
	}
	close(fd);
}

static void *map_resource(const char *folder, int number, size_t *size) {
	char path[160];
	struct stat status;
	snprintf(path, sizeof(path), "%s/resource%d", folder, number);
	int fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &status) < 0) {
		err(EXIT_FAILURE, "%s", path);
	}
	*size = (size_t)status.st_size;
	void *memory = mmap(NULL, *size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED) {
		err(EXIT_FAILURE, "%s", path);
	}
	close(fd);
	return memory;
}

static void add_device(struct attack *attack, const char *folder) {
	struct device *device = &attack->devices[attack->device_count++];
	char path[160];
	size_t size;
	uint16_t command = PCI_COMMAND_MEMORY_AND_MASTER;
	snprintf(device->folder, sizeof(device->folder), "%s", folder);
	write_text(folder, "enable", "1");
	snprintf(path, sizeof(path), "%s/config", folder);
	int fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0 || pwrite(fd, &command, sizeof(command), PCI_COMMAND) != sizeof(command)) {
		err(EXIT_FAILURE, "%s", path);
	}
	close(fd);
	device->registers = map_resource(folder, 0, &size);
}

/* Whose it is follows from whether we may write it. */
static void add_window(struct attack *attack, const char *folder) {
	struct window *window = &attack->windows[attack->window_count];
	char path[160];
	size_t size;
	uint64_t before;
	snprintf(path, sizeof(path), "%s/resource", folder);
	FILE *file = fopen(path, "re");
	if (file == NULL ||
			fscanf(file, "%*x %*x %*x %*x %*x %*x %" SCNx64, &window->address) != 1) {
		errx(EXIT_FAILURE, "%s: no addresses", path);
	}
	fclose(file);
	volatile uint64_t *memory = map_resource(folder, 2, &size);
	size_t last = size / sizeof(*memory) - 1;
	before = memory[last];
	memory[last] = ~before;
	bool is_own = memory[last] != before;
	memory[last] = before;
	if (is_own != attack->aims_at_own) {
		munmap((void *)memory, size);
		return;
	}
	window->memory = memory;
	window->pages = size / PAGE;
	attack->window_count++;
}

static void find_all(struct attack *attack) {
	glob_t found;
	if (glob("/sys/bus/pci/devices/*", 0, NULL, &found) != 0) {
		errx(EXIT_FAILURE, "there are no PCI devices");
	}
	for (size_t i = 0; i < found.gl_pathc; i++) {
		const char *folder = found.gl_pathv[i];
		char bell[160];
		snprintf(bell, sizeof(bell), "%s/resource1", folder); /* of the doorbell alone */
		if (is_kind(folder, 0x1234, 0x11e8) && attack->device_count < MANY) {
			add_device(attack, folder);
		} else if (is_kind(folder, 0x1af4, 0x1110) && access(bell, F_OK) != 0 &&
				attack->window_count < MANY) {
			add_window(attack, folder);
		}
	}
	globfree(&found);
	if (attack->device_count == 0 || attack->window_count == 0) {
		errx(EXIT_FAILURE,
				"there are %zu devices that write, and %zu windows to write into",
				attack->device_count, attack->window_count);
	}
}

static void make_own_page(struct attack *attack) {
	uint64_t entry;
	attack->own = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_LOCKED | MAP_POPULATE, -1, 0);
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	off_t at = (off_t)((uintptr_t)attack->own / PAGE * sizeof(entry));
	if (attack->own == MAP_FAILED || fd < 0 ||
			pread(fd, &entry, sizeof(entry), at) != sizeof(entry)) {
		err(EXIT_FAILURE, "the address of a page");
	}
	close(fd);
	attack->own_address = (entry & ((UINT64_C(1) << 55) - 1)) * PAGE;
	if (attack->own_address == 0) {
		errx(EXIT_FAILURE, "only root is told the addresses of pages");
	}
}

static void fill_own(struct attack *attack, uint64_t with) {
	for (size_t i = 0; i < PAGE / sizeof(with); i++) {
		((volatile uint64_t *)attack->own)[i] = with;
	}
}

/* --- what they do ----------------------------------------------------------------------------- */

static void set_register(const struct device *device, unsigned which, uint64_t value) {
	*(volatile uint64_t *)(device->registers + which) = value;
}

/* A page from one address to another, one of which is the device's own memory. */
static void move_page(const struct device *device, uint64_t from, uint64_t to) {
	set_register(device, FROM, from);
	set_register(device, TO, to);
	set_register(device, BYTES, PAGE);
	set_register(device, ORDER, ORDER_START | (from == INSIDE ? ORDER_TO_MEMORY : 0));
	for (int i = 0; i < LOOKS; i++) {
		if (!(*(volatile uint64_t *)(device->registers + ORDER) & ORDER_START)) {
			return;
		}
		nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
	}
	errx(EXIT_FAILURE, "%s does not write", device->folder);
}

/* Whether it wrote anything at all into our page. */
static bool reaches_us(struct attack *attack, const struct device *device) {
	fill_own(attack, UNTOUCHED);
	move_page(device, INSIDE, attack->own_address);
	return *(volatile uint64_t *)attack->own != UNTOUCHED;
}

static void let_through(const struct device *device) {
	char path[160];
	snprintf(path, sizeof(path), "%s/iommu_group/type", device->folder);
	if (access(path, F_OK) == 0) {
		write_text(device->folder, "iommu_group/type", "identity");
	}
}

static void begin(struct attack *attack) {
	for (size_t i = 0; i < attack->device_count; i++) {
		const struct device *device = &attack->devices[i];
		bool passed = reaches_us(attack, device);
		attack->passed += passed;
		attack->refused += !passed;
		let_through(device);
		fill_own(attack, attack->pattern);
		move_page(device, attack->own_address, INSIDE);
		attack->arrived += reaches_us(attack, device) &&
				*(volatile uint64_t *)attack->own == attack->pattern;
	}
	if (attack->arrived != attack->device_count) {
		errx(EXIT_FAILURE, "of %zu devices %" PRIu64 " can write", attack->device_count,
				attack->arrived);
	}
}

static const struct window *some_page(struct attack *attack, size_t *page) {
	uint64_t chance = random_next(&attack->random);
	const struct window *window = &attack->windows[(chance >> 8) % attack->window_count];
	*page = (chance >> 20) % window->pages;
	return window;
}

static void write_by_hand(struct attack *attack) {
	for (; attack->written < WRITES; attack->written++) {
		size_t page;
		const struct window *window = some_page(attack, &page);
		volatile uint64_t *place =
				(uint64_t *)window->memory + page * PAGE / sizeof(uint64_t);
		*place = attack->pattern;
		attack->held += *place == attack->pattern;
	}
}

static void strike(struct attack *attack, const struct device *device) {
	size_t page;
	if (random_below(&attack->random, 8) == 0) {
		uint64_t beyond = random_below(&attack->random, NO_MEMORY) / PAGE * PAGE;
		move_page(device, INSIDE, NO_MEMORY + beyond);
		attack->nowhere++;
		return;
	}
	const struct window *window = some_page(attack, &page);
	move_page(device, INSIDE, window->address + page * PAGE);
	attack->tried++;
	attack->changed += window->memory[page * PAGE / sizeof(uint64_t)] == attack->pattern;
}

int main(int argc, char **argv) {
	static struct attack attack = {.random.state = 0x9e3779b97f4a7c15u};
	char *end;
	attack.aims_at_own = argc == 3 && strcmp(argv[2], "own") == 0;
	if (argc < 2 || argc != 2 + attack.aims_at_own || strlen(argv[1]) != 16 ||
			(attack.pattern = strtoull(argv[1], &end, 16), *end != '\0')) {
		fprintf(stderr, "usage: hostile-dma PATTERN [own]\n");
		return EXIT_FAILURE;
	}
	ending_init();
	find_all(&attack);
	make_own_page(&attack);
	write_by_hand(&attack);
	begin(&attack);
	fprintf(stderr, "writes\n");
	for (size_t i = 0; !ending || attack.tried == 0; i++) {
		strike(&attack, &attack.devices[i % attack.device_count]);
	}
	printf("{\"devices\": %zu, \"windows\": %zu, \"refused\": %" PRIu64 ", \"passed\": %" PRIu64
	       ", \"written\": %" PRIu64 ", \"held\": %" PRIu64 ", \"arrived\": %" PRIu64
	       ", \"tried\": %" PRIu64 ", \"nowhere\": %" PRIu64 ", \"changed\": %" PRIu64 "}\n",
			attack.device_count, attack.window_count, attack.refused, attack.passed,
			attack.written, attack.held, attack.arrived, attack.tried, attack.nowhere,
			attack.changed);
	return attack.changed + attack.held > 0 ? 2 : EXIT_SUCCESS;
}
