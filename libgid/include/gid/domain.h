// SPDX-License-Identifier: MIT
/**
 * The domain: a process's connection to the gidd of the domain it runs in, the slabs it exports,
 * and those it imports.
 *
 * The life of it: gid_domain_connect() makes the domain, whose descriptor goes into the program's
 * event loop and whose gid_domain_dispatch() is called when that is readable; a gidd that goes away
 * and comes back is dealt with there. A producer makes slabs by gid_slab_create() or, from memory
 * that it has, gid_slab_export(), and ends each by gid_slab_destroy(). A reader gets a reference to
 * a slab by gid_slab_import() and gives it back by gid_slab_unref(). Streams (stream.h) are ended
 * first, then slabs, then the domain, by gid_domain_destroy(), which otherwise ends what is left.
 *
 * Thread rules: a gid_domain and everything made from it (slabs, streams) is used by one thread at
 * a time; the caller locks if several do. Different gid_domain objects are independent. Callbacks
 * run on the caller's thread, from within the call that is documented to run them, and may call
 * any function of the library but gid_domain_destroy() and gid_domain_dispatch().
 *
 * Errors: -errno. gid_strerror() says what each means here, and gid_domain_error() has the exact
 * sentence for the last failed call.
 */
#ifndef GID_DOMAIN_H
#define GID_DOMAIN_H

#include <gid/gid.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

struct gid_domain;
struct gid_slab;

/**
 * Connects to a domain's gidd.
 *
 * `name` is the domain's name, or a path (it has a '/') of gidd's socket. NULL takes $GID_DOMAIN,
 * and where that is unset, the only domain on this system; $GID_RUNTIME_DIR (default /run/gidway)
 * holds a folder for each domain, with its socket `gidd.sock`.
 *
 * Waits a bounded time for gidd's answer, here and wherever this library waits for one: 2 s, or
 * $GID_ANSWER_SECONDS (1 to 600, for machines on which programs may not run for so long, as guests
 * without KVM). Returns 0 and the connection, owned by the caller;
 * -ENOENT or -ECONNREFUSED: no gidd there; -EACCES; -EPROTO: it speaks another version;
 * -EINVAL: not a name, or no domain named and there is not exactly one; -ETIMEDOUT. As there is no
 * domain then, gid_domain_connect_error() has the exact sentence.
 */
int gid_domain_connect(const char *name, struct gid_domain **domain);

/** Why this thread's last gid_domain_connect() failed, and what to do; else "". */
const char *gid_domain_connect_error(void);

/**
 * Closes everything that was made from the domain: slabs are revoked, streams end, views of
 * imported slabs are unmapped. A gid_slab that is still referenced stays as an object without
 * memory (gid_slab_data() and _view() give NULL) until its reference is given back. Takes NULL.
 */
void gid_domain_destroy(struct gid_domain *domain);

/** The number (1..254) and name that gidd says we have. The name lives as long as the domain. */
uint32_t gid_domain_number(const struct gid_domain *domain);
const char *gid_domain_name(const struct gid_domain *domain);

/**
 * One descriptor for any event loop: readable (POLLIN) when gid_domain_dispatch() has work. It
 * stays the same for the life of the domain and belongs to it.
 */
int gid_domain_get_fd(const struct gid_domain *domain);

/**
 * Handles what gidd has said, and reconnects to a gidd that went away: slabs, grants and streams
 * are registered again under their old names, and streams that exist keep flowing meanwhile.
 * Never blocks, but for the bounded handshake with a gidd that came back. Runs all callbacks of
 * control: imported, revoked, subscriber, state.
 * Returns 0 or a count of handled messages, or -errno when the connection is gone for good.
 */
int gid_domain_dispatch(struct gid_domain *domain);

/** Whether gidd is there now. Frames flow regardless. */
bool gid_domain_is_connected(const struct gid_domain *domain);

/** The sentence for the last call on this domain that failed, else "". Lives until the next. */
const char *gid_domain_error(const struct gid_domain *domain);

/** gidd's own account of domain, slabs, grants and streams, as JSON text that the caller frees. */
int gid_domain_status(struct gid_domain *domain, char **json);

/* --- slabs of our own ------------------------------------------------------------------------ */

/**
 * Makes a slab of `slot_count` equal slots, each big enough for `layout` (or `slot_size`, where
 * that is larger; each rounded up to pages), and exports it.
 *
 * The memory is a sealed memfd: it can neither shrink nor grow, this process has the only writable
 * mapping that will ever exist, and its pages are present. `description` (may be NULL, at most
 * GID_DESCRIPTION_MAX bytes of UTF-8) says more about the pixels in the words of the producer's
 * framework, as GStreamer caps do; it travels with the slab.
 *
 * Returns 0 and the slab, owned by the caller; -EINVAL, -ENOTSUP (layout), -EDQUOT (the domain's
 * quota), -ENOMEM, -ENOTCONN.
 */
int gid_slab_create(struct gid_domain *domain, const struct gid_layout *layout, uint64_t slot_size,
		uint32_t slot_count, const char *description, struct gid_slab **slab);

/** The kinds of memory that a slab can be. */
enum gid_memory {
	GID_MEMORY_MEMFD = 1,
	GID_MEMORY_DMABUF = 2,
	GID_MEMORY_WINDOW =
			3, /**< a range of the memory that the owner's machine shares with others */
};

/**
 * Exports memory that already exists as a slab of one slot: a sealed memfd
 * (F_SEAL_SHRINK, and F_SEAL_FUTURE_WRITE or F_SEAL_WRITE: who can read one could else open it for
 * writing), or a dma-buf. The picture begins `offset` bytes into `fd`. The descriptor is
 * duplicated, the caller keeps its own; a memfd is handed on read-only.
 * Returns as gid_slab_create(), and -EBADF for memory of another kind, -EPERM for an unsealed one.
 */
