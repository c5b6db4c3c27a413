// SPDX-License-Identifier: MIT
/*
 * The doorbell device of a guest, opened through VFIO, so that its interrupts arrive as eventfds:
 * one vector for each domain that may ring, and a pool of vectors for single subscriptions. The
 * device's memory tells what each vector means. Ringing is a write to a register. For a client the
 * kernel does that write when the client writes to an eventfd (VFIO_DEVICE_IOEVENTFD): this one
 * value only.
 *
 * VFIO needs an IOMMU, in a guest a virtual one, and the kernel modules vfio-pci and
 * vfio_iommu_type1.
 */
#include "doorbell_vfio.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/pci_regs.h>
#include <linux/vfio.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "gidd.h"
#include "pci.h"
#include "socket.h"

#define DRIVER "vfio-pci"
#define WHY_SIZE 192
/* docs/specs/ivshmem-spec of QEMU: BAR 0 has the registers, BAR 2 the memory. */
#define REGISTER_DOORBELL 12
#define DOORBELL_PEER_SHIFT 16
#define VECTORS_MAX (GID_DOMAIN_MAX + GID_BELLS_POOL)

struct device {
	char name[32]; /* its PCI address */
	int container, group, fd;
	uint64_t registers; /* their offset in `fd` */
	struct gid_wire_bells bells;
	int fds[VECTORS_MAX]; /* those of the pool: -1 while unused */
};

__attribute__((format(printf, 2, 3))) static int fail(char *why, const char *format, ...) {
	int error = errno;
	va_list args;
	va_start(args, format);
	int size = vsnprintf(why, WHY_SIZE, format, args);
	va_end(args);
	if (size >= 0 && size < WHY_SIZE) {
		snprintf(why + size, (size_t)(WHY_SIZE - size), ": %s", strerror(error));
	}
	return error == 0 ? -EIO : -error;
}

/* --- sysfs ------------------------------------------------------------------------------------ */

/* A window is the same device without interrupts, so without the BAR of their table. */
static bool is_doorbell(const char *device) {
	char table[PATH_MAX];
	snprintf(table, sizeof(table), PCI_DEVICES "/%s/resource1", device);
	return pci_is_ivshmem(device) && access(table, F_OK) == 0;
}

static int find_device(char name[static 32]) {
	DIR *folder = opendir(PCI_DEVICES);
	struct dirent *entry;
	int found = -ENODEV;
	while (folder != NULL && found < 0 && (entry = readdir(folder)) != NULL) {
		if (entry->d_name[0] != '.' && strlen(entry->d_name) < 32 &&
				is_doorbell(entry->d_name)) {
			strcpy(name, entry->d_name);
			found = 0;
		}
	}
	if (folder != NULL) {
		closedir(folder);
	}
	return found;
}

static int write_text(const char *path, const char *text) {
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t written = fd < 0 ? -1 : write(fd, text, strlen(text));
	int error = written < 0 ? -errno : 0;
	gid_socket_close_fds(&fd, 1);
	errno = -error;
	return error;
}

/* Binds the device to the driver of VFIO, unless that has it already. */
static int bind(const char *device, char *why) {
	char path[PATH_MAX], target[PATH_MAX];
	snprintf(path, sizeof(path), PCI_DEVICES "/%s/driver", device);
	ssize_t size = readlink(path, target, sizeof(target) - 1);
	if (size >= 0) {
		target[size] = '\0';
		const char *driver = strrchr(target, '/');
		errno = EBUSY;
		return driver != NULL && strcmp(driver + 1, DRIVER) == 0
				? 0
				: fail(why, "the device %s has another driver", device);
	}
	snprintf(path, sizeof(path), PCI_DEVICES "/%s/driver_override", device);
	if (write_text(path, DRIVER) < 0) {
		return fail(why, "%s", path);
	}
	/* Writing driver_override succeeds even without such a driver. */
	if (write_text("/sys/bus/pci/drivers/" DRIVER "/bind", device) < 0) {
		return fail(why,
				"the device %s cannot be given to " DRIVER
				" (modprobe vfio-pci; is the virtual IOMMU there, intel_iommu=on?)",
				device);
	}
	return 0;
}

