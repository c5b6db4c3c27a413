// SPDX-License-Identifier: MIT
#include "shm_dax.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define DAX_DEVICES "/sys/bus/dax/devices"
#define ND_DEVICES "/sys/bus/nd/devices"

/* --- the information block -------------------------------------------------------------------- */

/* struct nd_pfn_sb of Linux, drivers/nvdimm/pfn.h; little-endian. */
struct info {
	char signature[16];
	uint8_t uuid[16], parent_uuid[16];
	uint32_t flags;
	uint16_t version_major, version_minor;
	uint64_t data_offset;
	uint64_t page_count;
	uint32_t mode;
	uint32_t start_pad, end_trunc;
	uint32_t align;
	uint32_t page_size;
	uint16_t page_struct_size;
	uint8_t padding[3994];
	uint64_t checksum;
};

_Static_assert(sizeof(struct info) == SHM_DAX_INFO_SIZE, "as the kernel has it");

#define MODE_RAM 1u /* the kernel keeps its page tables in its own memory */
#define PAGE 4096u
#define PAGE_STRUCT_SIZE 64u

/* The checksum is Fletcher's, over words of 32 bits. */
static uint64_t sum(const uint8_t *bytes, size_t size) {
	uint32_t low = 0, word;
	uint64_t high = 0;
	for (size_t at = 0; at < size; at += sizeof(word)) {
		memcpy(&word, bytes + at, sizeof(word));
		low += word;
		high += low;
	}
	return high << 32 | low;
}

void shm_dax_put_info(uint8_t block[static SHM_DAX_INFO_SIZE], uint64_t size) {
	struct info info = {
			.version_major = 1,
			.version_minor = 4,
			.data_offset = SHM_DAX_HEAD,
			.page_count = (size - SHM_DAX_HEAD) / PAGE,
			.mode = MODE_RAM,
			.align = PAGE,
			.page_size = PAGE,
			.page_struct_size = PAGE_STRUCT_SIZE,
	};
	memcpy(info.signature, "NVDIMM_DAX_INFO", sizeof(info.signature));
	memcpy(info.uuid, "gidway's window", sizeof(info.uuid)); /* must not be zero */
	memcpy(block, &info, sizeof(info));
	info.checksum = sum(block, sizeof(info));
	memcpy(block, &info, sizeof(info));
}

/* --- devices ---------------------------------------------------------------------------------- */

/* Reads one number of a file in sysfs. */
static bool read_number(const char *path, const char *format, unsigned *number) {
	FILE *file = fopen(path, "re");
	bool read = file != NULL && fscanf(file, format, number) == 1;
	if (file != NULL) {
		fclose(file);
	}
	return read;
}

/*
 * Finds the slot of the NVDIMM to which a memory region belongs. QEMU's handle of slot n is n + 1.
 */
static bool find_slot(unsigned region, uint32_t *slot) {
	char path[128];
	unsigned dimm, handle;
	snprintf(path, sizeof(path), ND_DEVICES "/region%u/mapping0", region);
	if (!read_number(path, "nmem%u", &dimm)) {
		return false;
	}
	snprintf(path, sizeof(path), ND_DEVICES "/nmem%u/nfit/handle", dimm);
	if (!read_number(path, "%x", &handle) || handle == 0) {
		return false;
	}
	*slot = handle - 1;
	return true;
}

void shm_dax_each(void (*each)(void *data, uint32_t slot, const char *path), void *data) {
	DIR *folder = opendir(DAX_DEVICES);
	const struct dirent *entry;
	while (folder != NULL && (entry = readdir(folder)) != NULL) {
		unsigned region, part;
		uint32_t slot;
		char path[64];
		/* Other parts of a region begin at other offsets. */
		if (sscanf(entry->d_name, "dax%u.%u", &region, &part) == 2 && part == 0 &&
				find_slot(region, &slot)) {
			snprintf(path, sizeof(path), "/dev/dax%u.%u", region, part);
			each(data, slot, path);
		}
	}
	if (folder != NULL) {
		closedir(folder);
	}
}
