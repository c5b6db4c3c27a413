// SPDX-License-Identifier: MIT
#include "slots.h"

#include <drm_fourcc.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "video_formats.h"

/* Black, in the highest byte of a sample. */
#define LUMA_BLACK 16
#define CHROMA_GREY 128

uint8_t *slots_own(const struct slots *slots, uint32_t number) {
	return slots->own[number].data;
}

/* Readers that lay the camera over something else would show that through a black without alpha. */
static void fill_alpha(const struct slots *slots, uint8_t *picture) {
	const struct gid_layout *layout = &slots->own_layout;
	const struct gid_format_info *format = gid_format_find(layout->fourcc);
	const struct gid_format_sample *alpha = &format->samples[3];
	const uint64_t mask = ((UINT64_C(1) << alpha->bits) - 1) << alpha->shift;
	const uint32_t bytes = gid_format_row_bytes(layout->fourcc, 0, layout->width);
	for (uint32_t y = 0; y < layout->height && mask != 0; y++) {
		uint8_t *row = picture + layout->planes[0].offset +
				(size_t)y * layout->planes[0].stride;
		for (uint32_t x = 0; x < bytes; x++) {
			row[x] = (uint8_t)(mask >> x % format->planes[0].bytes * 8);
		}
	}
}

/* Zero is black, but in YUV, where luma has its own and colours the middle of their range. */
void slots_fill_black(const struct slots *slots, uint32_t number) {
	const struct gid_layout *layout = &slots->own_layout;
	uint8_t *picture = slots_own(slots, number);
	const struct gid_format_info *format = gid_format_find(layout->fourcc);
	memset(picture, 0, slots->size);
	if (format->kind != GID_FORMAT_YUV) {
		fill_alpha(slots, picture);
		return;
	}
	for (uint32_t i = 0; i < 3; i++) {
		const struct gid_format_sample *sample = &format->samples[i];
		const struct gid_format_plane *shape = &format->planes[sample->plane];
		const struct gid_plane *plane = &layout->planes[sample->plane];
		uint32_t rows = gid_format_rows(layout->fourcc, sample->plane, layout->height);
		uint32_t bytes = gid_format_row_bytes(layout->fourcc, sample->plane, layout->width);
		uint8_t value = i == 0 ? LUMA_BLACK : CHROMA_GREY;
		/* the sample's highest byte; a block of several pixels repeats the first sample */
		uint32_t first = (sample->shift + sample->bits - 1u) / 8u;
		uint32_t step = i == 0 ? shape->bytes / shape->hsub : shape->bytes;
		for (uint32_t y = 0; y < rows && step > 0; y++) {
			uint8_t *row = picture + plane->offset + (size_t)y * plane->stride;
			for (uint32_t x = first; x < bytes; x += step) {
				row[x] = value;
			}
		}
	}
}

/* Makes packed pixels opaque: four bytes each, of which the producer filled three. */
static void make_opaque(const struct slots *slots, uint8_t *picture) {
	const struct gid_layout *layout = &slots->own_layout;
	const struct gid_format_sample *alpha = &gid_format_find(layout->fourcc)->samples[3];
	const uint32_t mask = ((UINT32_C(1) << alpha->bits) - 1) << alpha->shift;
	uint32_t *pixels = (uint32_t *)(void *)picture; // a file of its own begins there
	for (size_t i = 0; i < (size_t)layout->width * layout->height; i++) {
		pixels[i] |= htole32(mask);
	}
}

void slots_pack(const struct slots *slots, uint32_t number, const uint8_t *picture,
		const struct gid_box *seen) {
	const struct gid_layout *from = &slots->layout, *to = &slots->own_layout;
	const struct gid_format_info *format = gid_format_find(from->fourcc);
	uint8_t *own = slots_own(slots, number);
	for (uint32_t i = 0; i < to->plane_count; i++) {
		const struct gid_format_plane *plane = &format->planes[i];
		const uint32_t rows = gid_format_rows(to->fourcc, i, to->height);
		const uint32_t bytes = to->planes[i].stride;
		const uint8_t *first = picture + from->planes[i].offset +
				(size_t)((uint32_t)seen->y / plane->vsub) * from->planes[i].stride +
				(uint32_t)seen->x / plane->hsub * plane->bytes;
		for (uint32_t y = 0; y < rows; y++) {
			memcpy(own + to->planes[i].offset + (size_t)y * bytes,
					first + (size_t)y * from->planes[i].stride, bytes);
		}
	}
	if (to->fourcc != from->fourcc) {
		make_opaque(slots, own);
	}
}

/* Who gets the descriptor can neither write nor resize what is ours. */
static int own_slot_init(struct own_slot *own, uint64_t size) {
	int seals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE;
	int fd = memfd_create("gid-pipewire", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);
	void *data = MAP_FAILED;
	if (fd >= 0 && ftruncate(fd, (off_t)size) == 0) {
		data = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	}
	if (data != MAP_FAILED && fcntl(fd, F_ADD_SEALS, seals) == 0) {
		*own = (struct own_slot){.data = data, .fd = fd};
		return 0;
	}
	int error = -errno;
	if (data != MAP_FAILED) {
		munmap(data, size);
	}
	if (fd >= 0) {
		close(fd);
	}
	return error;
}

