// SPDX-License-Identifier: MIT
/*
 * hostile-fences STREAM: frames whose pictures no device ever ends to draw in time. Their memory is
 * of the kernel's vgem, which gives any program fences of its own to signal, or not to.
 *
 * Of three pictures in turn, the fence of one is never signalled; that of the next only when nobody
 * waits for its frame any more, and another one comes in its place; and the last has the fence of
 * the first, which is another picture's.
 *
 * The kernel signals a fence by itself after 10 s. What is never signalled has the fences of two
 * sources, therefore, of which one is always younger than that.
 */
#include <drm/drm.h>
#include <drm/drm_mode.h>
#include <drm/vgem_drm.h>
#include <drm_fourcc.h>
#include <err.h>
#include <fcntl.h>
#include <gid/stream.h>
#include <inttypes.h>
#include <linux/dma-buf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "ending.h"

#define WIDTH 320u
#define HEIGHT 80u
#define CARDS 16
#define PERIOD_NS 20000000
#define LATE_NS 3000000000ull /* longer than a role's deadline */
#define SOURCES 2
#define APART_NS 5000000000ull

enum { NEVER, LATE, OTHERS, PICTURES };

/* Memory of vgem, and the fence that it got last. */
struct bo {
	uint32_t handle, pitch;
	int dmabuf;
	uint32_t fence; /* of vgem; 0: none */
	uint64_t since;
};

struct picture {
	struct bo bo;
	struct gid_slab *slab;
};

struct fences {
	struct gid_domain *domain;
	struct gid_producer *producer;
	struct gid_layout layout;
	int card;
	struct picture pictures[PICTURES];
	struct bo sources[SOURCES];
	bool is_late_due;	  /* its fence has no frame yet */
	uint64_t given[PICTURES]; /* fences */
	uint64_t sent, refused;
};

static int open_vgem(void) {
	for (int i = 0; i < CARDS; i++) {
		char path[32], name[16] = "";
		snprintf(path, sizeof(path), "/dev/dri/card%d", i);
		struct drm_version version = {.name = name, .name_len = sizeof(name) - 1};
		int card = open(path, O_RDWR | O_CLOEXEC);
		if (card < 0) {
			continue;
		}
		if (ioctl(card, DRM_IOCTL_VERSION, &version) == 0 && strcmp(name, "vgem") == 0) {
			return card;
		}
		close(card);
	}
	errx(EXIT_FAILURE, "there is no vgem");
}

static void bo_init(struct bo *bo, int card) {
	struct drm_mode_create_dumb dumb = {.width = WIDTH, .height = HEIGHT, .bpp = 32};
	struct drm_prime_handle prime = {.flags = DRM_CLOEXEC | DRM_RDWR};
	if (ioctl(card, DRM_IOCTL_MODE_CREATE_DUMB, &dumb) != 0) {
		err(EXIT_FAILURE, "no memory of vgem");
	}
	prime.handle = bo->handle = dumb.handle;
	if (ioctl(card, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime) != 0) {
		err(EXIT_FAILURE, "no dma-buf of vgem");
	}
	bo->dmabuf = prime.fd;
	bo->pitch = dumb.pitch;
}

/* vgem takes no other fence while one is pending. */
static bool bo_attach(struct bo *bo, int card) {
	struct drm_vgem_fence_attach fence = {.handle = bo->handle, .flags = VGEM_FENCE_WRITE};
	if (ioctl(card, DRM_IOCTL_VGEM_FENCE_ATTACH, &fence) != 0) {
		return false;
	}
	bo->fence = fence.out_fence;
	bo->since = gid_clock_now();
	return true;
}

/* Whoever waits for `bo` waits for the other one, too. */
static bool bo_take_fences(const struct bo *bo, const struct bo *from) {
	struct dma_buf_export_sync_file taken = {.flags = DMA_BUF_SYNC_WRITE, .fd = -1};
	if (ioctl(from->dmabuf, DMA_BUF_IOCTL_EXPORT_SYNC_FILE, &taken) != 0) {
		return false;
	}
	struct dma_buf_import_sync_file put = {.flags = DMA_BUF_SYNC_WRITE, .fd = taken.fd};
	bool took = ioctl(bo->dmabuf, DMA_BUF_IOCTL_IMPORT_SYNC_FILE, &put) == 0;
	close(taken.fd);
	return took;
}

