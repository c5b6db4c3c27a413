// SPDX-License-Identifier: MIT
/** Our own slabs towards gidd: made or brought, exported, granted, taken back. */
#include "export.h"

#include <drm_fourcc.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "socket.h"

/* --- registering ------------------------------------------------------------------------------ */

void gid_own_slab_put_export(const struct gid_slab *slab, union gid_wire_message *message) {
	const struct gid_slab_info *info = &slab->info;
	gid_wire_begin(message, GID_WIRE_EXPORT, 0);
	struct gid_wire_export *export = &message->export;
	export->slab = gid_slab_of(info->gid);
	export->memory = info->memory;
	export->offset = info->offset;
	export->slot_size = info->slot_size;
	export->slot_count = info->slot_count;
	export->generations = slab->generations == NULL
			? 0
			: info->offset + info->slot_count * info->slot_size;
	export->description_size = (uint32_t)strlen(slab->description);
	memcpy(export->description, slab->description, export->description_size);
	gid_wire_put_layout(&export->layout, &info->layout);
}

static void put_unexport(uint32_t number, union gid_wire_message *message) {
	gid_wire_begin(message, GID_WIRE_UNEXPORT, 0);
	message->unexport.slab = number;
}

void gid_own_slab_post_unexport(struct gid_domain *domain, uint32_t number) {
	union gid_wire_message message;
	put_unexport(number, &message);
	gid_domain_post(domain, &message, NULL, 0);
}

/* How long gidd is not asked again for memory that it did not give. */
#define RENEWAL_NS UINT64_C(1000000000)

/* --- its life --------------------------------------------------------------------------------- */

/* Takes it out of the domain's tables. */
static void unregister(struct gid_slab *slab) {
	if (slab->asking != GID_SLAB_HAS_ASKED_NOTHING) {
		gid_domain_request_cancel(slab->domain, slab);
		slab->asking = GID_SLAB_HAS_ASKED_NOTHING;
	}
	gid_eviction_forget(slab);
	if (slab->registered) {
		gid_eviction_end(slab);
		gid_table_remove(&slab->domain->own_slabs, gid_slab_of(slab->info.gid));
		gid_endpoint_remove(slab->domain, &slab->endpoint);
		gid_domain_request_cancel(slab->domain, slab);
		slab->registered = false;
	}
}

void gid_own_slab_retract(struct gid_slab *slab) {
	if (slab->registered) {
		gid_own_slab_post_unexport(slab->domain, gid_slab_of(slab->info.gid));
		unregister(slab);
		slab->info.revoked = true;
	}
}

/* Readers find its gids out of date before they hear of its end. */
static void end_generations(struct gid_slab *slab) {
	for (uint32_t i = 0; slab->generations != NULL && i < slab->info.slot_count; i++) {
		gid_slab_advance(slab, i);
	}
}

static void release(struct gid_slab *slab) {
	if (slab->asking != GID_SLAB_HAS_ASKED_NOTHING) {
		return; /* until gidd has answered, and then knows what it gave */
	}
	if (slab->registered) {
		end_generations(slab);
	}
	gid_own_slab_retract(slab);
	gid_slab_free(slab);
}

static const struct gid_slab_kind own_slab = {
		.unused = release,
		.forget = unregister,
		.take_back = gid_own_slab_retract,
};

static void export_again(struct gid_endpoint *endpoint);
static bool take_message(struct gid_endpoint *endpoint, const union gid_wire_message *message,
		int fds[GID_WIRE_FDS_MAX]);

int gid_own_slab_adopt_number(struct gid_slab *slab, uint32_t number) {
	struct gid_domain *domain = slab->domain;
	gid_id gid = gid_make(domain->number, number, 0, 0);
	if (gid == GID_NONE || gid_table_find(&domain->own_slabs, gid_slab_of(gid)) != NULL) {
		return gid_domain_fail(domain, -EPROTO,
				"gidd gave slab number %u, which is not free", number);
	}
	int error = gid_table_add(&domain->own_slabs, gid_slab_of(gid), slab);
	if (error < 0) {
		gid_own_slab_post_unexport(domain, number);
		return gid_domain_fail(domain, error, "%s", gid_strerror(error));
	}
	slab->info.gid = gid;
	domain->renamed++;
	return 0;
}

