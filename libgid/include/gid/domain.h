// SPDX-License-Identifier: MIT
/**
 * The domain: the connection of a process to the gidd of its domain, the slabs that the process
 * exports, and the slabs that it imports.
 *
 * Lifecycle: gid_domain_connect() creates the domain. The program adds the domain's descriptor to
 * its event loop, and calls gid_domain_dispatch() when the descriptor is readable. That also
 * reconnects to a gidd that went away and came back. A producer makes slabs with gid_slab_create(),
 * or with gid_slab_export() from memory that it already has, and ends each with gid_slab_destroy().
 * A reader gets a reference to a slab with gid_slab_import(), and gives it back with
 * gid_slab_unref(). At the end, destroy the streams (stream.h) first, then the slabs, then the
 * domain. gid_domain_destroy() also ends what is left.
 *
 * Threads: a gid_domain and everything made from it (slabs, streams) may be used by one thread at a
 * time; if several threads use it, the caller needs a lock. Different gid_domain objects are
 * independent. Callbacks run on the caller's thread, inside the calls that are documented to run
 * them. They may call every function of the library except gid_domain_destroy() and
 * gid_domain_dispatch().
 *
 * Errors are returned as -errno. gid_strerror() explains each of them, and gid_domain_error()
 * returns the exact message for the last call that failed.
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
 * `name` is the domain's name, or the path of gidd's socket (a path contains a '/'). If it is NULL,
 * $GID_DOMAIN is used; if that is not set, the only domain on this system. $GID_RUNTIME_DIR
 * (default /run/gidway) has a folder for each domain, and the folder has the socket `gidd.sock`.
 *
 * Waits for gidd's answer for a limited time: 2 s, or $GID_ANSWER_SECONDS (1 to 600). Use a longer
 * time on machines on which a program may get no processor time for seconds, such as guests without
 * KVM. The same limit holds wherever this library waits for gidd.
 *
 * Returns 0 and the connection, owned by the caller; -ENOENT or -ECONNREFUSED: there is no gidd;
 * -EACCES; -EPROTO: gidd speaks another version; -EINVAL: `name` is not a name, as an empty one is
 * not, or no domain is named and several run here; -ETIMEDOUT; -ENOTCONN: gidd ended the
 * connection; or the error with which gidd refused it, or the system. After an error there is no
 * domain object: gid_domain_connect_error() returns the exact message.
 */
int gid_domain_connect(const char *name, struct gid_domain **domain);

/** Why this thread's last gid_domain_connect() failed, and what to do; "" if it did not fail. */
const char *gid_domain_connect_error(void);

/**
 * Closes everything that was made from the domain: slabs are revoked, streams end, views of
 * imported slabs are unmapped. A gid_slab that is still referenced stays as an object without
 * memory (gid_slab_data() and gid_slab_view() return NULL) until its reference is given back.
 * Accepts NULL.
 */
void gid_domain_destroy(struct gid_domain *domain);

/** The domain's number (1..254) and name, as gidd told them. The name is valid as long as `domain`.
 */
uint32_t gid_domain_number(const struct gid_domain *domain);
const char *gid_domain_name(const struct gid_domain *domain);

/**
 * One descriptor for any event loop. It is readable (POLLIN) when gid_domain_dispatch() has work.
 * It never changes, and belongs to the domain.
 */
int gid_domain_get_fd(const struct gid_domain *domain);

/**
 * Handles the messages of gidd. If gidd went away, it reconnects, and registers slabs, grants and
 * streams again under their old names. Existing streams continue meanwhile.
 * Never blocks, except for the handshake with a gidd that came back, which has a time limit. Runs
 * all callbacks that are not for single frames: imported, revoked, subscriber, state and so on.
 * Leaves off after about a millisecond: the descriptor stays readable while something is left.
 * Returns the number of handled messages (0 or more), or -errno if the connection has ended and
 * will not come back.
 */
int gid_domain_dispatch(struct gid_domain *domain);

/** Whether gidd is connected now. Frames flow without it, too. */
bool gid_domain_is_connected(const struct gid_domain *domain);

/** The message for the last failed call on this domain, or "". Valid until the next failure. */
const char *gid_domain_error(const struct gid_domain *domain);

/** gidd's report on domain, slabs, grants and streams, as JSON text that the caller frees. */
int gid_domain_status(struct gid_domain *domain, char **json);

/* --- slabs of our own ------------------------------------------------------------------------ */

