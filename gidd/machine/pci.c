// SPDX-License-Identifier: MIT
#include "pci.h"

#include <stdio.h>

/* docs/specs/ivshmem-spec.rst of QEMU */
#define IVSHMEM_VENDOR 0x1af4
#define IVSHMEM_DEVICE 0x1110

static bool read_number(
		const char *device, const char *file, const char *format, unsigned *number) {
	char path[512];
	snprintf(path, sizeof(path), PCI_DEVICES "/%s/%s", device, file);
	FILE *stream = fopen(path, "re");
	bool read = stream != NULL && fscanf(stream, format, number) == 1;
	if (stream != NULL) {
		fclose(stream);
	}
	return read;
}

bool pci_is_ivshmem(const char *device) {
	unsigned vendor, kind;
	return read_number(device, "vendor", "%x", &vendor) && vendor == IVSHMEM_VENDOR &&
			read_number(device, "device", "%x", &kind) && kind == IVSHMEM_DEVICE;
}

unsigned pci_acpi_index(const char *device) {
	unsigned index;
	return read_number(device, "acpi_index", "%u", &index) ? index : 0;
}