static int init_packed(struct slots *slots, const struct gid_box *packed) {
	struct gid_layout *own = &slots->own_layout;
	int error = gid_layout_init(own, video_browsers_format_of(own->fourcc),
			(uint32_t)packed->width, (uint32_t)packed->height, 1);
	own->colours = slots->layout.colours;
	slots->packed = true;
	return error;
}

int slots_init(struct slots *slots, const struct gid_layout *layout, const struct gid_box *packed) {
	*slots = (struct slots){.layout = *layout, .own_layout = *layout};
	int error = packed != NULL ? init_packed(slots, packed) : 0;
	slots->size = gid_layout_size(&slots->own_layout);
	if (layout->modifier != DRM_FORMAT_MOD_LINEAR || slots->size == 0 ||
			slots->size > INT32_MAX / OWN_SLOTS) {
		return -ENOTSUP;
	}
	for (uint32_t i = 0; i < OWN_SLOTS && error == 0; i++) {
		error = own_slot_init(&slots->own[i], slots->size);
	}
	return error;
}

void slots_finish(struct slots *slots) {
	for (uint32_t i = 0; i < slots->slab_count; i++) {
		gid_slab_unref(slots->slabs[i].slab);
	}
	for (uint32_t i = 0; i < OWN_SLOTS; i++) {
		if (slots->own[i].data != NULL) {
			munmap(slots->own[i].data, slots->size);
			close(slots->own[i].fd);
		}
	}
	*slots = (struct slots){0};
}

static void slots_remove(struct slots *slots, uint32_t place) {
	gid_slab_unref(slots->slabs[place].slab);
	slots->slab_count--;
	memmove(&slots->slabs[place], &slots->slabs[place + 1],
			(slots->slab_count - place) * sizeof(slots->slabs[0]));
}

/* Of those that are not offered. */
static void slots_sweep(struct slots *slots) {
	for (uint32_t i = slots->slab_count; i-- > 0;) {
		struct slots_slab *slab = &slots->slabs[i];
		gid_slab_get_info(slab->slab, &slab->info);
		if (slab->info.revoked && !slab->offered) {
			slots_remove(slots, i);
		}
	}
}

void slots_add(struct slots *slots, struct gid_slab *slab) {
	struct slots_slab added = {.slab = slab};
	gid_slab_get_info(slab, &added.info);
	slots_sweep(slots);
	if (slots->slab_count == SLABS_MAX) {
		uint32_t place = 0;
		while (place < SLABS_MAX - 1 && slots->slabs[place].offered) {
			place++;
		}
		slots_remove(slots, place);
	}
	slots->slabs[slots->slab_count++] = added;
}

void slots_offer(struct slots *slots, bool dmabufs) {
	uint32_t count = OWN_SLOTS;
	for (uint32_t i = 0; i < slots->slab_count; i++) {
		slots->slabs[i].offered = false;
	}
	slots_sweep(slots);
	for (uint32_t i = 0; i < slots->slab_count && !slots->packed; i++) {
		const struct gid_slab_info *info = &slots->slabs[i].info;
		uint64_t end = info->offset + info->slot_size * info->slot_count;
		bool refused = info->memory == GID_MEMORY_DMABUF && !dmabufs;
		if (count + info->slot_count > SLOTS_MAX || end > UINT32_MAX || refused) {
			break; // and none after it, so that those that are come first
		}
		slots->slabs[i].offered = true;
		count += info->slot_count;
	}
}

uint32_t slots_count(const struct slots *slots) {
	uint32_t count = OWN_SLOTS;
	for (uint32_t i = 0; i < slots->slab_count && slots->slabs[i].offered; i++) {
		count += slots->slabs[i].info.slot_count;
	}
	return count;
}

uint32_t slots_find(const struct slots *slots, gid_id gid) {
	uint32_t first = OWN_SLOTS, slot = gid_slot_of(gid);
	for (uint32_t i = 0; i < slots->slab_count && slots->slabs[i].offered; i++) {
		const struct gid_slab_info *info = &slots->slabs[i].info;
		if (gid_slab_key(info->gid) == gid_slab_key(gid)) {
			return slot < info->slot_count ? first + slot : SLOT_NONE;
		}
		first += info->slot_count;
	}
	return SLOT_NONE;
}

struct gid_slab *slots_slab(const struct slots *slots, gid_id gid) {
	for (uint32_t i = 0; i < slots->slab_count; i++) {
		if (gid_slab_key(slots->slabs[i].info.gid) == gid_slab_key(gid)) {
			return slots->slabs[i].slab;
		}
	}
	return NULL;
}

struct slots_place slots_place(const struct slots *slots, uint32_t number) {
	if (number < OWN_SLOTS) {
		return (struct slots_place){
				.fd = slots->own[number].fd,
				.size = (uint32_t)slots->size,
		};
	}
	uint32_t slot = number - OWN_SLOTS;
	const struct slots_slab *slab = slots->slabs;
	while (slot >= slab->info.slot_count) {
		slot -= slab->info.slot_count;
		slab++;
	}
	return (struct slots_place){
			.fd = slab->info.fd,
			.offset = (uint32_t)(slab->info.offset + slot * slab->info.slot_size),
			.size = (uint32_t)slots->size,
			.dmabuf = slab->info.memory == GID_MEMORY_DMABUF,
	};
}