/**
 * Makes a slab of `slot_count` equal slots and exports it. A slot has the size that `layout` needs,
 * or `slot_size` if that is larger, rounded up to whole pages.
 *
 * The memory is a sealed memfd: it can neither shrink nor grow, this process has the only writable
 * mapping that will ever exist, and its pages are present. `description` says more about the pixels
 * in the terms of the producer's framework, for example GStreamer caps. It may be NULL, and has at
 * most GID_DESCRIPTION_MAX bytes of UTF-8. Readers get it with the slab.
 *
 * Returns 0 and the slab, owned by the caller; -EINVAL, -ENOTSUP (layout), -EDQUOT (the domain's
 * quota), -ENOMEM, -ENOTCONN, -ENOSYS: neither this program nor its gidd has a /proc; -ENODEV: a
 * sandbox refuses memfd_create(2).
 */
int gid_slab_create(struct gid_domain *domain, const struct gid_layout *layout, uint64_t slot_size,
		uint32_t slot_count, const char *description, struct gid_slab **slab);

/**
 * The same for frames of the domain's own stream of that name. In a domain that shares with other
 * machines it makes a difference who can see the memory: of gid_slab_create() all machines that
 * this one shares anything with, of this one only those that may read the stream. So frames
 * that not all may see belong into such a slab. Grants to any other machine fail with -ENOTSUP.
 * NULL is the same as gid_slab_create(). Returns the same; -EINVAL also if it is no stream's name.
 */
int gid_slab_create_for_stream(struct gid_domain *domain, const char *stream,
		const struct gid_layout *layout, uint64_t slot_size, uint32_t slot_count,
		const char *description, struct gid_slab **slab);

/**
 * Called once from gid_domain_dispatch() for each time that gidd was asked. `error` is 0, or why
 * gidd does not take the slab, or gives no memory for it: -ENOTCONN and -ETIMEDOUT, too. The callee
 * may give the slab back.
 */
typedef void (*gid_exported_func)(void *data, int error, struct gid_slab *slab);

/**
 * The same as gid_slab_create_for_stream() without waiting for gidd. Returns 0 and the slab, which
 * is the caller's: it has its memory and its gid when `done` was called with 0. Before that, and
 * after an error, it is revoked: gid_slab_take() finds no slot, and after an error gid_slab_renew()
 * tries again. If the last reference is given back before the answer comes, `done` is not called,
 * and what gidd gives is given back. gid_slab_renew() and gid_slab_destroy() do not wait for gidd
 * either with such a slab, but where `done` is NULL. On the thread of the domain. Other returns are
 * those of gid_slab_create_for_stream(), but for what gidd says.
 */
int gid_slab_create_async(struct gid_domain *domain, const char *stream,
		const struct gid_layout *layout, uint64_t slot_size, uint32_t slot_count,
		const char *description, gid_exported_func done, void *data,
		struct gid_slab **slab);

/** The kinds of memory that a slab can be. */
enum gid_memory {
	GID_MEMORY_MEMFD = 1,
	GID_MEMORY_DMABUF = 2,
	GID_MEMORY_WINDOW =
			3, /**< a range of the memory that the owner's machine shares with others */
};

/**
 * Exports memory that already exists, as a slab of one slot. The memory is a dma-buf or a sealed
 * memfd. The memfd must have F_SEAL_SHRINK, and F_SEAL_FUTURE_WRITE or F_SEAL_WRITE: without them
 * its readers could open it again for writing. The picture begins `offset` bytes into `fd`. The
 * descriptor is duplicated, and the caller keeps its own. Readers get a memfd read-only.
 * Returns the same as gid_slab_create(), and -EBADF for memory of another kind, -EPERM for a memfd
 * without these seals.
 */
int gid_slab_export(struct gid_domain *domain, int fd, uint64_t offset,
		const struct gid_layout *layout, const char *description, struct gid_slab **slab);

/**
 * The same without waiting for gidd. Returns 0 and the slab, which is the caller's: it has its gid
 * when `done` was called with 0; otherwise it is revoked. If the last reference is given back
 * before that, `done` is not called. On the thread of the domain. Other returns are those of
 * gid_slab_export().
 */
int gid_slab_export_async(struct gid_domain *domain, int fd, uint64_t offset,
		const struct gid_layout *layout, const char *description, gid_exported_func done,
		void *data, struct gid_slab **slab);

/**
 * Ends the slab: no new import succeeds, importers are notified, and its gids become out of date.
 * With `wipe`, the content is also overwritten with zeroes, so that processes that still map it see
 * nothing more. (Memory of gid_slab_export() is wiped only if this process may write it.)
 * Frames of the slab that are in streams are dropped. Gives back the caller's reference. Waits for
 * gidd, with the time limit of gid_domain_connect(), but for a slab that was made or exported
 * without waiting; gid_slab_unref() ends any slab without that. Accepts NULL.
 *
 * A slab made by gid_slab_create() can get other memory and another number in
 * gid_domain_dispatch(), where somebody may not read the old memory any more (gid_domain_revoke()):
 * its content is the same, at the same address, but gid_slab_gid() and gid_slab_get_info() answer
 * anew. Frames with its old gids can be sent still. One of gid_slab_export() is revoked instead.
 */
