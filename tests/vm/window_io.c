// SPDX-License-Identifier: MIT
/*
 * The kernel's ways into and out of a slab of a window with pages, for a test:
 *
 *     window-io DEVICE STREAM WIDTH HEIGHT
 *
 * One frame comes from the disk by O_DIRECT, the next one by splice and vmsplice. The first is
 * given back to the kernel by vmsplice as well, without a copy. Sends both, and ends when their
 * receiver is gone.
 */
#include <drm_fourcc.h>
#include <err.h>
#include <fcntl.h>
#include <gid/stream.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#define FRAMES 2

struct sender {
	struct gid_domain *domain;
	struct gid_slab *slab;
	struct gid_producer *producer;
};

static void read_directly(const char *path, void *data, size_t size) {
	int fd = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC);
	if (fd < 0) {
		err(EXIT_FAILURE, "%s", path);
	}
	ssize_t got = pread(fd, data, size, 0);
	if (got != (ssize_t)size) {
		err(EXIT_FAILURE, "O_DIRECT read %zd of %zu bytes", got, size);
	}
	close(fd);
}

static void read_by_splice(const char *path, off_t offset, uint8_t *data, size_t size) {
	int fd = open(path, O_RDONLY | O_CLOEXEC), ends[2];
	if (fd < 0 || pipe2(ends, O_CLOEXEC) < 0) {
		err(EXIT_FAILURE, "%s", path);
	}
	while (size > 0) {
		ssize_t in = splice(fd, &offset, ends[1], NULL, size, 0);
		if (in <= 0) {
			err(EXIT_FAILURE, "splice from the disk: %zd", in);
		}
		for (ssize_t left = in; left > 0;) {
			struct iovec part = {data, (size_t)left};
			ssize_t out = vmsplice(ends[0], &part, 1, 0);
			if (out <= 0) {
				err(EXIT_FAILURE, "vmsplice into the slab: %zd", out);
			}
			data += out;
			left -= out;
		}
		size -= (size_t)in;
	}
	close(ends[0]);
	close(ends[1]);
	close(fd);
}

/* Into a memfd, by reference as far as the pipe. Whether it is the same there. */
static bool write_by_splice(uint8_t *data, size_t size) {
	int fd = memfd_create("spliced", MFD_CLOEXEC), ends[2];
	if (fd < 0 || pipe2(ends, O_CLOEXEC) < 0) {
		err(EXIT_FAILURE, "memfd or pipe");
	}
	for (size_t done = 0; done < size;) {
		struct iovec part = {data + done, size - done};
		ssize_t in = vmsplice(ends[1], &part, 1, 0);
		if (in <= 0) {
			err(EXIT_FAILURE, "vmsplice out of the slab: %zd", in);
		}
		done += (size_t)in;
		while (in > 0) {
			ssize_t out = splice(ends[0], NULL, fd, NULL, (size_t)in, 0);
			if (out <= 0) {
				err(EXIT_FAILURE, "splice into a memfd: %zd", out);
			}
			in -= out;
		}
	}
	void *copy = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	bool same = copy != MAP_FAILED && memcmp(copy, data, size) == 0;
	close(ends[0]);
	close(ends[1]);
	close(fd);
	return same;
}

static void wait_a_moment(const struct sender *sender) {
	struct pollfd fds[] = {
			{.fd = gid_domain_get_fd(sender->domain), .events = POLLIN},
			{.fd = gid_producer_get_fd(sender->producer), .events = POLLIN},
	};
	poll(fds, 2, 100);
	gid_domain_dispatch(sender->domain);
	gid_producer_dispatch(sender->producer);
}

static void send_all(struct sender *sender) {
	while (gid_producer_consumers(sender->producer) == 0) {
		wait_a_moment(sender);
	}
	for (uint32_t i = 0; i < FRAMES; i++) {
		struct gid_frame frame = GID_FRAME_INIT;
		frame.gid = gid_slab_gid(sender->slab, i);
		if (gid_producer_send(sender->producer, &frame) != 1) {
			errx(EXIT_FAILURE, "frame %u: %s", i, gid_domain_error(sender->domain));
		}
	}
	struct gid_frame end = GID_FRAME_INIT;
	end.flags = GID_FRAME_EOS;
	if (gid_producer_send(sender->producer, &end) < 0) {
		errx(EXIT_FAILURE, "the end: %s", gid_domain_error(sender->domain));
	}
	while (gid_producer_consumers(sender->producer) > 0) { /* a sink keeps the last one */
		wait_a_moment(sender);
	}
}

int main(int argc, char **argv) {
	struct sender sender = {0};
	struct gid_layout layout;
	struct gid_slab_info info;
	if (argc != 5 || gid_domain_connect(NULL, &sender.domain) < 0) {
		errx(EXIT_FAILURE, "usage: window-io DEVICE STREAM WIDTH HEIGHT, with a gidd");
	}
	gid_layout_init(&layout, DRM_FORMAT_XRGB8888, (uint32_t)atoi(argv[3]),
			(uint32_t)atoi(argv[4]), 64);
	struct gid_producer_options options = {
			.size = sizeof(options), .lease_ns = 600000000000ull};
	if (gid_slab_create_for_stream(
			    sender.domain, argv[2], &layout, 0, FRAMES, NULL, &sender.slab) < 0 ||
			gid_producer_create(sender.domain, argv[2], &options, &sender.producer) <
					0) {
		errx(EXIT_FAILURE, "%s", gid_domain_error(sender.domain));
	}
	gid_slab_get_info(sender.slab, &info);
	if (info.memory != GID_MEMORY_WINDOW) {
		errx(EXIT_FAILURE, "the slab is in no window");
	}
	size_t size = gid_layout_size(&layout);
	for (uint32_t i = 0; i < FRAMES; i++) {
		memset(gid_slab_data(sender.slab, i), 0, size);
	}
	read_directly(argv[1], gid_slab_data(sender.slab, 0), size);
	read_by_splice(argv[1], (off_t)size, gid_slab_data(sender.slab, 1), size);
	if (!write_by_splice(gid_slab_data(sender.slab, 0), size)) {
		errx(EXIT_FAILURE, "vmsplice gave other bytes than those of the slab");
	}
	send_all(&sender);
	gid_producer_destroy(sender.producer);
	gid_slab_destroy(sender.slab, false);
	gid_domain_destroy(sender.domain);
	return EXIT_SUCCESS;
}
