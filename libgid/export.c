// SPDX-License-Identifier: MIT
/** Our own slabs towards gidd: made or brought, exported, granted, taken back. */
#include <drm_fourcc.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "closer.h"
#include "slab_object.h"

/* --- registering ------------------------------------------------------------------------------ */

static void put_export(const struct gid_slab *slab, union gid_wire_message *message) {
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

/* Gives a number back without waiting for gidd's answer. */
static void post_unexport(struct gid_domain *domain, uint32_t number) {
	union gid_wire_message message;
	put_unexport(number, &message);
	gid_domain_post(domain, &message, NULL, 0);
}

/* --- memory that it was evicted from ---------------------------------------------------------- */

/* So long those who read there may go on; gidd waits longer. */
#define EVICTION_NS (UINT64_C(20) * 1000 * 1000)

/* How long gidd is not asked again for memory that it did not give. */
#define RENEWAL_NS UINT64_C(1000000000)

/* Memory that a slab was in, under a number by which frames that are out are known still. */
struct gid_evicted {
	struct gid_evicted *next;
	uint32_t number;
	uint32_t held; /* frames that were out when it was evicted, and are out still */
	bool done;     /* it was released */
	struct gid_memory_own memory;
};

/* Its way into other memory: gidd is asked for that, and then for a number of it. */
struct gid_departure {
	struct gid_departure *prev, *next; /* in domain->departures */
	struct gid_domain *domain;
	struct gid_slab *slab; /* NULL: it has ended, and what gidd gives is given back */
	struct gid_evicted *old;
	bool for_number; /* which another program has; else somebody may not read there any more */
	bool emptied;	 /* gidd has said that it did not wait */
	struct gid_memory_own fresh;
};

static void put_memory(struct gid_memory_own *memory) {
	if (memory->data == NULL) {
		gid_closer_close(memory->fd);
	}
	gid_memory_put(memory);
}

/*
 * The generations of other memory that has the slab's form go on, so that who reads there, and is
 * told later, finds its gids out of date before it finds zeroes.
 */
static void end_generations(const struct gid_slab *slab, void *memory) {
	const struct gid_slab_info *info = &slab->info;
	uint32_t *generations = (void *)((char *)memory + info->slot_count * info->slot_size);
	for (uint32_t i = 0; i < info->slot_count; i++) {
		gid_slab_raise_generation(&generations[i]);
	}
}

/* Readers lose it; whoever does not co-operate sees zeroes. */
static void release_evicted(const struct gid_slab *slab, struct gid_evicted *old) {
	const struct gid_slab_info *info = &slab->info;
	if (old->done) {
		return;
	}
	old->done = true;
	post_unexport(slab->domain, old->number);
	if (old->memory.data != NULL) {
		end_generations(slab, old->memory.data);
		explicit_bzero(old->memory.data, info->slot_count * info->slot_size);
	}
	put_memory(&old->memory);
}

static void eviction_due(void *data) {
	struct gid_slab *slab = data;
	for (struct gid_evicted *old = slab->evicted; old != NULL; old = old->next) {
		release_evicted(slab, old);
	}
}

static struct gid_evicted *find_evicted(const struct gid_slab *slab, gid_id gid) {
	struct gid_evicted *old = slab->evicted;
	while (old != NULL && old->number != gid_slab_of(gid)) {
		old = old->next;
	}
	return old;
}

void gid_slab_put_evicted(struct gid_slab *slab, gid_id gid) {
	struct gid_evicted *old = find_evicted(slab, gid);
	if (old == NULL || old->held == 0) {
		return;
	}
	old->held--;
	if (old->held == 0 && !old->done) {
		gid_loop_arm(&slab->domain->loop, &slab->eviction, gid_clock_now());
	}
}

static void end_departure(struct gid_departure *departure) {
	struct gid_domain *domain = departure->domain;
	if (departure->prev != NULL) {
		departure->prev->next = departure->next;
	} else {
		domain->departures = departure->next;
	}
	if (departure->next != NULL) {
		departure->next->prev = departure->prev;
	}
	if (departure->slab != NULL) {
		departure->slab->departure = NULL;
	}
	gid_memory_put(&departure->fresh);
	free(departure->old);
	free(departure);
}

void gid_slab_end_departures(struct gid_domain *domain) {
	while (domain->departures != NULL) {
		end_departure(domain->departures);
	}
}

static void end_evictions(struct gid_slab *slab) {
	gid_loop_disarm(&slab->domain->loop, &slab->eviction);
	while (slab->evicted != NULL) {
		struct gid_evicted *old = slab->evicted;
		slab->evicted = old->next;
		release_evicted(slab, old);
		gid_table_remove(&slab->domain->own_slabs, old->number);
		free(old);
	}
}

/* --- its life -----------------------------------------------------------------------------------
 */

/* Takes it out of the domain's tables. */
static void unregister(struct gid_slab *slab) {
	if (slab->asking) {
		gid_domain_request_cancel(slab->domain, slab);
		slab->asking = false;
	}
	if (slab->departure != NULL) {
		slab->departure->slab = NULL;
		slab->departure = NULL;
	}
	if (slab->registered) {
		end_evictions(slab);
		gid_table_remove(&slab->domain->own_slabs, gid_slab_of(slab->info.gid));
		gid_endpoint_remove(slab->domain, &slab->endpoint);
		gid_domain_request_cancel(slab->domain, slab);
		slab->registered = false;
	}
}

/* Takes the slab back without waiting for gidd's answer. */
static void retract(struct gid_slab *slab) {
	if (slab->registered) {
		post_unexport(slab->domain, gid_slab_of(slab->info.gid));
		unregister(slab);
		slab->info.revoked = true;
	}
}

static void release(struct gid_slab *slab) {
	if (slab->asking) {
		return; /* until gidd has answered, and then knows what it gave */
	}
	retract(slab);
	gid_slab_free(slab);
}

static const struct gid_slab_kind own_slab = {
		.unused = release,
		.forget = unregister,
		.take_back = retract,
};

static void export_again(struct gid_endpoint *endpoint);
static bool take_message(struct gid_endpoint *endpoint, const union gid_wire_message *message,
		int fds[GID_WIRE_FDS_MAX]);

/* gidd gave it this number. */
static int adopt_number(struct gid_slab *slab, uint32_t number) {
	struct gid_domain *domain = slab->domain;
	gid_id gid = gid_make(domain->number, number, 0, 0);
	if (gid == GID_NONE || gid_table_find(&domain->own_slabs, gid_slab_of(gid)) != NULL) {
		return gid_domain_fail(domain, -EPROTO,
				"gidd gave slab number %u, which is not free", number);
	}
	int error = gid_table_add(&domain->own_slabs, gid_slab_of(gid), slab);
	if (error < 0) {
		post_unexport(domain, number);
		return gid_domain_fail(domain, error, "%s", gid_strerror(error));
	}
	slab->info.gid = gid;
	domain->renamed++;
	return 0;
}

/* It has a number, and hears of what becomes of it. */
static void enrol(struct gid_slab *slab) {
	slab->registered = true;
	slab->endpoint = (struct gid_endpoint){
			.kind = GID_ENDPOINT_SLAB,
			.message = take_message,
			.reconnected = export_again,
	};
	gid_endpoint_add(slab->domain, &slab->endpoint);
}

/* Made slabs have memory as long as they have a number, or are about to get it. */
static void fail_making(struct gid_slab *slab) {
	slab->info.revoked = true;
	if (slab->made) {
		gid_slab_close_memory(slab);
		slab->refused = gid_clock_now();
	}
}

/* What gidd was asked for is there, or is not to be had. */
static void end_asking(struct gid_slab *slab, int error) {
	slab->asking = false;
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
	if (slab->references == 0) {
		release(slab); /* nobody wants it any more */
	} else if (slab->exported != NULL) {
		slab->exported(slab->exported_data, error, slab);
	}
}

static void handle_exported(void *data, int error, const union gid_wire_message *answer,
		int fds[GID_WIRE_FDS_MAX]) {
	struct gid_slab *slab = data;
	end_asking(slab, error < 0 ? error : adopt_number(slab, answer->result.value));
}

/* It has its memory. Returns 0, and end_asking() has what comes of it; or -errno. */
static int ask_for_number(struct gid_slab *slab) {
	union gid_wire_message message;
	put_export(slab, &message);
	int error = gid_domain_request_async(
			slab->domain, &message, &slab->info.fd, 1, handle_exported, slab);
	slab->asking = error == 0;
	return error;
}

static int await_answer(struct gid_slab *slab) {
	gid_domain_await(slab->domain, slab);
	return slab->answer;
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

/* As /proc shows its memory. */
#define MEMORY_NAME "gid-slab"

static struct gid_memory_readers readers_of(const struct gid_slab *slab) {
	bool any = slab->stream[0] == '\0';
	return (struct gid_memory_readers){
			.kind = any ? GID_WIRE_READERS_ANY : GID_WIRE_READERS_STREAM,
			.name = any ? NULL : slab->stream,
	};
}

static void use_memory(struct gid_slab *slab) {
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
	use_memory(slab);
	slab->view = slab->own.data;
	slab->generations = (const uint32_t *)(slab->view + info->slot_count * info->slot_size);
	gid_slab_begin_generations(slab);
	return ask_for_number(slab);
}

static int fail_memory(struct gid_slab *slab, int error) {
	return gid_domain_fail(slab->domain, error, "cannot make %llu bytes of memory: %s",
			(unsigned long long)memory_size(slab), gid_strerror(error));
}

static void handle_allocated(void *data, int error, const union gid_wire_message *answer,
		int fds[GID_WIRE_FDS_MAX]) {
	struct gid_slab *slab = data;
	if (slab->references > 0) {
		error = gid_memory_take(slab->domain, &slab->own, MEMORY_NAME, memory_size(slab),
				error, answer, fds);
		error = error < 0 ? fail_memory(slab, error) : begin_memory(slab);
	} else if (error == 0) {
		gid_memory_decline(slab->domain, &answer->allocated, fds);
		error = -ECANCELED;
	}
	if (error < 0) {
		end_asking(slab, error);
	}
}

/* Has it get memory, and a number. As ask_for_number(). */
static int begin_making(struct gid_slab *slab) {
	const struct gid_memory_readers readers = readers_of(slab);
	int error = gid_domain_check_connected(slab->domain);
	if (error < 0) {
		return error;
	}
	error = gid_memory_ask(slab->domain, &slab->own, &readers, MEMORY_NAME, memory_size(slab),
			handle_allocated, slab);
	slab->asking = error == -EINPROGRESS;
	if (slab->asking) {
		return 0;
	}
	return error < 0 ? fail_memory(slab, error) : begin_memory(slab);
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

/* Frames that are out are of no slab any more; who has taken a slot gives it back. */
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
	if (slab->asking) {
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

/* --- its eviction from its memory ------------------------------------------------------------- */

/* Has the memory in place of its own, under the number; else, all is as it was. */
static int adopt_there(
		struct gid_slab *slab, const struct gid_memory_own *memory, uint32_t number) {
	struct gid_memory_own own = slab->own;
	gid_id gid = slab->info.gid;
	slab->own = *memory;
	use_memory(slab);
	slab->info.gid = GID_NONE;
	int error = adopt_number(slab, number);
	if (error < 0) {
		slab->own = own;
		use_memory(slab);
		slab->info.gid = gid;
	}
	return error;
}

/* Without the number that it was just given, and with the memory and number that it had. */
static void come_back(struct gid_slab *slab, const struct gid_evicted *old, gid_id gid) {
	post_unexport(slab->domain, gid_slab_of(slab->info.gid));
	gid_table_remove(&slab->domain->own_slabs, gid_slab_of(slab->info.gid));
	slab->own = old->memory;
	use_memory(slab);
	slab->info.gid = gid;
}

/* It is there: what is out of the memory before stays known. */
static void settle(struct gid_slab *slab, struct gid_evicted *old) {
	for (uint32_t i = 0; i < slab->info.slot_count; i++) {
		old->held += slab->slots[i].use & GID_SLOT_HOLDERS;
		if (gid_slab_generation(slab, i) == 0) {
			gid_slab_raise_generation((uint32_t *)&slab->generations[i]);
		}
	}
	old->next = slab->evicted;
	slab->evicted = old;
	memset(slab->granted, 0,
			sizeof(slab->granted)); /* streams ask for them with their frames */
	gid_slab_grant_again(slab);		/* and whom others may not lend it to */
	slab->eviction.expired = eviction_due;
	slab->eviction.data = slab;
	gid_loop_arm(&slab->domain->loop, &slab->eviction,
			gid_clock_now() + (old->held > 0 ? EVICTION_NS : 0));
}

/*
 * Has the same at the same address in other memory, that only those see who may read it now, and
 * that has a number. Frames that are out stay where they are, under the old one, for those to read
 * who still may.
 */
static int arrive(struct gid_departure *departure, uint32_t number) {
	struct gid_slab *slab = departure->slab;
	struct gid_evicted *old = departure->old;
	gid_id gid = slab->info.gid;
	if (slab->stays) {
		post_unexport(slab->domain, number);
		return -ENOTSUP;
	}
	old->number = gid_slab_of(gid);
	old->memory = slab->own;
	int error = adopt_there(slab, &departure->fresh, number);
	if (error < 0) {
		return error;
	}
	error = gid_memory_move(&old->memory, &departure->fresh);
	if (error < 0) {
		come_back(slab, old, gid);
		return error;
	}
	slab->own = departure->fresh; /* where it is mapped now */
	slab->emptied += departure->emptied;
	departure->fresh = (struct gid_memory_own){.fd = -1};
	departure->old = NULL;
	settle(slab, old);
	return 0;
}

static bool is_away(int error) {
	return error == -ENOTCONN || error == -ETIMEDOUT;
}

/*
 * Only a number is tried again with the next gidd. For memory that others may not read any more its
 * owner makes another one, of memory that has other readers.
 */
static void stay(struct gid_slab *slab, bool for_number, int error) {
	if (!for_number || !is_away(error)) {
		retract(slab);
	}
}

static void fail_departure(struct gid_departure *departure, int error) {
	struct gid_slab *slab = departure->slab;
	bool for_number = departure->for_number;
	end_departure(departure);
	stay(slab, for_number, error);
}

static void handle_departed(void *data, int error, const union gid_wire_message *answer,
		int fds[GID_WIRE_FDS_MAX]) {
	struct gid_departure *departure = data;
	if (departure->slab == NULL && error == 0) {
		post_unexport(departure->domain, answer->result.value);
	} else if (departure->slab != NULL) {
		error = error < 0 ? error : arrive(departure, answer->result.value);
		if (error < 0) {
			fail_departure(departure, error);
			return;
		}
	}
	end_departure(departure);
}

/* It goes there once that has a number: until then frames go out under the old one. */
static int ask_for_number_there(struct gid_departure *departure) {
	struct gid_slab *slab = departure->slab;
	struct gid_memory_own own = slab->own;
	gid_id gid = slab->info.gid;
	union gid_wire_message message;
	slab->own = departure->fresh;
	slab->info.gid = GID_NONE;
	use_memory(slab);
	put_export(slab, &message);
	slab->own = own;
	slab->info.gid = gid;
	use_memory(slab);
	return gid_domain_request_async(departure->domain, &message, &departure->fresh.fd, 1,
			handle_departed, departure);
}

static void handle_given(void *data, int error, const union gid_wire_message *answer,
		int fds[GID_WIRE_FDS_MAX]) {
	struct gid_departure *departure = data;
	const struct gid_slab *slab = departure->slab;
	if (slab == NULL) {
		if (error == 0) {
			gid_memory_decline(departure->domain, &answer->allocated, fds);
		}
		end_departure(departure);
		return;
	}
	error = gid_memory_take(departure->domain, &departure->fresh, MEMORY_NAME, slab->own.size,
			error, answer, fds);
	error = error < 0 ? error : ask_for_number_there(departure);
	if (error < 0) {
		fail_departure(departure, error);
	}
}

static struct gid_departure *begin_departure(struct gid_slab *slab, bool for_number) {
	struct gid_departure *departure = calloc(1, sizeof(*departure));
	struct gid_evicted *old = calloc(1, sizeof(*old));
	if (departure == NULL || old == NULL) {
		free(departure);
		free(old);
		return NULL;
	}
	*departure = (struct gid_departure){
			.next = slab->domain->departures,
			.domain = slab->domain,
			.slab = slab,
			.old = old,
			.for_number = for_number,
			.fresh = {.fd = -1},
	};
	if (departure->next != NULL) {
		departure->next->prev = departure;
	}
	slab->domain->departures = departure;
	slab->departure = departure;
	return departure;
}

/* Nobody waits for gidd meanwhile. */
static void evict(struct gid_slab *slab, bool for_number) {
	if (slab->departure != NULL) {
		slab->departure->emptied |= !for_number;
		slab->departure->for_number &= for_number;
		return;
	}
	bool can_move = slab->own.data != NULL && !slab->stays;
	struct gid_departure *departure = can_move ? begin_departure(slab, for_number) : NULL;
	if (departure == NULL) {
		stay(slab, for_number, can_move ? -ENOMEM : -ENOTSUP);
		return;
	}
	const struct gid_memory_readers readers = readers_of(slab);
	int error = gid_memory_ask(slab->domain, &departure->fresh, &readers, MEMORY_NAME,
			slab->own.size, handle_given, departure);
	error = error == 0 ? ask_for_number_there(departure) : error;
	if (error < 0 && error != -EINPROGRESS) {
		fail_departure(departure, error);
	}
}

static bool take_message(struct gid_endpoint *endpoint, const union gid_wire_message *message,
		int fds[GID_WIRE_FDS_MAX]) {
	struct gid_slab *slab =
			(struct gid_slab *)((char *)endpoint - offsetof(struct gid_slab, endpoint));
	gid_id gid = message->revoked.gid;
	if (message->header.type != GID_WIRE_REVOKED ||
			gid_domain_of(gid) != gid_domain_of(slab->info.gid)) {
		return false;
	}
	if (gid_slab_of(gid) != gid_slab_of(slab->info.gid)) {
		/* gidd has emptied what it has left: perhaps before that */
		slab->emptied += find_evicted(slab, gid) != NULL;
		return false;
	}
	evict(slab, false);
	return true;
}

/* --- gidd comes back -------------------------------------------------------------------------- */

static void exported_again(void *data, int error, const union gid_wire_message *answer,
		int fds[GID_WIRE_FDS_MAX]) {
	struct gid_slab *slab = data;
	if (error == -EEXIST) {
		evict(slab, true); /* another program was here first, and has its number */
		return;
	}
	/* Where gidd went away meanwhile it will be asked anew. */
	if (error < 0 && !is_away(error)) {
		gid_domain_fail(slab->domain, error, "gidd came back and refuses slab %u: %s",
				gid_slab_of(slab->info.gid), gid_strerror(error));
		unregister(slab);
		slab->info.revoked = true;
	}
}

/* Under the old number, which names it in frames that are on their way. */
static void export_again(struct gid_endpoint *endpoint) {
	struct gid_slab *slab =
			(struct gid_slab *)((char *)endpoint - offsetof(struct gid_slab, endpoint));
	union gid_wire_message message;
	put_export(slab, &message);
	gid_domain_request_async(slab->domain, &message, &slab->info.fd, 1, exported_again, slab);
	gid_slab_grant_again(slab);
}

/* --- bringing --------------------------------------------------------------------------------- */

/* Readers take no memory with holes, for these would be theirs to fill, in their time. */
static int fill_holes(struct gid_slab *slab) {
	int error = gid_memory_check_present(slab->info.fd);
	if (error == -ENODATA) {
		error = gid_memory_make_present(slab->info.fd, &slab->filled, &slab->filled_size);
		error = error < 0 ? error : gid_memory_check_present(slab->info.fd);
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
	for (uint32_t i = 0; slab->generations != NULL && i < slab->info.slot_count; i++) {
		gid_slab_advance(slab, i);
	}
	/* Before importers hear of it: a compositor may keep what it sees then. */
	if (should_wipe) {
		wipe(slab);
	}
	if (slab->registered && slab->exported == NULL) {
		/* Answered, so that nobody's import succeeds any more when this returns. */
		union gid_wire_message message, answer;
		put_unexport(gid_slab_of(slab->info.gid), &message);
		gid_domain_request(slab->domain, &message, NULL, 0, &answer, NULL);
		unregister(slab);
	}
	retract(slab);
	slab->info.revoked = true;
	gid_slab_unref(slab);
}