void gid_slab_destroy(struct gid_slab *slab, bool wipe);

/**
 * Grants the domain with the number `reader` read access to the slab, or revokes the grant. After a
 * revocation this library unmaps the slab in readers that use it. A hostile reader may have made
 * another mapping, which stays: only gid_slab_destroy(…, true) removes the content from it.
 * A stream grants the slabs that it sends by itself, without these functions.
 * Returns 0; -EPERM: the cockpit's configuration does not allow it, or the slab's owner does not.
 *
 * A slab that was imported from another program of our own domain can be granted, too: that is a
 * loan. (A program that may read the slab could also pass on a copy.) A loan ends with the
 * connection of the program that made it. After the owner's own gid_slab_revoke() nobody can lend
 * the slab to that domain, until the owner grants it again.
 */
int gid_slab_grant(struct gid_slab *slab, uint32_t reader);
int gid_slab_revoke(struct gid_slab *slab, uint32_t reader);

/**
 * Takes a stream of the domain `owner` (or all that match a pattern, "*" for all) from the domain
 * `reader`, or from all others where that is NULL, until gidd reads its configuration again.
 * Subscriptions end, the owner's programs go on in other memory, and the old memory shows zeroes to
 * whoever has it mapped. For `stream` NULL it is the memory of the slab of `gid` that is taken,
 * from all. `domain` is the owner's, or that of the host that joins it with others as machines.
 * Returns 0; -EPERM: we are neither root nor gidd's user; -ENOENT: no such domain or slab; -EXDEV:
 * another gidd must be asked; -EHOSTDOWN: the owner is not there, and will hear of it when it
 * comes; -EINVAL: a name is none, as an empty one is not.
 */
int gid_domain_revoke(struct gid_domain *domain, const char *owner, const char *stream, gid_id gid,
		const char *reader);

/**
 * Seals the domain, or ends that. While it is sealed its gidd grants nothing new to anybody: no
 * slab, grant, import, stream, subscription, link or program; all that asks for it gets -ESHUTDOWN.
 * What was granted before goes on. Both can be done again and again. Returns 0; -EPERM: we are
 * neither root nor gidd's user; -ENOTCONN.
 */
int gid_domain_seal(struct gid_domain *domain, bool on);

/**
 * Since when the domain is sealed, as gidd said last, in seconds since 1970; 0: it is not. While
 * gidd is away that stays as it was. It is known once gid_domain_dispatch() has run. Until it ends,
 * what a program of the domain has works without a new allocation, descriptor or mapping of the
 * library, frame by frame.
 */
uint64_t gid_domain_sealed_since(const struct gid_domain *domain);

/** The present gid of a slot, with its generation. */
gid_id gid_slab_gid(const struct gid_slab *slab, uint32_t slot);

/**
 * The slot's memory: writable for a slab made by gid_slab_create(), NULL for an exported one.
 * For an imported slab use gid_slab_view().
 */
void *gid_slab_data(const struct gid_slab *slab, uint32_t slot);

/** How many consumers hold the slot now, in all streams. The owner may write it only at 0. */
uint32_t gid_slab_holders(const struct gid_slab *slab, uint32_t slot);

/**
 * How often an own slab's content was lost: each time all slots have to be written anew, and
 * nothing else tells the program. When a reader loses its rights, gid_domain_dispatch() moves the
 * slab to other memory with its content, and its gid changes. In a window that machines share the
 * old memory is emptied after a second: if the program dispatches later than that, some or all of
 * the content is zero.
 */
uint64_t gid_slab_emptied(const struct gid_slab *slab);

/**
 * Gives a slab of gid_slab_create() or gid_slab_create_for_stream() other memory, if gidd has taken
 * the one that it had (`revoked`): because the slab could not be moved, or because gidd came back
 * and refused it. Call it before a slot is taken. The slab then has another gid. Its slots are
 * empty, which counts as gid_slab_emptied(), and held by nobody, and nobody has a grant; marks of
 * gid_slab_take() stay. The old memory is given back.
 *
 * Waits as gid_slab_create() does; but for a slab of gid_slab_create_async() `done` is called once
 * more instead. After a refusal gidd is not asked again for a second. Returns 0: there was no need;
 * 1: it has other memory; -EINPROGRESS: gidd is asked, and `done` will be called; -EAGAIN: there is
 * no memory now, as gid_domain_error() says; -EINVAL: not such a slab.
 */
