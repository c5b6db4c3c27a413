// SPDX-License-Identifier: MIT
/* Windows in a guest: QEMU's ivshmem-plain devices, whose second resource is the memory. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pci.h"
#include "window.h"

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
		page = mmap(NULL, WINDOW_PAGE, PROT_READ, MAP_SHARED, fd, 0);
	}
	bool found = page != MAP_FAILED;
	if (found) {
		memcpy(&copy, page, sizeof(copy));
		munmap(page, WINDOW_PAGE);
		found = gid_wire_window_is_valid(&copy, (uint64_t)status.st_size) &&
			copy.domain == domain;
	}
	if (fd >= 0) {
		close(fd);
	}
	return found;
}

char *window_pci_find(uint32_t domain) {
	DIR *folder = opendir(PCI_DEVICES);
	char *found = NULL;
	struct dirent *entry;
	while (folder != NULL && found == NULL && (entry = readdir(folder)) != NULL) {
		char path[512];
		if (entry->d_name[0] == '.' || !pci_is_ivshmem(entry->d_name)) {
			continue;
		}
		enable(entry->d_name);
		snprintf(path, sizeof(path), PCI_DEVICES "/%s/resource2", entry->d_name);
		if (is_window_of(path, domain)) {
			found = realpath(path, NULL);
		}
	}
	if (folder != NULL) {
		closedir(folder);
	}
	return found;
}
