// SPDX-License-Identifier: MIT
/**
 * Protects the pictures of a stream from end to end: from the program that makes them to the one
 * that shows them, whatever lies between. Each picture carries a check over its stream's name, its
 * layout, its descriptor (which has its number and its times) and its visible pixels.
 *
 * What that finds: bytes that changed, frames of another stream, a check of another frame. Frames
 * that come again, in another order or late have the right check: the number and the times are what
 * was sent, so whoever shows them looks at those. gid-cluster does.
 *
 * Lifecycle of a producer: gid_protection_create(), gid_protection_protect() once, before frames
 * are sent; gid_protection_destroy() after the producer. Of a consumer: gid_protection_create();
 * for each frame gid_consumer_get_check(), a copy of the slot (gid_consumer_keep()), and
 * gid_protection_verify() of the copy, which is then what may be shown.
 *
 * A protection never changes: any thread may use it, and several at once. Programs are linked with
 * what `pkg-config --libs libgid-protection` says.
 */
#ifndef GID_PROTECTION_H
#define GID_PROTECTION_H

#include <gid/stream.h>

#ifdef __cplusplus
extern "C" {
#endif

/** How pictures are protected: the `kind` of their checks. */
enum gid_protection_profile {
	GID_PROTECTION_NONE = 0,
	/** CRC-64/XZ, as AUTOSAR's E2E profile 7 has it: against accidents. Anybody can make one.
	 */
	GID_PROTECTION_CRC64 = 1,
	/** AES-CMAC with 128 bits (RFC 4493): only who has the key can make one. */
	GID_PROTECTION_CMAC = 2,
};

#define GID_PROTECTION_KEY_SIZE 16u /**< bytes */

struct gid_protection;

/** The profile's name: "none", "crc64" or "cmac"; NULL: there is no such profile. */
const char *gid_protection_profile_name(enum gid_protection_profile profile);

/**
 * Reads a key from a file of 32 hexadecimal digits, and nothing else but blanks behind them.
 * Returns 0; -EPERM: others than its user and group can read or write it, or its group can write
 * it; -EINVAL: it holds something else; or why it cannot be read.
 */
int gid_protection_read_key(const char *path, uint8_t key[GID_PROTECTION_KEY_SIZE]);

/** What is wrong with the file, for people: of an error of gid_protection_read_key(). */
const char *gid_protection_key_error(int error);

/**
 * A protection of the stream of this name. `key` is for GID_PROTECTION_CMAC, and copied; NULL
 * otherwise. Whoever makes the pictures and whoever shows them need the same three. Returns 0;
 * -EINVAL: not a name, no such profile, or a key where there must be none, or the other way round;
 * -ENOSYS: libgid-protection was built without the library that the profile needs; -ENOMEM.
 */
int gid_protection_create(enum gid_protection_profile profile, const char *stream,
		const uint8_t *key, struct gid_protection **protection);

/** Forgets the key. Accepts NULL. */
void gid_protection_destroy(struct gid_protection *protection);

enum gid_protection_profile gid_protection_profile(const struct gid_protection *protection);

/**
 * From now on all pictures that the producer sends are protected: gid_producer_send() reads their
 * visible pixels, on its caller's thread. A picture must be drawn completely when it is sent; one
 * in a dma-buf is waited for, as gid_dmabuf_begin_read() does. Then gid_producer_send() can also
 * return -EINVAL: a processor cannot read the memory, or the crop leaves the picture; -ENOTSUP: its
 * rows are not linear; -EAGAIN: not now. The protection must live as long as the producer.
 */
void gid_protection_protect(const struct gid_protection *protection, struct gid_producer *producer);

/**
 * The check of one picture, for a gid_check_func of one's own: sets the check's kind and bytes, for
 * the descriptor that it has already. `layout` and `slot` are those of the whole picture. Returns
 * 0; -EINVAL: the crop leaves the picture; -ENOTSUP: the layout is not linear.
 */
int gid_protection_make(const struct gid_protection *protection, const struct gid_frame *frame,
		const struct gid_layout *layout, const void *slot, struct gid_check *check);

/**
 * Whether a copy of a frame's slot is what was sent as this frame of the protection's stream. The
 * frame and the check are those that gid_consumer_get_check() set together; `layout` is that of the
 * frame's slab, checked by gid_layout_check(). `slot` is memory that nobody else can write. Returns
 * 0; -EBADMSG: it is not; -ENODATA: the check is of another profile; -EINVAL: the crop leaves the
 * picture; -ENOTSUP: the layout is not linear.
 */
int gid_protection_verify(const struct gid_protection *protection, const struct gid_frame *frame,
		const struct gid_check *check, const struct gid_layout *layout, const void *slot);

#ifdef __cplusplus
}
#endif

#endif