/* The slab has a number: hears from now on what gidd says of it. */
static void enrol(struct gid_slab *slab) {
	slab->registered = true;
	slab->endpoint = (struct gid_endpoint){
			.kind = GID_ENDPOINT_SLAB,
			.message = take_message,
			.reconnected = export_again,
	};
	gid_endpoint_add(slab->domain, &slab->endpoint);
}

/* The slab got no number. Memory that was made for it is given back. */
static void fail_making(struct gid_slab *slab) {
	slab->info.revoked = true;
	if (slab->made) {
		gid_slab_close_memory(slab);
		slab->refused = gid_clock_now();
	}
}

/* gidd gave what it was asked for, or refused. */
static void end_asking(struct gid_slab *slab, int error) {
	slab->asking = GID_SLAB_HAS_ASKED_NOTHING;
	slab->answer = error;
	if (error < 0) {
		fail_making(slab);
	} else {
		enrol(slab);
		slab->info.revoked = false;
		slab->refused = 0;
	}
	if (error == 0 && slab->renewed) {
		slab->emptied++;
		gid_slab_grant_again(slab); /* not to whom others may not lend it */
	}
	if (error == 0 && slab->references > 0 && slab->stream[0] != '\0') {
		gid_endpoints_tell_made(slab->domain, slab);
	}
}

/* Tells an owner that did not wait. */
static void tell_asked(struct gid_slab *slab) {
	if (slab->references == 0) {
		release(slab); /* nobody wants it any more */
	} else if (slab->exported != NULL) {
		slab->exported(slab->exported_data, slab->answer, slab);
	}
}

static void take_number(struct gid_slab *slab, int error, const union gid_wire_message *answer) {
	end_asking(slab, error < 0 ? error : gid_own_slab_adopt_number(slab, answer->result.value));
}

static void handle_exported(void *data, int error, const union gid_wire_message *answer,
		int fds[GID_WIRE_FDS_MAX]) {
	take_number(data, error, answer);
	tell_asked(data);
}

/*
 * Asks gidd for a number for memory that is there. Returns 0: end_asking() gets the result; or
 * -errno.
 */
static int ask_for_number(struct gid_slab *slab) {
	union gid_wire_message message;
	gid_own_slab_put_export(slab, &message);
	int error = gid_domain_request_async(
			slab->domain, &message, &slab->info.fd, 1, handle_exported, slab);
	slab->asking = error == 0 ? GID_SLAB_ASKED_FOR_NUMBER : GID_SLAB_HAS_ASKED_NOTHING;
	return error;
}

/* --- making ----------------------------------------------------------------------------------- */

static int set_description(struct gid_slab *slab, const char *description) {
	size_t length = description == NULL ? 0 : strnlen(description, GID_DESCRIPTION_MAX + 1);
	if (length > GID_DESCRIPTION_MAX || !gid_wire_text_is_valid(description, length)) {
		return gid_domain_fail(slab->domain, -EINVAL,
				"a slab's description is at most %u bytes of UTF-8 "
				"without control characters",
				GID_DESCRIPTION_MAX);
	}
	memcpy(slab->description, description == NULL ? "" : description, length);
	return 0;
}

static int fail_layout(struct gid_domain *domain, int error, const struct gid_layout *layout) {
	return gid_domain_fail(domain, error, "layout of %ux%u, format %.4s (0x%08x): %s",
			layout->width, layout->height, (const char *)&layout->fourcc,
			layout->fourcc, gid_strerror(error));
}

static int make_slots(struct gid_slab *slab) {
	slab->slots = calloc(slab->info.slot_count, sizeof(*slab->slots));
	return slab->slots != NULL
			? 0
			: gid_domain_fail(slab->domain, -ENOMEM, "%s", gid_strerror(-ENOMEM));
}

