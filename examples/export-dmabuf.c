// SPDX-License-Identifier: MIT
/*
 * Shares memory that exists already: a dma-buf, as a camera, a decoder or a GPU hands them out.
 * Here it is made of a memfd by /dev/udmabuf; where that is not to be had, the memfd itself is
 * exported. The picture is not copied: the slab that consumers import is this very memory.
 *
 * Usage: export-dmabuf STREAM [SECONDS]
 *
 * Build: cc export-dmabuf.c $(pkg-config --cflags --libs libgid libdrm)
 */
#define _GNU_SOURCE 1 /* memfds and their seals */
#include <drm_fourcc.h>
#include <errno.h>
#include <fcntl.h>
#include <gid/stream.h>
#include <linux/udmabuf.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define WIDTH 256 /* rows of 1024 bytes, 64 pages in all: udmabuf wants whole pages */
#define HEIGHT 256

/* A sealed memfd with a picture: sealed against writing, so that it can go to other domains. */
static int make_memory(size_t size) {
	int fd = memfd_create("picture", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0 || ftruncate(fd, (off_t)size) < 0) {
		return -1;
	}
	uint32_t *pixels = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (pixels == MAP_FAILED) {
		return -1;
	}
	for (size_t i = 0; i < size / sizeof(*pixels); i++) {
		pixels[i] = 0xff000000 | (uint32_t)(i % WIDTH) << 16 | (uint32_t)(i / WIDTH);
	}
	munmap(pixels, size);
	return fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) < 0 ? -1 : fd;
}

static int make_dmabuf(int memory, size_t size) {
	int device = open("/dev/udmabuf", O_RDWR | O_CLOEXEC);
	struct udmabuf_create create = {
			.memfd = (uint32_t)memory, .flags = UDMABUF_FLAGS_CLOEXEC, .size = size};
	int fd = device < 0 ? -1 : ioctl(device, UDMABUF_CREATE, &create);
	if (device >= 0) {
		close(device);
	}
	return fd;
}

int main(int argc, char **argv) {
	struct gid_layout layout;
	struct gid_domain *domain;
	if (argc < 2) {
		fprintf(stderr, "Usage: export-dmabuf STREAM [SECONDS]\n");
		return EXIT_FAILURE;
	}
	gid_layout_init(&layout, DRM_FORMAT_XRGB8888, WIDTH, HEIGHT, 64);
	size_t size = gid_layout_size(&layout);
	int memory = make_memory(size), dmabuf = memory < 0 ? -1 : make_dmabuf(memory, size);
	if (memory < 0) {
		perror("export-dmabuf");
		return EXIT_FAILURE;
	}
	if (dmabuf < 0) {
		fprintf(stderr, "export-dmabuf: no /dev/udmabuf: the memfd instead\n");
		fcntl(memory, F_ADD_SEALS, F_SEAL_WRITE);
	}
	if (gid_domain_connect(NULL, &domain) < 0) {
		fprintf(stderr, "export-dmabuf: %s\n", gid_domain_connect_error());
		return EXIT_FAILURE;
	}
	struct gid_slab *slab = NULL;
	struct gid_producer *producer = NULL;
	int error = gid_slab_export(domain, dmabuf < 0 ? memory : dmabuf, 0, &layout, NULL, &slab);
	if (error == 0) {
		error = gid_producer_create(domain, argv[1], NULL, &producer);
	}
	uint64_t end = gid_clock_now() + (argc > 2 ? strtoull(argv[2], NULL, 10) : 10) * 1000000000;
	while (error >= 0 && gid_clock_now() < end) {
		/* A slab of one slot: the next frame only when nobody holds the last one. */
		if (gid_slab_holders(slab, 0) == 0) {
			struct gid_frame frame = GID_FRAME_INIT;
			frame.gid = gid_slab_gid(slab, 0);
			frame.capture_time = gid_clock_now();
			error = gid_producer_send(producer, &frame);
		}
		struct pollfd fd = {.fd = gid_domain_get_fd(domain), .events = POLLIN};
		poll(&fd, 1, 33);
		gid_domain_dispatch(domain);
		gid_producer_dispatch(producer);
	}
	if (error < 0) {
		fprintf(stderr, "export-dmabuf: %s\n", gid_domain_error(domain));
	}
	gid_producer_destroy(producer);
	gid_slab_destroy(slab, false);
	gid_domain_destroy(domain);
	return error < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