static void picture_export(struct fences *fences, struct picture *picture) {
	if (gid_slab_export(fences->domain, picture->bo.dmabuf, 0, &fences->layout, NULL,
			    &picture->slab) != 0) {
		errx(EXIT_FAILURE, "%s", gid_domain_error(fences->domain));
	}
}

static void picture_init(struct fences *fences, struct picture *picture) {
	bo_init(&picture->bo, fences->card);
	fences->layout.planes[0].stride = picture->bo.pitch;
	picture_export(fences, picture);
}

static void never_end(struct fences *fences) {
	struct picture *pictures = fences->pictures;
	struct bo *sources = fences->sources;
	for (int i = 0; i < SOURCES; i++) {
		bool is_first = i == 0 && sources[0].since == 0;
		bool is_apart = gid_clock_now() - sources[1 - i].since >= APART_NS;
		if ((is_first || (sources[0].since != 0 && is_apart)) &&
				bo_attach(&sources[i], fences->card)) {
			fences->given[NEVER]++;
		}
		bo_take_fences(&pictures[NEVER].bo, &sources[i]);
	}
	fences->given[OTHERS] += bo_take_fences(&pictures[OTHERS].bo, &pictures[NEVER].bo);
}

static void end_late(struct fences *fences) {
	struct bo *bo = &fences->pictures[LATE].bo;
	struct drm_vgem_fence_signal done = {.fence = bo->fence};
	if (bo->fence != 0 && gid_clock_now() - bo->since > LATE_NS) {
		ioctl(fences->card, DRM_IOCTL_VGEM_FENCE_SIGNAL, &done);
		bo->fence = 0;
	}
	if (bo->fence == 0 && bo_attach(bo, fences->card)) {
		fences->given[LATE]++;
		fences->is_late_due = true;
	}
}

/* Of the late picture only one for each fence, so that none waits when it is signalled. */
static void send_frame(struct fences *fences, unsigned which) {
	struct picture *picture = &fences->pictures[which];
	if (which == LATE && !fences->is_late_due) {
		return;
	}
	struct gid_frame frame = GID_FRAME_INIT;
	frame.gid = gid_slab_gid(picture->slab, 0);
	int ret = gid_producer_send(fences->producer, &frame);
	*(ret < 0 ? &fences->refused : &fences->sent) += 1;
	if (ret < 0) {
		/* Its lease is over: memory that is brought is gone then, and is brought again. */
		gid_slab_destroy(picture->slab, false);
		picture_export(fences, picture);
	} else if (which == LATE) {
		fences->is_late_due = false;
	}
}

int main(int argc, char **argv) {
	static struct fences fences;
	struct gid_producer_options options = {.size = sizeof(options)};
	if (argc != 2) {
		errx(EXIT_FAILURE, "usage: hostile-fences STREAM, with a vgem");
	}
	fences.card = open_vgem();
	if (gid_domain_connect(NULL, &fences.domain) < 0) {
		errx(EXIT_FAILURE, "%s", gid_domain_connect_error());
	}
	gid_layout_init(&fences.layout, DRM_FORMAT_XRGB8888, WIDTH, HEIGHT, 64);
	for (int i = 0; i < SOURCES; i++) {
		bo_init(&fences.sources[i], fences.card);
	}
	for (unsigned i = 0; i < PICTURES; i++) {
		picture_init(&fences, &fences.pictures[i]);
	}
	if (gid_producer_create(fences.domain, argv[1], &options, &fences.producer) < 0) {
		errx(EXIT_FAILURE, "%s", gid_domain_error(fences.domain));
	}
	ending_init();
	for (unsigned tick = 0; !ending; tick++) {
		gid_domain_dispatch(fences.domain);
		gid_producer_dispatch(fences.producer);
		never_end(&fences);
		end_late(&fences);
		send_frame(&fences, tick % PICTURES);
		nanosleep(&(struct timespec){.tv_nsec = PERIOD_NS}, NULL);
	}
	printf("{\"never\": %" PRIu64 ", \"late\": %" PRIu64 ", \"others\": %" PRIu64
	       ", \"sent\": %" PRIu64 ", \"refused\": %" PRIu64 "}\n",
			fences.given[NEVER], fences.given[LATE], fences.given[OTHERS], fences.sent,
			fences.refused);
	return EXIT_SUCCESS;
}