struct gid_memory_readers gid_own_slab_readers(const struct gid_slab *slab) {
	bool any = slab->stream[0] == '\0';
	return (struct gid_memory_readers){
			.kind = any ? GID_WIRE_READERS_ANY : GID_WIRE_READERS_STREAM,
			.name = any ? NULL : slab->stream,
	};
}

void gid_own_slab_use_memory(struct gid_slab *slab) {
	slab->info.fd = slab->own.fd;
	slab->info.offset = slab->own.window_offset;
	slab->info.memory = slab->info.offset == 0 ? GID_MEMORY_MEMFD : GID_MEMORY_WINDOW;
}

/* Slots, then the table of their generations on pages of its own; 0: that is too much. */
static uint64_t memory_size(const struct gid_slab *slab) {
	const struct gid_slab_info *info = &slab->info;
	uint64_t slots, size;
	bool fits = info->slot_size != 0 &&
			!__builtin_mul_overflow(info->slot_size, info->slot_count, &slots) &&
			!__builtin_add_overflow(
					slots, info->slot_count * sizeof(uint32_t), &size) &&
			size <= PTRDIFF_MAX;
	return fits ? size : 0;
}

/* `slab->own` is there. */
static int begin_memory(struct gid_slab *slab) {
	const struct gid_slab_info *info = &slab->info;
	gid_own_slab_use_memory(slab);
	slab->view = slab->own.data;
	slab->generations = (const uint32_t *)(slab->view + info->slot_count * info->slot_size);
	gid_slab_begin_generations(slab);
	return ask_for_number(slab);
}

static int fail_memory(struct gid_slab *slab, int error) {
	return gid_domain_fail(slab->domain, error, "cannot make %llu bytes of memory: %s",
			(unsigned long long)memory_size(slab), gid_strerror(error));
}

/* gidd's answer to the request for memory. Returns whether the number is asked for now. */
static bool take_memory(struct gid_slab *slab, int error, const union gid_wire_message *answer,
		int fds[GID_WIRE_FDS_MAX]) {
	if (slab->references > 0) {
		error = gid_memory_take(slab->domain, &slab->own, GID_OWN_SLAB_MEMORY,
				memory_size(slab), error, answer, fds);
		error = error < 0 ? fail_memory(slab, error) : begin_memory(slab);
	} else if (error == 0) {
		gid_memory_decline(slab->domain, &answer->allocated, fds);
		error = -ECANCELED;
	}
	if (error < 0) {
		end_asking(slab, error);
	}
	return error >= 0;
}

static void handle_allocated(void *data, int error, const union gid_wire_message *answer,
		int fds[GID_WIRE_FDS_MAX]) {
	if (!take_memory(data, error, answer, fds)) {
		tell_asked(data);
	}
}

/* Asks for memory, and then for a number. Returns as ask_for_number(). */
static int begin_making(struct gid_slab *slab) {
	const struct gid_memory_readers readers = gid_own_slab_readers(slab);
	int error = gid_domain_check_connected(slab->domain);
	if (error < 0) {
		return error;
	}
	error = gid_memory_ask(slab->domain, &slab->own, &readers, GID_OWN_SLAB_MEMORY,
			memory_size(slab), handle_allocated, slab);
	if (error == -EINPROGRESS) {
		slab->asking = GID_SLAB_ASKED_FOR_MEMORY;
		return 0;
	}
	return error < 0 ? fail_memory(slab, error) : begin_memory(slab);
}

/* Waits for what was asked. For a slab whose owner gave no callback. */
static int await_answer(struct gid_slab *slab) {
	while (slab->asking != GID_SLAB_HAS_ASKED_NOTHING) {
		struct gid_packet packet;
		int error = gid_domain_await(slab->domain, &packet);
		if (slab->asking == GID_SLAB_ASKED_FOR_MEMORY) {
			take_memory(slab, error, &packet.message, packet.fds);
		} else {
			take_number(slab, error, &packet.message);
		}
		gid_socket_close_fds(packet.fds, GID_WIRE_FDS_MAX);
	}
	return slab->answer;
}

