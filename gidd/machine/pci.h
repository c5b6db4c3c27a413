// SPDX-License-Identifier: MIT
/** QEMU's ivshmem devices among those on the PCI bus, as sysfs shows them. */
#ifndef GIDD_PCI_H
#define GIDD_PCI_H

#include <stdbool.h>

#define PCI_DEVICES "/sys/bus/pci/devices"

/* Either kind: a window, or a doorbell, which has a table of interrupts as well. */
bool pci_is_ivshmem(const char *device);

/*
 * The device's ACPI index: a number that the machine was made with, and that nobody writes who
 * merely has the device's memory. 0: it has none.
 */
unsigned pci_acpi_index(const char *device);

#endif
