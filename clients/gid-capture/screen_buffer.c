// SPDX-License-Identifier: MIT
#include "screen_buffer.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "opaque_format.h"
#include "shm_format.h"

static int init_layout(struct gid_layout *layout, const struct source_form *form) {
	uint32_t fourcc = form->opaque ? format_without_alpha(form->fourcc) : form->fourcc;
	int error = gid_layout_init(layout, fourcc, form->width, form->height, 1);
	if (error == 0 && layout->plane_count != 1) {
		return -ENOTSUP;
	}
	if (error == 0 && form->stride < layout->planes[0].stride) {
		return -EINVAL;
	}
	layout->planes[0].stride = form->stride;
	return error;
}

/* Makes a memfd with all pages present: readers refuse memory with holes. */
static int create_memory(size_t size) {
	int fd = memfd_create("gid-screen", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0) {
		return -errno;
	}
	int error = posix_fallocate(fd, 0, (off_t)size);
	if (error == 0 && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0) {
		error = errno;
	}
	if (error != 0) {
		close(fd);
		return -error;
	}
	return fd;
}

static struct wl_buffer *create_wl_buffer(struct wl_shm *shm, const struct screen_buffer *buffer,
		const struct source_form *form) {
	struct wl_shm_pool *pool = wl_shm_create_pool(shm, buffer->fd, (int32_t)buffer->size);
	struct wl_buffer *object = wl_shm_pool_create_buffer(pool, 0, (int32_t)form->width,
			(int32_t)form->height, (int32_t)form->stride,
			shm_format_from_fourcc(form->fourcc));
	wl_shm_pool_destroy(pool);
	return object;
}

struct screen_buffer *screen_buffer_create(struct wl_shm *shm, const struct source_form *form) {
	struct screen_buffer *buffer = calloc(1, sizeof(*buffer));
	if (buffer == NULL) {
		warnx("not enough memory");
		return NULL;
	}
	int error = init_layout(&buffer->layout, form);
	uint64_t size = error == 0 ? gid_layout_size(&buffer->layout) : 0;
	if (error == 0 && (size == 0 || size > INT32_MAX)) {
		error = -EINVAL;
	}
	buffer->size = (size_t)size;
	buffer->fd = error == 0 ? create_memory(buffer->size) : error;
	if (buffer->fd < 0) {
		error = buffer->fd;
		goto error_fd;
	}
	buffer->data = mmap(NULL, buffer->size, PROT_READ, MAP_SHARED, buffer->fd, 0);
	if (buffer->data == MAP_FAILED) {
		error = -errno;
		goto error_map;
	}
	buffer->buffer = create_wl_buffer(shm, buffer, form);
	wl_list_init(&buffer->link);
	return buffer;

error_map:
	close(buffer->fd);
error_fd:
	warnx("memory for pictures of %ux%u, format %.4s: %s", form->width, form->height,
			(const char *)&form->fourcc, gid_strerror(error));
	free(buffer);
	return NULL;
}

void screen_buffer_destroy(struct screen_buffer *buffer) {
	if (buffer == NULL) {
		return;
	}
	wl_list_remove(&buffer->link);
	wl_buffer_destroy(buffer->buffer);
	gid_slab_destroy(buffer->slab, false);
	munmap((void *)buffer->data, buffer->size);
	if (buffer->fd >= 0) {
		close(buffer->fd);
	}
	free(buffer);
}

int screen_buffer_export(struct screen_buffer *buffer, struct gid_domain *domain) {
	if (fcntl(buffer->fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE | F_SEAL_SEAL) != 0) {
		return -errno;
	}
	int error = gid_slab_export(domain, buffer->fd, 0, &buffer->layout, NULL, &buffer->slab);
	close(buffer->fd);
	buffer->fd = -1;
	return error;
}