int gid_slab_create(struct gid_domain *domain, const struct gid_layout *layout, uint64_t slot_size,
		uint32_t slot_count, const char *description, struct gid_slab **slab) {
	return gid_slab_create_for_stream(
			domain, NULL, layout, slot_size, slot_count, description, slab);
}

int gid_slab_create_async(struct gid_domain *domain, const char *stream,
		const struct gid_layout *layout, uint64_t slot_size, uint32_t slot_count,
		const char *description, gid_exported_func done, void *data,
		struct gid_slab **result) {
	if (stream != NULL && !gid_name_is_valid(stream)) {
		return gid_domain_fail(domain, -EINVAL, "\"%.*s\" is not a stream's name",
				(int)GID_NAME_MAX, stream);
	}
	if (slot_count < 1 || slot_count > GID_SLOTS_MAX) {
		return gid_domain_fail(domain, -EINVAL, "a slab has 1 to %u slots, not %u",
				GID_SLOTS_MAX, slot_count);
	}
	uint64_t least = gid_layout_size(layout);
	slot_size = slot_size > least ? slot_size : least;
	int error = gid_layout_check(layout, slot_size);
	if (error == 0 && layout->modifier != DRM_FORMAT_MOD_LINEAR) {
		error = -ENOTSUP;
	}
	if (error < 0) {
		return fail_layout(domain, error, layout);
	}
	error = gid_domain_check_sealed(domain);
	if (error < 0) {
		return error;
	}
	struct gid_slab *slab = gid_slab_new(domain, &own_slab);
	if (slab == NULL) {
		return gid_domain_fail(domain, -ENOMEM, "%s", gid_strerror(-ENOMEM));
	}
	slab->made = true;
	slab->exported = done;
	slab->exported_data = data;
	slab->info.revoked = true; /* until it has memory */
	slab->info.layout = *layout;
	slab->info.slot_count = slot_count;
	slab->info.slot_size = gid_memory_round_up(slot_size);
	snprintf(slab->stream, sizeof(slab->stream), "%s", stream == NULL ? "" : stream);
	error = memory_size(slab) > 0
			? set_description(slab, description)
			: gid_domain_fail(domain, -EINVAL, "%u slots of that size are too much",
					  slot_count);
	error = error == 0 ? make_slots(slab) : error;
	error = error == 0 ? begin_making(slab) : error;
	if (error < 0) {
		gid_slab_free(slab);
		return error;
	}
	*result = slab;
	return 0;
}

/* Its owner waits for gidd. */
static int finish_slab(struct gid_slab *slab, struct gid_slab **result) {
	int error = await_answer(slab);
	if (error < 0) {
		gid_slab_free(slab);
		return error;
	}
	*result = slab;
	return 0;
}

int gid_slab_create_for_stream(struct gid_domain *domain, const char *stream,
		const struct gid_layout *layout, uint64_t slot_size, uint32_t slot_count,
		const char *description, struct gid_slab **result) {
	struct gid_slab *slab;
	int error = gid_slab_create_async(domain, stream, layout, slot_size, slot_count,
			description, NULL, NULL, &slab);
	return error < 0 ? error : finish_slab(slab, result);
}

/*
 * Gives a revoked slab new memory. Holds of frames that are out end; slots that the program has
 * taken stay taken until it gives them back.
 */
static int begin_anew(struct gid_slab *slab) {
	gid_slab_close_memory(slab);
	for (uint32_t i = 0; i < slab->info.slot_count; i++) {
		slab->slots[i].use &= GID_SLOT_TAKEN;
	}
	memset(slab->granted, 0, sizeof(slab->granted));
	memset(slab->forced, 0, sizeof(slab->forced));
	slab->stays = false;
	slab->renewed = slab->renewed || slab->info.gid != GID_NONE;
	slab->info.gid = GID_NONE;
	return begin_making(slab);
}