int gid_slab_renew(struct gid_slab *slab);

/**
 * A simple pool, for producers that have none of their own. gid_slab_take() finds a slot that no
 * consumer holds and that is not taken, marks it as taken, and returns its number, or -EAGAIN.
 * gid_slab_give() ends that mark.
 */
int gid_slab_take(struct gid_slab *slab);
void gid_slab_give(struct gid_slab *slab, uint32_t slot);

/**
 * The same for who sends in bursts: takes up to `count` slots, and `gids` gets their present gids.
 * gid_slab_give_burst() ends the marks of slots that it is told by a gid each, of which only the
 * slot counts. A slot whose mark ends while consumers hold it is found again once they do not: a
 * producer can give its slots right after it has sent them, and needs no `released`. Returns how
 * many were taken; -EAGAIN: no slot is free; -EINVAL: `count` is 0.
 */
int gid_slab_take_burst(struct gid_slab *slab, gid_id *gids, uint32_t count);
void gid_slab_give_burst(struct gid_slab *slab, const gid_id *gids, uint32_t count);

/* --- slabs of others ------------------------------------------------------------------------- */

/**
 * Gets the memory that a gid names. The first import of a slab asks gidd and maps the slab
 * read-only. Later imports of the same slab only add a reference, and cost no system call. The
 * first gid_slab_view() of a slot makes the slot's pages present: check the layout
 * (gid_slab_get_info()) before you call it. Waits with the time limit of gid_domain_connect().
 * Returns 0 and a reference, to be given back with gid_slab_unref(); -ENOENT: the gid is unknown,
 * not granted or revoked (these three cannot be told apart); -ENODATA: the memory has holes, which
 * its owner never filled; -EDQUOT: we have imported 4 GiB or 1024 slabs of this owner already;
 * -ENOTCONN.
 */
int gid_slab_import(struct gid_domain *domain, gid_id gid, struct gid_slab **slab);

/** Called once from gid_domain_dispatch(). The callee owns the reference `slab`; NULL on error. */
typedef void (*gid_imported_func)(void *data, gid_id gid, int error, struct gid_slab *slab);

/**
 * The same without waiting. Returns 0 and the slab if it is known already (then `done` is not
 * called); -EINPROGRESS: `done` will be called; or another error.
 */
int gid_slab_import_async(struct gid_domain *domain, gid_id gid, gid_imported_func done, void *data,
		struct gid_slab **slab);

/** Forgets pending imports whose callback data is `data`. */
void gid_slab_import_cancel(struct gid_domain *domain, void *data);

/**
 * Adds a reference to a slab that the caller has one of, and returns the slab. What is mapped stays
 * mapped, and the object stays, until gid_slab_unref() gives the last reference back; a slab that
 * is revoked meanwhile shows zeroes. On the thread of the slab's domain.
 */
struct gid_slab *gid_slab_ref(struct gid_slab *slab);

/**
 * Gives a reference back; the caller then uses the slab no more. NULL: does nothing. On the thread
 * of the slab's domain; also after gid_domain_destroy(), with which all memory was given back.
 *
 * An own slab without references ends as by gid_slab_destroy() without `wipe`, but nobody waits for
 * gidd: until that has heard of it the slab can still be imported. An imported slab without
 * references may stay mapped for its next import. Memory of others that is to be unmapped is
 * unmapped by another thread if it is large, so that never takes long.
 */
void gid_slab_unref(struct gid_slab *slab);

/**
 * Called from gid_domain_dispatch() when an imported slab was revoked, or when its domain died or
 * took it back: then, too, when a stream ends. To keep the content, copy it in this callback, or
 * have gid_slab_keep() do so. After the last listener has returned, or at once if there is none,
 * the slab's mapping shows zeroes where nothing was kept, and its memory is the owner's alone
 * again.
 */
typedef void (*gid_revoked_func)(void *data, struct gid_slab *slab);

/**
 * In a gid_revoked_func: a copy of the slot's content shall be in its place, at the same address
 * and behind the slab's descriptor (but for a dma-buf's), until the slab is unreferenced. The
 * content is what gid_layout_size() says of the slab's layout, and the whole slot where that is not
 * linear. Until then the copy's pages count as memory imported of that domain, which has a limit.
 * Takes as long as a copy takes: not for a thread that must not be late. Returns 0; -EFAULT: the
 * content is gone; -ENODATA: it never had all its pages; -EINVAL: no such slot, or it is not
 * mapped; or -errno.
 */