/* --- VFIO ------------------------------------------------------------------------------------- */

static int open_group(struct device *device, char *why) {
	char path[PATH_MAX], target[PATH_MAX];
	snprintf(path, sizeof(path), PCI_DEVICES "/%s/iommu_group", device->name);
	ssize_t size = readlink(path, target, sizeof(target) - 1);
	if (size < 0) {
		return fail(why, "the device %s is behind no IOMMU (intel_iommu=on?)",
				device->name);
	}
	target[size] = '\0';
	const char *group = strrchr(target, '/');
	snprintf(path, sizeof(path), "/dev/vfio/%.64s", group == NULL ? "" : group + 1);
	device->group = open(path, O_RDWR | O_CLOEXEC);
	return device->group < 0 ? fail(why, "%s", path) : 0;
}

static int open_device(struct device *device, char *why) {
	struct vfio_group_status status = {.argsz = sizeof(status)};
	device->container = open("/dev/vfio/vfio", O_RDWR | O_CLOEXEC);
	if (device->container < 0 ||
			ioctl(device->container, VFIO_GET_API_VERSION) != VFIO_API_VERSION ||
			ioctl(device->container, VFIO_CHECK_EXTENSION, VFIO_TYPE1_IOMMU) != 1) {
		return fail(why, "/dev/vfio/vfio (modprobe vfio_iommu_type1)");
	}
	int error = open_group(device, why);
	if (error < 0) {
		return error;
	}
	if (ioctl(device->group, VFIO_GROUP_GET_STATUS, &status) < 0 ||
			(status.flags & VFIO_GROUP_FLAGS_VIABLE) == 0) {
		return fail(why, "the IOMMU group of %s has devices with other drivers",
				device->name);
	}
	if (ioctl(device->group, VFIO_GROUP_SET_CONTAINER, &device->container) < 0 ||
			ioctl(device->container, VFIO_SET_IOMMU, VFIO_TYPE1_IOMMU) < 0) {
		return fail(why, "the IOMMU group of %s", device->name);
	}
	device->fd = ioctl(device->group, VFIO_GROUP_GET_DEVICE_FD, device->name);
	return device->fd < 0 ? fail(why, "VFIO has no device %s", device->name) : 0;
}

static int find_region(
		const struct device *device, uint32_t index, uint64_t size, uint64_t *offset) {
	struct vfio_region_info info = {.argsz = sizeof(info), .index = index};
	if (ioctl(device->fd, VFIO_DEVICE_GET_REGION_INFO, &info) < 0) {
		return -errno;
	}
	*offset = info.offset;
	return info.size < size ? -EINVAL : 0;
}

/*
 * Reads where the registers are, and the device's memory. Enables bus mastering: without it the
 * device cannot interrupt.
 */
static int read_device(struct device *device, char *why) {
	uint64_t memory = 0, config = 0;
	uint16_t command;
	errno = EPROTO;
	if (find_region(device, VFIO_PCI_BAR0_REGION_INDEX, REGISTER_DOORBELL + sizeof(uint32_t),
			    &device->registers) < 0 ||
			find_region(device, VFIO_PCI_BAR2_REGION_INDEX, sizeof(device->bells),
					&memory) < 0 ||
			find_region(device, VFIO_PCI_CONFIG_REGION_INDEX, PCI_STD_HEADER_SIZEOF,
					&config) < 0 ||
			pread(device->fd, &command, sizeof(command), (off_t)config + PCI_COMMAND) !=
					sizeof(command)) {
		return fail(why, "the device %s is not one of QEMU's", device->name);
	}
	command |= PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER;
	if (pwrite(device->fd, &command, sizeof(command), (off_t)config + PCI_COMMAND) !=
					sizeof(command) ||
			pread(device->fd, &device->bells, sizeof(device->bells), (off_t)memory) !=
					sizeof(device->bells)) {
		return fail(why, "the device %s cannot be read", device->name);
	}
	return 0;
}