int gid_slab_renew(struct gid_slab *slab) {
	if (!slab->info.revoked) {
		return 0;
	}
	if (!slab->made || slab->domain == NULL) {
		return -EINVAL;
	}
	if (slab->asking != GID_SLAB_HAS_ASKED_NOTHING) {
		return -EINPROGRESS;
	}
	if (slab->refused != 0 && gid_clock_now() - slab->refused < RENEWAL_NS) {
		return -EAGAIN;
	}
	int error = begin_anew(slab);
	if (error < 0) {
		fail_making(slab);
	} else if (slab->exported != NULL) {
		return -EINPROGRESS;
	} else {
		error = await_answer(slab);
	}
	return error < 0 ? -EAGAIN : 1;
}

static bool take_message(struct gid_endpoint *endpoint, const union gid_wire_message *message,
		int fds[GID_WIRE_FDS_MAX]) {
	struct gid_slab *slab =
			(struct gid_slab *)((char *)endpoint - offsetof(struct gid_slab, endpoint));
	gid_id gid = message->revoked.gid;
	if (message->header.type != GID_WIRE_REVOKED) {
		return false; /* those of other domains' slabs import.c has taken */
	}
	if (gid_slab_of(gid) != gid_slab_of(slab->info.gid)) {
		/* gidd has emptied what it has left: perhaps before that */
		slab->emptied += gid_eviction_is_emptied(slab, gid);
		return false;
	}
	gid_eviction_begin(slab, false);
	return true;
}

/* --- gidd comes back -------------------------------------------------------------------------- */

static void exported_again(void *data, int error, const union gid_wire_message *answer,
		int fds[GID_WIRE_FDS_MAX]) {
	struct gid_slab *slab = data;
	if (error == -EEXIST) {
		gid_eviction_begin(slab, true); /* another program came first, and has its number */
		return;
	}
	/* Where gidd went away meanwhile it will be asked anew. */
	if (error < 0 && !gid_own_slab_is_away(error)) {
		gid_domain_fail(slab->domain, error, "gidd came back and refuses slab %u: %s",
				gid_slab_of(slab->info.gid), gid_strerror(error));
		unregister(slab);
		slab->info.revoked = true;
	}
}

/* Exports the slab again under its old number, which frames that are out refer to. */
static void export_again(struct gid_endpoint *endpoint) {
	struct gid_slab *slab =
			(struct gid_slab *)((char *)endpoint - offsetof(struct gid_slab, endpoint));
	union gid_wire_message message;
	gid_own_slab_put_export(slab, &message);
	gid_domain_request_async(slab->domain, &message, &slab->info.fd, 1, exported_again, slab);
	gid_slab_grant_again(slab);
}

/* --- bringing --------------------------------------------------------------------------------- */

/*
 * Makes all pages present. Readers refuse memory with holes: the kernel would fill those while they
 * read.
 */
static int fill_holes(struct gid_slab *slab) {
	int error = gid_memory_check_present(slab->info.fd);
	if (error == -ENODATA) {
		error = gid_memory_make_present(slab->info.fd, &slab->filled, &slab->filled_size);
	}
	return error < 0 ? gid_domain_fail(slab->domain, error, "%s", gid_strerror(error)) : 0;
}

/* Where the picture lies and how much of the memory is its slot. */
static int place_picture(struct gid_slab *slab, uint64_t offset, const struct gid_layout *layout) {
	struct gid_slab_info *info = &slab->info;
	off_t size = lseek(info->fd, 0, SEEK_END);
	if (size < 0 || offset >= (uint64_t)size) {
		return gid_domain_fail(slab->domain, -ERANGE,
				"the picture begins beyond the end of its memory");
	}
	uint64_t rest = (uint64_t)size - offset, needed = gid_layout_size(layout);
	info->offset = offset;
	info->layout = *layout;
	info->slot_size = needed != 0 && needed < rest ? needed : rest;
	int error = gid_layout_check(layout, info->slot_size);
	if (error == 0 && info->memory == GID_MEMORY_MEMFD &&
			layout->modifier != DRM_FORMAT_MOD_LINEAR) {
		error = -ENOTSUP;
	}
	return error < 0 ? fail_layout(slab->domain, error, layout) : 0;
}