int gid_slab_export(struct gid_domain *domain, int fd, uint64_t offset,
		const struct gid_layout *layout, const char *description, struct gid_slab **slab);

/**
 * Takes the slab back: no new import succeeds, importers hear of it, and its gids are out of date.
 * With `wipe`, the content is overwritten with zeroes as well, so that those that still map it see
 * nothing more (memory that was brought: where this process may write it).
 * Frames of it that are in streams are forgotten. Gives back the caller's reference. Takes NULL.
 */
void gid_slab_destroy(struct gid_slab *slab, bool wipe);

/**
 * Gives the domain numbered `reader` leave to read the slab, or takes it back. This library ends an
 * honest reader's view then; one that is not may have a mapping of its own, which outlives the
 * grant: only gid_slab_destroy(…, true) ends what that sees.
 * Streams grant by themselves the slabs they send. Returns 0, -EPERM: the cockpit's configuration
 * does not allow it, or its owner.
 *
 * An imported slab of our own domain can be lent: who may read it could hand on a copy as well.
 * Loans end with the lender's connection. The owner has the last word: after its own
 * gid_slab_revoke() nobody lends the slab to that domain, until the owner grants it.
 */
int gid_slab_grant(struct gid_slab *slab, uint32_t reader);
int gid_slab_revoke(struct gid_slab *slab, uint32_t reader);

/** The gid of a slot as it is now, with its generation. */
gid_id gid_slab_gid(const struct gid_slab *slab, uint32_t slot);

/**
 * The slot's memory: writable for a slab made by gid_slab_create(), NULL for an exported one.
 * For an imported slab use gid_slab_view().
 */
void *gid_slab_data(const struct gid_slab *slab, uint32_t slot);

/** How many consumers hold the slot now, over all streams. The owner may write it at 0 only. */
uint32_t gid_slab_holders(const struct gid_slab *slab, uint32_t slot);

/**
 * A free-slot helper for producers that have no pool of their own: a slot that nobody holds and
 * that was not taken since it was given back. Returns the slot, or -EAGAIN.
 */
int gid_slab_take(struct gid_slab *slab);
void gid_slab_give(struct gid_slab *slab, uint32_t slot);

/* --- slabs of others ------------------------------------------------------------------------- */

/**
 * From a gid to memory. The first import of a slab asks gidd and maps the slab, read-only; later
 * ones of the same slab only count a reference and cost no system call. A slot's pages are made
 * present when gid_slab_view() is first asked for it: look at the layout (gid_slab_get_info())
 * before. Waits as long as gid_domain_connect(). Returns 0 and a reference that gid_slab_unref()
 * gives back; -ENOENT: unknown, not granted or revoked (the three look the same); -ENODATA: memory
 * with holes, which its owner never filled; -EDQUOT: its owner's slabs take 4 GiB of us, or are
 * 1024; -ENOTCONN.
 */
int gid_slab_import(struct gid_domain *domain, gid_id gid, struct gid_slab **slab);

/** Called once from gid_domain_dispatch(): `slab` is a reference of the callee's, NULL on error. */
typedef void (*gid_imported_func)(void *data, gid_id gid, int error, struct gid_slab *slab);

/**
 * The same without waiting. Returns 0 with the slab where it is known already (then `done` is not
 * called), -EINPROGRESS where `done` will be, or another error.
 */
int gid_slab_import_async(struct gid_domain *domain, gid_id gid, gid_imported_func done, void *data,
		struct gid_slab **slab);

/** Forgets pending imports whose callback data is `data`. */
void gid_slab_import_cancel(struct gid_domain *domain, void *data);

struct gid_slab *gid_slab_ref(struct gid_slab *slab);
void gid_slab_unref(struct gid_slab *slab);

/**
 * Called from gid_domain_dispatch() when an imported slab was revoked, or its domain died. What is
 * to be kept of it has to be copied now: when the last listener has returned, zeroes are in the
 * place of its memory, whether or not anybody listened, and its owner has that back.
 */
typedef void (*gid_revoked_func)(void *data, struct gid_slab *slab);

/**
 * Adds a listener of an imported slab, which is called once; `func` NULL removes those with that
 * data. Returns 0, -ENOENT: revoked already, -EINVAL: not imported, -ENOMEM.
 */
int gid_slab_on_revoked(struct gid_slab *slab, gid_revoked_func func, void *data);

/** What a slab is. Valid for own and imported slabs, as long as a reference is held. */
struct gid_slab_info {
	gid_id gid; /**< of slot 0, generation 0 */
	enum gid_memory memory;
	struct gid_layout layout;
	uint32_t slot_count;
	uint64_t slot_size; /**< bytes from one slot to the next */
	uint64_t offset;    /**< of slot 0 in `fd` */
	int fd;		    /**< owned by the slab; read-only unless a dma-buf */
	bool imported, revoked;
	const char *description; /**< "" where none was given; lives as long as the slab */
	uint64_t reserved[8];	 /**< 0 */
};

void gid_slab_get_info(const struct gid_slab *slab, struct gid_slab_info *info);

/** Read-only memory of a slot, `slot_size` bytes. NULL for a dma-buf that cannot be mapped. */
const void *gid_slab_view(const struct gid_slab *slab, uint32_t slot);

/**
 * Whether the gid names a slot of this slab that was not taken back since: its generation is the
 * slab's present one. Ask after reading, too: a producer may take back a slot by force meanwhile.
 */
bool gid_slab_is_current(const struct gid_slab *slab, gid_id gid);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
