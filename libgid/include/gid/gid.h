// SPDX-License-Identifier: MIT
/**
 * Names and layouts: what a gid is, and what the pixels of a slot mean.
 *
 * All functions here except the clock are pure: no descriptor, no allocation, no global state. All
 * of them may be called from any thread. No object here has to be created or freed: the caller
 * fills a layout with gid_layout_init() or by hand, checks it with gid_layout_check(), and passes
 * it to the function that makes the slab.
 *
 * ABI rules, for this header and the others: a program that was built against one version runs with
 * every later version of the same soname.
 * - Structs of options begin with their `size`. New fields are added at the end. For a program that
 *   does not know a field, the library takes it as 0.
 * - All other structs that the caller allocates never change their size. Their `reserved` fields
 *   are 0. A later version may give such a field a meaning, and 0 then means today's behaviour.
 * - Enums may get new values. A caller ignores values that it does not know.
 * - A struct that is returned by a constant pointer (gid_format_info) may grow at its end.
 */
#ifndef GID_GID_H
#define GID_GID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/**
 * A global identifier: 64 bits that name one slot of one slab of one domain.
 *
 *     domain 8 (63..56) | slab 24 (55..32) | slot 16 (31..16) | generation 16 (15..0)
 *
 * A gid is a name, not a capability: knowing one gives nobody access. GID_NONE names nothing.
 */
typedef uint64_t gid_id;

#define GID_NONE UINT64_C(0)

#define GID_DOMAIN_MAX 254u	  /**< domains are numbered 1..254 */
#define GID_SLAB_MAX 0xffffffu	  /**< slabs are numbered 1..2^24-1 in their domain */
#define GID_SLOTS_MAX 4096u	  /**< slots of one slab */
#define GID_NAME_MAX 63u	  /**< bytes of a domain's or a stream's name */
#define GID_PLANES_MAX 4u	  /**< planes of a layout */
#define GID_SIZE_MAX 16384u	  /**< pixels, width and height of a layout */
#define GID_DESCRIPTION_MAX 2047u /**< bytes of a slab's description */
#define GID_TEXT_MAX 32u	  /**< bytes of a gid's text form, with its terminating NUL */

/** Builds a gid from its four parts. Returns GID_NONE if a part is out of range. */
gid_id gid_make(uint32_t domain, uint32_t slab, uint32_t slot, uint32_t generation);

/* As compilers ask for it that warn of all conversions. */
#ifdef __cplusplus
#define GID_32_BITS(value) static_cast<uint32_t>(value)
#else
#define GID_32_BITS(value) (uint32_t)(value)
#endif

static inline uint32_t gid_domain_of(gid_id gid) {
	return GID_32_BITS(gid >> 56);
}

static inline uint32_t gid_slab_of(gid_id gid) {
	return gid >> 32 & 0xffffffu;
}

static inline uint32_t gid_slot_of(gid_id gid) {
	return gid >> 16 & 0xffffu;
}

static inline uint32_t gid_generation_of(gid_id gid) {
	return gid & 0xffffu;
}

/** The part of a gid that names its slab: equal for all slots and generations of one slab. */
static inline uint32_t gid_slab_key(gid_id gid) {
	return GID_32_BITS(gid >> 32);
}

#undef GID_32_BITS

/** Writes the text form, "1:42.3#7" (domain:slab.slot#generation), and returns `text`. */
char *gid_format(gid_id gid, char text[GID_TEXT_MAX]);

/** Reads the text form. Returns 0, or -EINVAL; `*gid` is not changed then. */
int gid_parse(const char *text, gid_id *gid);

/**
 * Whether `name` can be a stream's or a domain's name: 1..GID_NAME_MAX bytes of a-z A-Z 0-9 - _ .
 * and, between other characters, `/`. A name has no control character, no space, no `..` path.
 */
bool gid_name_is_valid(const char *name);

/** Which codes of a sample are used, for gid_colours.range. */
enum gid_range {
	GID_RANGE_UNKNOWN = 0,
	GID_RANGE_FULL = 1,    /**< all of them: 0 to 255 where a sample has 8 bits */
	GID_RANGE_LIMITED = 2, /**< luma 16 to 235, colour 16 to 240, of 8 bits */
};

/** MatrixCoefficients of ITU-T H.273 that say how YUV is converted, for gid_colours.matrix. */
enum gid_matrix {
	GID_MATRIX_UNKNOWN = 0, /**< as all others: taken for BT.601 */
	GID_MATRIX_BT709 = 1,
	GID_MATRIX_FCC = 4,
	GID_MATRIX_BT470BG = 5, /**< BT.601 of 625 lines: the same coefficients */
	GID_MATRIX_BT601 = 6,
	GID_MATRIX_SMPTE240M = 7,
	GID_MATRIX_BT2020 = 9, /**< of non-constant luminance */
};