/* A slab that gidd does not know yet, or why there is none. */
static int bring(struct gid_domain *domain, int fd, uint64_t offset,
		const struct gid_layout *layout, const char *description,
		struct gid_slab **result) {
	int error = gid_domain_check_sealed(domain);
	if (error < 0) {
		return error;
	}
	struct gid_slab *slab = gid_slab_new(domain, &own_slab);
	if (slab == NULL) {
		return gid_domain_fail(domain, -ENOMEM, "%s", gid_strerror(-ENOMEM));
	}
	slab->info.slot_count = 1;
	error = gid_memory_bring(domain, fd, &slab->info.memory);
	if (error >= 0) {
		slab->info.fd = error;
		error = set_description(slab, description);
	}
	if (error == 0 && slab->info.memory == GID_MEMORY_MEMFD) {
		error = fill_holes(slab);
	}
	if (error == 0) {
		error = place_picture(slab, offset, layout);
	}
	if (error == 0) {
		const void *view;
		int unmapped = gid_memory_map(
				slab->info.fd, offset, (size_t)slab->info.slot_size, &view);
		if (unmapped == 0) {
			slab->view = view;
			slab->view_size = (size_t)slab->info.slot_size;
		} else if (slab->info.memory == GID_MEMORY_MEMFD) {
			error = gid_domain_fail(domain, unmapped, "cannot map the memory: %s",
					gid_strerror(unmapped));
		}
	}
	if (error == 0) {
		error = make_slots(slab);
	}
	if (error < 0) {
		gid_slab_free(slab);
		return error;
	}
	*result = slab;
	return 0;
}

int gid_slab_export_async(struct gid_domain *domain, int fd, uint64_t offset,
		const struct gid_layout *layout, const char *description, gid_exported_func done,
		void *data, struct gid_slab **result) {
	struct gid_slab *slab;
	int error = bring(domain, fd, offset, layout, description, &slab);
	if (error < 0) {
		return error;
	}
	slab->exported = done;
	slab->exported_data = data;
	error = ask_for_number(slab);
	if (error < 0) {
		gid_slab_free(slab);
		return error;
	}
	*result = slab;
	return 0;
}

int gid_slab_export(struct gid_domain *domain, int fd, uint64_t offset,
		const struct gid_layout *layout, const char *description,
		struct gid_slab **result) {
	struct gid_slab *slab;
	int error = gid_slab_export_async(
			domain, fd, offset, layout, description, NULL, NULL, &slab);
	return error < 0 ? error : finish_slab(slab, result);
}

/* --- taking back ------------------------------------------------------------------------------ */

static void wipe(struct gid_slab *slab) {
	const struct gid_slab_info *info = &slab->info;
	if (slab->own.data != NULL) {
		explicit_bzero(slab->own.data, info->slot_count * info->slot_size);
	} else if (info->fd >= 0) {
		gid_memory_wipe(info->fd, info->offset, (size_t)info->slot_size);
	}
}

void gid_slab_destroy(struct gid_slab *slab, bool should_wipe) {
	if (slab == NULL) {
		return;
	}
	end_generations(slab);
	/* Before importers hear of it: a compositor may keep what it sees then. */
	if (should_wipe) {
		wipe(slab);
	}
	if (slab->registered && slab->exported == NULL) {
		/* Waits for the answer, so that no import succeeds any more when this returns. */
		union gid_wire_message message, answer;
		put_unexport(gid_slab_of(slab->info.gid), &message);
		gid_domain_request(slab->domain, &message, NULL, 0, &answer, NULL);
		unregister(slab);
	}
	gid_own_slab_retract(slab);
	slab->info.revoked = true;
	gid_slab_unref(slab);
}