int gid_slab_keep(struct gid_slab *slab, uint32_t slot);

/**
 * Adds a listener to an imported slab. It is called once. With `func` NULL, removes the listeners
 * that have this `data`: a listener does not go with the reference of who added it. Returns 0;
 * -ENOENT: revoked already; -EINVAL: not imported; -ENOMEM.
 */
int gid_slab_on_revoked(struct gid_slab *slab, gid_revoked_func func, void *data);

/** Describes a slab, own or imported. `fd` and `description` are valid while a reference is held.
 */
struct gid_slab_info {
	gid_id gid; /**< the slab's name: slot and generation are 0. gid_slab_gid() names a slot */
	enum gid_memory memory;
	struct gid_layout layout;
	uint32_t slot_count;
	uint64_t slot_size; /**< bytes from one slot to the next */
	uint64_t offset;    /**< of slot 0 in `fd` */
	/**
	 * Owned by the slab; read-only unless a dma-buf. Before another program maps a slot of a
	 * memfd, call gid_slab_view() of that slot: it is NULL where the reader would pay for holes
	 */
	int fd;
	bool imported, revoked;
	const char *description; /**< "" where none was given; lives as long as the slab */
	uint64_t reserved[8];	 /**< 0 */
};

void gid_slab_get_info(const struct gid_slab *slab, struct gid_slab_info *info);

/**
 * The slot's memory, read-only, `slot_size` bytes. NULL for a dma-buf that cannot be mapped, and
 * for memory that lacks pages of the slot, which would be made as they are read.
 */
const void *gid_slab_view(const struct gid_slab *slab, uint32_t slot);

/**
 * The same without a look at the pages: they come as they are read, which takes time that the
 * slab's owner chooses. Another thread may read them, as long as a reference is held, and the
 * domain is not destroyed.
 */
const void *gid_slab_view_untouched(const struct gid_slab *slab, uint32_t slot);

/**
 * A dma-buf of the slab's memory, for devices and renderers that take nothing else: that which was
 * exported as the slab; or of an imported slab in a window one that the kernel module gid_dmabuf
 * makes, when it is asked for the first time, and that can only be read. Slot 0 begins `*offset`
 * bytes into it. It is the slab's, and there until the last reference is given back. A dma-buf of a
 * window counts against RLIMIT_MEMLOCK.
 * Returns the descriptor; -ENOTSUP: it is other memory, or the module is not loaded; -EINVAL: it
 * was revoked; or -errno: -ENOMEM, -EACCES.
 */
int gid_slab_get_dmabuf(struct gid_slab *slab, uint64_t *offset);

/**
 * A new dma-buf of a slot of one's own slab in a window that has pages, for a device to write
 * frames into; gid_dmabuf makes it. The picture begins where it begins. It is the caller's, who
 * closes it, and has no device write there any more, before the slab is destroyed: then others get
 * the memory.
 *
 * From then on the slab stays where it is, since libgid cannot know what a device writes: if a
 * reader is to see it no more, it is revoked, as when a lease runs out. Make another one then. The
 * old one's memory may be emptied at any time, so frames that arrive there are to be dropped.
 * It counts against RLIMIT_MEMLOCK.
 * Returns the descriptor; -ENOTSUP: it is other memory, or the module is not loaded; -EINVAL: it
 * was revoked, or has no such slot; or -errno: -ENOMEM.
 */
int gid_slab_open_dmabuf(struct gid_slab *slab, uint32_t slot);

/**
 * Before and after a processor reads gid_slab_view() of a slab whose memory is GID_MEMORY_DMABUF,
 * the kernel has to be told: it waits for the devices that write the picture, and sees to caches
 * that these do not share. `fd` is that of gid_slab_get_info(). Whoever made the dma-buf can keep a
 * device busy for ever. So gid_dmabuf_begin_read() waits for 2 ms at most, and not at all for a
 * device that was at work before: ask gid_dmabuf_is_drawn(), which never waits, from time to time.
 * The first call takes a real-time signal that the process does not handle. Any thread may call.
 * gid_dmabuf_begin_read() returns 0, or -EAGAIN: the picture is not to be read now, and nothing is
 * to be ended.
 */
bool gid_dmabuf_is_drawn(int fd);
int gid_dmabuf_begin_read(int fd);
void gid_dmabuf_end_read(int fd);

/**
 * Whether the gid names a slot of this slab and has the slot's present generation: neither was the
 * slab revoked, nor was the slot taken back by force. Call it again after reading, as either may
 * have happened meanwhile.
 */
bool gid_slab_is_current(const struct gid_slab *slab, gid_id gid);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