static int set_vectors(
		const struct device *device, uint32_t start, const int *fds, uint32_t count) {
	union {
		struct vfio_irq_set set;
		char bytes[sizeof(struct vfio_irq_set) + VECTORS_MAX * sizeof(int)];
	} irq = {.set = {
				 .argsz = (uint32_t)(sizeof(irq.set) + count * sizeof(int)),
				 .flags = VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER,
				 .index = VFIO_PCI_MSIX_IRQ_INDEX,
				 .start = start,
				 .count = count,
		 }};
	memcpy(irq.set.data, fds, count * sizeof(int));
	return ioctl(device->fd, VFIO_DEVICE_SET_IRQS, &irq) < 0 ? -errno : 0;
}

/*
 * Enables all vectors at once; those of the pool get no eventfd yet. A device without vectors for
 * the pool belongs to a machine that was started without one.
 */
static int enable_vectors(struct device *device) {
	struct vfio_irq_info info = {.argsz = sizeof(info), .index = VFIO_PCI_MSIX_IRQ_INDEX};
	uint32_t count = device->bells.count, all = count + count * device->bells.pool;
	if (ioctl(device->fd, VFIO_DEVICE_GET_IRQ_INFO, &info) == 0 && info.count >= all &&
			set_vectors(device, 0, device->fds, all) == 0) {
		return 0;
	}
	device->bells.pool = 0;
	return set_vectors(device, 0, device->fds, count);
}

static int listen_to_all(struct device *device, struct doorbell *doorbell, char *why) {
	uint32_t count = device->bells.count;
	for (uint32_t i = 0; i < count; i++) {
		device->fds[i] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		if (device->fds[i] < 0 ||
				doorbell_listen(doorbell, i, device->bells.domains[i],
						device->fds[i]) < 0) {
			return fail(why, "vector %u of the device %s", i, device->name);
		}
	}
	return enable_vectors(device) < 0
			? fail(why, "the interrupts of the device %s", device->name)
			: 0;
}

/* --- the kind --------------------------------------------------------------------------------- */

/* The domain's index among those that ring us and that we ring, or -1. */
static int find_place(const struct device *device, uint32_t domain) {
	const uint8_t *domains = device->bells.domains;
	const uint8_t *at = memchr(domains, (int)domain, device->bells.count);
	return at == NULL ? -1 : (int)(at - domains);
}

static int device_ring(void *data, uint32_t domain) {
	const struct device *device = data;
	uint32_t value = domain << DOORBELL_PEER_SHIFT;
	if (find_place(device, domain) < 0) {
		return -ENOENT;
	}
	return pwrite(device->fd, &value, sizeof(value),
			       (off_t)device->registers + REGISTER_DOORBELL) == sizeof(value)
			? 0
			: -EIO;
}

/* The kernel masks a vector without an eventfd; an interrupt meanwhile stays pending. */
static void device_mute(void *data, uint32_t vector, bool mute) {
	const struct device *device = data;
	int none = -1;
	(void)set_vectors(device, vector, mute ? &none : &device->fds[vector], 1);
}

static void device_close(void *data) {
	struct device *device = data;
	gid_socket_close_fds(&device->fd, 1);
	gid_socket_close_fds(&device->group, 1);
	gid_socket_close_fds(&device->container, 1);
	gid_socket_close_fds(device->fds, VECTORS_MAX);
	free(device);
}