/** Matrix: the planes hold red, green and blue. H.273 has 0 for it. */
#define GID_COLOUR_RGB 63u
/** Primaries and transfer of Adobe RGB, which H.273 has not. */
#define GID_COLOUR_ADOBE_RGB 129u
/** Transfer: a gamma of 1.8, likewise. */
#define GID_COLOUR_GAMMA_18 130u
/** Transfer: a gamma of 2.0, likewise. */
#define GID_COLOUR_GAMMA_20 131u
/** The greatest number of a matrix. */
#define GID_COLOUR_MATRIX_MAX 63u

/**
 * How the numbers of a picture are meant as colours. All but `range` are the numbers of ITU-T
 * H.273, or one of GID_COLOUR_*; 0: not said. YUV of which nothing is said is BT.601 of limited
 * range.
 */
struct gid_colours {
	uint8_t primaries; /**< ColourPrimaries */
	uint8_t transfer;  /**< TransferCharacteristics */
	uint8_t matrix;	   /**< MatrixCoefficients, at most GID_COLOUR_MATRIX_MAX */
	uint8_t range;	   /**< enum gid_range */
};

/**
 * What the pixels of a slot mean. Fixed when the slab is exported.
 *
 * `width` and `height` are those of the picture, in pixels. Strides and offsets are in bytes; an
 * offset counts from the start of the slot. They may leave room for more rows than the picture has:
 * a decoder may need 1092 rows for a picture of 1080.
 */
struct gid_layout {
	uint32_t fourcc;	    /**< DRM_FORMAT_* */
	struct gid_colours colours; /**< all 0: not said */
	uint64_t modifier;	    /**< DRM_FORMAT_MOD_*, LINEAR for memory that a CPU reads */
	uint32_t width, height;
	uint32_t plane_count;
	struct gid_plane {
		uint32_t offset;
		uint32_t stride;
	} planes[GID_PLANES_MAX];
	uint32_t reserved; /**< 0 */
};

/** What the samples of a format are. */
enum gid_format_kind {
	GID_FORMAT_RGB = 0,	    /**< red, green, blue, alpha */
	GID_FORMAT_HALF_FLOATS = 1, /**< the same, as IEEE 754's binary16 */
	GID_FORMAT_GREY = 2,	    /**< one sample alone */
	GID_FORMAT_YUV = 3,	    /**< Y, U, V, alpha */
};

/** What gidway knows about a pixel format. New members are added at the end. */
struct gid_format_info {
	uint32_t fourcc;
	uint32_t plane_count;
	struct gid_format_plane {
		uint8_t bytes; /**< of one sample block of this plane */
		uint8_t hsub;  /**< width of a sample block, in pixels */
		uint8_t vsub;  /**< its height, in pixels */
	} planes[GID_PLANES_MAX];
	uint8_t kind; /**< enum gid_format_kind */
	/**
	 * Where they lie: `shift` is a sample's lowest bit in the block, which is a little-endian
	 * number of bytes * 8 bits. Of the first sample a block has one for each of its hsub
	 * pixels; the next one is bytes * 8 / hsub bits further. A sample of no bits is not there.
	 */
	struct gid_format_sample {
		uint8_t plane;
		uint8_t shift;
		uint8_t bits;
	} samples[4];
};

/** The format's description, or NULL for one that gidway cannot lay out by itself. */
const struct gid_format_info *gid_format_find(uint32_t fourcc);

/** The `index`th known format, or NULL past the last one. */
const struct gid_format_info *gid_format_at(size_t index);

/** Bytes of one row of the plane, without padding; 0 for an unknown format or plane. */
uint32_t gid_format_row_bytes(uint32_t fourcc, uint32_t plane, uint32_t width);

/** Rows of the plane. */
uint32_t gid_format_rows(uint32_t fourcc, uint32_t plane, uint32_t height);

/**
 * Fills `layout` for a linear picture with rows aligned to `stride_align` bytes (a power of two).
 * Returns 0, -EINVAL for sizes out of range, or -ENOTSUP for an unknown format.
 */
int gid_layout_init(struct gid_layout *layout, uint32_t fourcc, uint32_t width, uint32_t height,
		uint32_t stride_align);

/**
 * Whether a slot of `slot_size` bytes holds every row of every plane of `layout`.
 * Returns 0; -EINVAL (sizes, plane count or a stride that is too small), -ENOTSUP (format) or
 * -ERANGE (a plane that leaves the slot). The last row needs no padding. If the modifier is not
 * LINEAR, only the driver knows what strides mean: then each plane only has to begin in the slot.
 * `layout` may contain any bytes: no content of it is undefined behaviour.
 */
int gid_layout_check(const struct gid_layout *layout, uint64_t slot_size);

/**
 * The slot size that a linear layout needs: all rows with their padding, as consumers read them
 * (wl_shm counts whole strides). Returns 0 if the layout is not valid or not linear.
 */
uint64_t gid_layout_size(const struct gid_layout *layout);

/**
 * The time of CLOCK_MONOTONIC in ns. All times of frames are of this clock.
 */
uint64_t gid_clock_now(void);

/**
 * What went wrong and what to do about it, for a negative result of any function of libgid.
 * Never NULL; the text is constant.
 */
const char *gid_strerror(int error);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