/* Always makes a new eventfd: the previous user of the vector can neither ring nor hear it. */
static int device_take(void *data, uint32_t domain, uid_t user, struct doorbell_vector *vector) {
	struct device *device = data;
	int place = find_place(device, domain);
	uint32_t pool = device->bells.pool, index = 0;
	uint32_t first = device->bells.count + (uint32_t)(place < 0 ? 0 : place) * pool;
	while (index < pool && device->fds[first + index] >= 0) {
		index++;
	}
	if (place < 0 || index == pool) {
		return -ENOSPC;
	}
	int *fd = &device->fds[first + index];
	*fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (*fd < 0 || set_vectors(device, first + index, fd, 1) < 0) {
		gid_socket_close_fds(fd, 1);
		return -ENOSPC;
	}
	*vector = (struct doorbell_vector){domain, 1 + index, first + index, *fd};
	return 0;
}

static void device_give_back(void *data, const struct doorbell_vector *vector) {
	struct device *device = data;
	device_mute(device, vector->number, true);
	gid_socket_close_fds(&device->fds[vector->number], 1);
}

/* `fd` -1 removes it. */
static int set_ringer(const struct device *device, uint32_t domain, uint32_t index, int fd) {
	struct vfio_device_ioeventfd ringer = {
			.argsz = sizeof(ringer),
			.flags = VFIO_DEVICE_IOEVENTFD_32,
			.offset = device->registers + REGISTER_DOORBELL,
			.data = domain << DOORBELL_PEER_SHIFT | index,
			.fd = fd,
	};
	return ioctl(device->fd, VFIO_DEVICE_IOEVENTFD, &ringer) < 0 ? -errno : 0;
}

/* A machine without a pool cannot ring the pools of others either. */
static int device_open_ringer(void *data, uint32_t domain, uint32_t index, uid_t user, int *fd) {
	const struct device *device = data;
	if (find_place(device, domain) < 0 || device->bells.pool == 0) {
		return -ENOTSUP;
	}
	*fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	int error = *fd < 0 ? -errno : set_ringer(device, domain, index, *fd);
	if (error < 0) {
		gid_socket_close_fds(fd, 1);
	}
	return error;
}

static void device_close_ringer(void *data, uint32_t domain, uint32_t index, int fd) {
	(void)set_ringer(data, domain, index, -1);
	gid_socket_close_fds(&fd, 1);
}

static const struct doorbell_kind kind = {
		.ring = device_ring,
		.mute = device_mute,
		.close = device_close,
		.take = device_take,
		.give_back = device_give_back,
		.open_ringer = device_open_ringer,
		.close_ringer = device_close_ringer,
};

static int open_all(struct device *device, char *why) {
	int error = bind(device->name, why);
	if (error == 0) {
		error = open_device(device, why);
	}
	return error < 0 ? error : read_device(device, why);
}

int doorbell_vfio_open(
		struct gidd *gidd, doorbell_heard heard, struct doorbell **doorbell, char *why) {
	struct device *device = calloc(1, sizeof(*device));
	if (device == NULL) {
		return -ENOMEM;
	}
	device->container = device->group = device->fd = -1;
	memset(device->fds, -1, sizeof(device->fds));
	int error = find_device(device->name);
	if (error == 0) {
		error = open_all(device, why);
	}
	if (error == 0 &&
			(!gid_wire_bells_is_valid(&device->bells) ||
					device->bells.domain != gidd->self->number)) {
		snprintf(why, WHY_SIZE, "the device %s is not one of domain %s", device->name,
				gidd->self->name);
		error = -EPROTO;
	}
	if (error == 0) {
		*doorbell = doorbell_create(gidd, heard, device->bells.cookie, &kind, device);
		error = *doorbell == NULL ? -ENOMEM : 0;
	}
	if (error < 0) {
		device_close(device);
		return error;
	}
	error = listen_to_all(device, *doorbell, why);
	if (error < 0) {
		doorbell_destroy(*doorbell);
		*doorbell = NULL;
	}
	return error;
}
