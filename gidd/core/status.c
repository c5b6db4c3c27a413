// SPDX-License-Identifier: MIT
#include "status.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <systemd/sd-json.h>
#include <unistd.h>

#include "access.h"
#include "client.h"
#include "config_file.h"
#include "hub.h"
#include "link.h"
#include "offers.h"
#include "reload.h"
#include "seal.h"
#include "slab_readers.h"
#include "streams.h"

#define REPORT_EVERY_US 100000u
/* The pause after a report, as a multiple of the time it took: clients choose how much is in it. */
#define REST 4u
#define REST_MAX_US 1000000u /* clients wait two seconds for an answer */
#define LATENCY_BUCKETS (sizeof(((struct gid_wire_page *)0)->latency_buckets) / sizeof(uint64_t))

/* A peer writes these counters at any time, and may write any value. */
static uint64_t load(const uint64_t *counter) {
	return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

static void append(sd_json_variant **array, sd_json_variant *value, int built, int *error) {
	if (built >= 0) {
		built = sd_json_variant_append_array(array, value);
	}
	if (built < 0 && *error == 0) {
		*error = built;
	}
	sd_json_variant_unref(value);
}

static sd_json_variant *quotas(
		const uint64_t used[QUOTA_COUNT], const uint64_t limit[QUOTA_COUNT], int *error) {
	sd_json_variant *all = NULL;
	for (enum quota quota = 0; quota < QUOTA_COUNT; quota++) {
		sd_json_variant *one = NULL;
		int built = sd_json_buildo(&one,
				SD_JSON_BUILD_PAIR_STRING("name", quota_name(quota)),
				SD_JSON_BUILD_PAIR_UNSIGNED("used", used[quota]),
				SD_JSON_BUILD_PAIR_UNSIGNED("limit", limit[quota]));
		append(&all, one, built, error);
	}
	return all;
}

static sd_json_variant *clients(struct gidd *gidd, int *error) {
	sd_json_variant *all = NULL;
	struct client *client;
	TAILQ_FOREACH(client, &gidd->clients, entry) {
		sd_json_variant *one = NULL;
		int built = sd_json_buildo(&one, SD_JSON_BUILD_PAIR_UNSIGNED("id", client->id),
				SD_JSON_BUILD_PAIR_STRING("program", client->program),
				SD_JSON_BUILD_PAIR_INTEGER("pid", client->pid),
				SD_JSON_BUILD_PAIR_UNSIGNED("uid", client->uid),
				SD_JSON_BUILD_PAIR_UNSIGNED("memory", client->used[QUOTA_MEMORY]),
				SD_JSON_BUILD_PAIR_UNSIGNED("slabs", client->used[QUOTA_SLABS]),
				SD_JSON_BUILD_PAIR_UNSIGNED("streams", client->used[QUOTA_STREAMS]),
				SD_JSON_BUILD_PAIR_UNSIGNED("subscriptions",
						client->used[QUOTA_SUBSCRIPTIONS]));
		append(&all, one, built, error);
	}
	return all;
}

/* --- slabs ------------------------------------------------------------------------------------ */

static const char *domain_name(struct gidd *gidd, uint32_t number) {
	const struct config_domain *domain = config_domain_by_number(gidd->config, number);
	return domain == NULL ? "" : domain->name;
}

static sd_json_variant *grants(struct gidd *gidd, const struct slab *slab, int *error) {
	sd_json_variant *all = NULL;
	for (uint32_t number = 1; number <= GID_DOMAIN_MAX; number++) {
		if (slab_is_granted(slab, number)) {
			sd_json_variant *one = NULL;
			int built = sd_json_variant_new_string(&one, domain_name(gidd, number));
			append(&all, one, built, error);
		}
	}
	return all;
}

static void put_fourcc(char text[5], uint32_t fourcc) {
	for (int i = 0; i < 4; i++) {
		char c = (char)(fourcc >> 8 * i);
		text[i] = c >= 0x20 && c < 0x7f ? c : '?';
	}
	text[4] = '\0';
}

static sd_json_variant *slabs(struct gidd *gidd, struct client *reader, int *error) {
	sd_json_variant *all = NULL;
	struct slab *slab;
	TAILQ_FOREACH(slab, &gidd->slabs, entry) {
		if (reader != NULL && !slab_is_known_to(reader, slab)) {
			continue;
		}
		const struct gid_wire_imported *info = &slab->description.imported;
		const struct import *import;
		uint64_t importers = 0;
		TAILQ_FOREACH(import, &slab->importers, of_slab) {
			importers++;
		}
		char text[GID_TEXT_MAX], fourcc[5];
		put_fourcc(fourcc, info->layout.fourcc);
		sd_json_variant *one = NULL, *granted = grants(gidd, slab, error);
		int built = sd_json_buildo(&one,
				SD_JSON_BUILD_PAIR_STRING("gid", gid_format(slab_gid(slab), text)),
				SD_JSON_BUILD_PAIR_STRING(
						"domain", domain_name(gidd, info->domain)),
				SD_JSON_BUILD_PAIR_STRING("owner",
						slab->owner == NULL ? "" : slab->owner->peer.label),
				SD_JSON_BUILD_PAIR_STRING("memory",
						info->memory == GID_MEMORY_DMABUF ? "dma-buf"
								: info->memory == GID_MEMORY_WINDOW
								? "window"
								: "memfd"),
				SD_JSON_BUILD_PAIR_UNSIGNED("bytes",
						slab->owner == NULL
								? info->slot_size * info->slot_count
								: slab->bytes),
				SD_JSON_BUILD_PAIR_UNSIGNED("slots", info->slot_count),
				SD_JSON_BUILD_PAIR_STRING("format", fourcc),
				SD_JSON_BUILD_PAIR_UNSIGNED("width", info->layout.width),
				SD_JSON_BUILD_PAIR_UNSIGNED("height", info->layout.height),
				SD_JSON_BUILD_PAIR_STRING("description", info->description),
				SD_JSON_BUILD_PAIR_CONDITION(granted != NULL, "grants",
						SD_JSON_BUILD_VARIANT(granted)),
				SD_JSON_BUILD_PAIR_UNSIGNED("importers", importers));
		sd_json_variant_unref(granted);
		append(&all, one, built, error);
	}
	return all;
}

/* --- streams ---------------------------------------------------------------------------------- */

/* Whether the reader may read the stream, or its user publishes it; NULL: any reader. */
static bool sees_stream(struct client *reader, const char *name, const struct stream *stream) {
	return reader == NULL || client_may_read(reader, name) ||
			(stream != NULL && stream->owner->uid == reader->uid);
}

static sd_json_variant *streams(struct gidd *gidd, struct client *reader, int *error) {
	sd_json_variant *all = NULL;
	struct stream *stream;
	TAILQ_FOREACH(stream, &gidd->streams, entry) {
		if (!sees_stream(reader, stream->name, stream)) {
			continue;
		}
		const struct subscription *subscription;
		uint64_t count = 0;
		TAILQ_FOREACH(subscription, &stream->subscriptions, stream_entry) {
			count++;
		}
		sd_json_variant *one = NULL;
		int built = sd_json_buildo(&one, SD_JSON_BUILD_PAIR_STRING("name", stream->name),
				SD_JSON_BUILD_PAIR_STRING("producer", stream->owner->peer.label),
				SD_JSON_BUILD_PAIR_UNSIGNED("subscriptions", count));
		append(&all, one, built, error);
	}
	return all;
}

/* Streams that exist in other domains and that this one may read, as far as their gidds told it. */
static sd_json_variant *readable(struct gidd *gidd, struct client *reader, int *error) {
	sd_json_variant *all = NULL;
	const struct link *link;
	const char *name;
	TAILQ_FOREACH(link, &gidd->links, entry) {
		for (uint32_t i = 0; (name = offers_nth(link, i)) != NULL; i++) {
			sd_json_variant *one = NULL;
			if (!sees_stream(reader, name, NULL) ||
					!access_may_read_stream(gidd->config, link->remote,
							gidd->self, name)) {
				continue; /* the other gidd's own claim is no proof */
			}
			int built = sd_json_buildo(&one,
					SD_JSON_BUILD_PAIR_STRING("domain", link->remote->name),
					SD_JSON_BUILD_PAIR_STRING("name", name));
			append(&all, one, built, error);
		}
	}
	return all;
}

/* Lists reasons that occurred. Values without a name count as "other". */
static sd_json_variant *build_reasons(const uint64_t reasons[GID_COPY_REASONS_MAX]) {
	sd_json_variant *out = NULL;
	uint64_t others = 0;
	sd_json_variant_new_object(&out, NULL, 0);
	for (uint32_t i = 0; i < GID_COPY_REASONS_MAX; i++) {
		const char *name = gid_copy_reason_name(i);
		uint64_t count = load(&reasons[i]);
		if (name == NULL) {
			others += count;
		} else if (count > 0) {
			sd_json_variant_set_field_unsigned(&out, name, count);
		}
	}
	if (others > 0) {
		sd_json_variant_set_field_unsigned(&out, "other", others);
	}
	return out;
}

static int build_ring(sd_json_variant **out, const struct gid_wire_ring *ring) {
	sd_json_variant *reasons = build_reasons(ring->copy_reasons);
	int built = sd_json_buildo(out, SD_JSON_BUILD_PAIR_UNSIGNED("frames", load(&ring->frames)),
			SD_JSON_BUILD_PAIR_UNSIGNED("dropped", load(&ring->dropped)),
			SD_JSON_BUILD_PAIR_UNSIGNED("copied_frames", load(&ring->copied_frames)),
			SD_JSON_BUILD_PAIR_UNSIGNED("copied_bytes", load(&ring->copied_bytes)),
			SD_JSON_BUILD_PAIR_VARIANT("copy_reasons", reasons),
			SD_JSON_BUILD_PAIR_UNSIGNED("leases_expired", load(&ring->leases_expired)),
			SD_JSON_BUILD_PAIR_UNSIGNED("held", load(&ring->held)));
	sd_json_variant_unref(reasons);
	return built;
}

static int build_page(sd_json_variant **out, const struct gid_wire_page *page, int *error) {
	sd_json_variant *buckets = NULL;
	for (size_t i = 0; i < LATENCY_BUCKETS; i++) {
		sd_json_variant *one = NULL;
		int built = sd_json_variant_new_unsigned(&one, load(&page->latency_buckets[i]));
		append(&buckets, one, built, error);
	}
	sd_json_variant *reasons = build_reasons(page->copy_reasons);
	int built = sd_json_buildo(out,
			SD_JSON_BUILD_PAIR_UNSIGNED("received", load(&page->received)),
			SD_JSON_BUILD_PAIR_UNSIGNED("latency_sum_ns", load(&page->latency_sum_ns)),
			SD_JSON_BUILD_PAIR_VARIANT("latency_buckets", buckets),
			SD_JSON_BUILD_PAIR_UNSIGNED("copied_frames", load(&page->copied_frames)),
			SD_JSON_BUILD_PAIR_UNSIGNED("copied_bytes", load(&page->copied_bytes)),
			SD_JSON_BUILD_PAIR_VARIANT("copy_reasons", reasons));
	sd_json_variant_unref(reasons);
	sd_json_variant_unref(buckets);
	return built;
}

/*
 * The slab of the last frame, if this gidd knows it; NULL: none. The producer may have written
 * anything into its ring.
 */
static const struct slab *shown_slab(struct gidd *gidd, const struct subscription *subscription) {
	const struct gid_wire_ring *ring = subscription->ring;
	if (ring == NULL) {
		return NULL;
	}
	uint64_t tail = load(&ring->tail);
	uint32_t entries = __atomic_load_n(&ring->entries, __ATOMIC_RELAXED);
	if (!gid_wire_are_entries(entries)) {
		return NULL;
	}
	for (uint64_t back = 1; back <= entries && back <= tail; back++) {
		gid_id gid = load(&ring->frames_ring[(tail - back) % entries].gid);
		if (gid != GID_NONE) { /* entries without a picture carry other data */
			return gid_domain_of(gid) == subscription->domain
					? slab_find(gidd, gid_slab_key(gid))
					: NULL;
		}
	}
	return NULL;
}

static void add_picture(sd_json_variant **one, const struct slab *slab, int *error) {
	struct gid_layout layout;
	char fourcc[5];
	gid_wire_get_layout(&layout, &slab->description.imported.layout);
	put_fourcc(fourcc, layout.fourcc);
	sd_json_variant *picture = NULL;
	int built = sd_json_buildo(&picture, SD_JSON_BUILD_PAIR_STRING("format", fourcc),
			SD_JSON_BUILD_PAIR_UNSIGNED("width", layout.width),
			SD_JSON_BUILD_PAIR_UNSIGNED("height", layout.height),
			SD_JSON_BUILD_PAIR_UNSIGNED("bytes", gid_layout_size(&layout)));
	if (built >= 0) {
		built = sd_json_variant_set_field(one, "picture", picture);
	}
	if (built < 0 && *error == 0) {
		*error = built;
	}
	sd_json_variant_unref(picture);
}

/* The error of times measured between producer and consumer; 0 on one machine. */
static uint64_t clock_error(struct gidd *gidd, const struct subscription *subscription) {
	bool ours = subscription->domain == gidd->self->number;
	const struct link *link = link_find(
			gidd, ours ? subscription->consumer_domain : subscription->domain);
	return link == NULL ? 0 : link->clock_error;
}

static sd_json_variant *subscriptions(struct gidd *gidd, struct client *reader, int *error) {
	static const char *const states[] = {
			[SUBSCRIPTION_WAITING] = "waiting",
			[SUBSCRIPTION_ASKED] = "asked",
			[SUBSCRIPTION_LIVE] = "live",
	};
	sd_json_variant *all = NULL;
	struct subscription *subscription;
	TAILQ_FOREACH(subscription, &gidd->subscriptions, entry) {
		sd_json_variant *one = NULL, *ring = NULL, *page = NULL;
		if (!sees_stream(reader, subscription->name, subscription->stream)) {
			continue;
		}
		int built = build_page(&page, subscription->page, error);
		if (built >= 0 && subscription->ring != NULL) {
			built = build_ring(&ring, subscription->ring);
		}
		if (built >= 0) {
			built = sd_json_buildo(&one,
					SD_JSON_BUILD_PAIR_UNSIGNED("number", subscription->number),
					SD_JSON_BUILD_PAIR_STRING("stream", subscription->name),
					SD_JSON_BUILD_PAIR_STRING("domain",
							domain_name(gidd, subscription->domain)),
					SD_JSON_BUILD_PAIR_STRING("reader",
							domain_name(gidd,
									subscription->consumer_domain)),
					SD_JSON_BUILD_PAIR_STRING("consumer",
							subscription->consumer == NULL
									? ""
									: subscription->consumer
											  ->label),
					SD_JSON_BUILD_PAIR_STRING(
							"state", states[subscription->state]),
					SD_JSON_BUILD_PAIR_UNSIGNED("credit", subscription->credit),
					SD_JSON_BUILD_PAIR_UNSIGNED("clock_error_ns",
							clock_error(gidd, subscription)),
					SD_JSON_BUILD_PAIR_BOOLEAN("drop_old",
							(subscription->flags & GID_WIRE_DROP_OLD) !=
									0),
					SD_JSON_BUILD_PAIR_VARIANT("consumer_counts", page),
					SD_JSON_BUILD_PAIR_CONDITION(ring != NULL,
							"producer_counts",
							SD_JSON_BUILD_VARIANT(ring)));
		}
		sd_json_variant_unref(ring);
		sd_json_variant_unref(page);
		const struct slab *slab = shown_slab(gidd, subscription);
		if (built >= 0 && slab != NULL) {
			add_picture(&one, slab, error);
		}
		append(&all, one, built, error);
	}
	return all;
}

/* --- links ------------------------------------------------------------------------------------ */

static sd_json_variant *doorbells(const struct link *link, int *error) {
	sd_json_variant *all = NULL;
	int built = sd_json_buildo(&all,
			SD_JSON_BUILD_PAIR_STRING("way", link->has_device ? "device" : "link"),
			SD_JSON_BUILD_PAIR_UNSIGNED("direct", link->direct),
			SD_JSON_BUILD_PAIR_UNSIGNED("rung_by_device", link->rings.by_device),
			SD_JSON_BUILD_PAIR_UNSIGNED("rung_by_link", link->rings.by_message),
			SD_JSON_BUILD_PAIR_UNSIGNED("heard_by_device", link->heard.by_device),
			SD_JSON_BUILD_PAIR_UNSIGNED("heard_by_link", link->heard.by_message));
	if (built < 0 && *error == 0) {
		*error = built;
	}
	return all;
}

static sd_json_variant *links(struct gidd *gidd, int *error) {
	static const char *const states[] = {
			[LINK_DOWN] = "down",
			[LINK_HELLO] = "greeting",
			[LINK_UP] = "up",
	};
	sd_json_variant *all = NULL;
	struct link *link;
	TAILQ_FOREACH(link, &gidd->links, entry) {
		sd_json_variant *one = NULL, *bells = doorbells(link, error);
		bool up = link->state == LINK_UP;
		int built = sd_json_buildo(&one,
				SD_JSON_BUILD_PAIR_STRING("domain", link->remote->name),
				SD_JSON_BUILD_PAIR_UNSIGNED("number", link->remote->number),
				SD_JSON_BUILD_PAIR_STRING("kind", link->kind->name),
				SD_JSON_BUILD_PAIR_STRING("state", states[link->state]),
				SD_JSON_BUILD_PAIR_STRING("why", up ? "" : link->why),
				SD_JSON_BUILD_PAIR_UNSIGNED("ups", link->ups),
				SD_JSON_BUILD_PAIR_UNSIGNED("faults", link->faults),
				SD_JSON_BUILD_PAIR_STRING("last_fault", link->fault),
				SD_JSON_BUILD_PAIR_CONDITION(up && link->clock_known,
						"clock_offset_ns",
						SD_JSON_BUILD_INTEGER(link->clock_offset)),
				SD_JSON_BUILD_PAIR_CONDITION(up && link->clock_known,
						"clock_error_ns",
						SD_JSON_BUILD_UNSIGNED(link->clock_error)),
				SD_JSON_BUILD_PAIR_CONDITION(link->kind->windows_only, "doorbells",
						SD_JSON_BUILD_VARIANT(bells)));
		sd_json_variant_unref(bells);
		append(&all, one, built, error);
	}
	return all;
}

/* --- pairs of the hub ------------------------------------------------------------------------- */

static sd_json_variant *ends(const struct hub_pair *pair, int *error) {
	sd_json_variant *all = NULL;
	for (int i = 0; i < 2; i++) {
		const struct hub_faults *faults = &pair->faults[i];
		sd_json_variant *one = NULL;
		int built = sd_json_buildo(&one,
				SD_JSON_BUILD_PAIR_STRING("domain", pair->ends[i]->domain->name),
				SD_JSON_BUILD_PAIR_UNSIGNED("faults", faults->count),
				SD_JSON_BUILD_PAIR_STRING("last_fault", faults->last));
		append(&all, one, built, error);
	}
	return all;
}

static sd_json_variant *pairs(struct gidd *gidd, int *error) {
	sd_json_variant *all = NULL;
	const struct hub *hub = hub_of(gidd->transport);
	const struct hub_pair *pair;
	if (hub == NULL) {
		return NULL;
	}
	TAILQ_FOREACH(pair, &hub->pairs, entry) {
		sd_json_variant *one = NULL, *both = ends(pair, error);
		int built = sd_json_buildo(&one,
				SD_JSON_BUILD_PAIR_STRING("state", pair->up ? "up" : "down"),
				SD_JSON_BUILD_PAIR_STRING("why", pair->up ? "" : pair->why),
				SD_JSON_BUILD_PAIR_UNSIGNED("ups", pair->ups),
				SD_JSON_BUILD_PAIR_CONDITION(
						both != NULL, "ends", SD_JSON_BUILD_VARIANT(both)));
		sd_json_variant_unref(both);
		append(&all, one, built, error);
	}
	return all;
}

/* --- the configuration ------------------------------------------------------------------------ */

static sd_json_variant *configuration(const struct gidd *gidd, int *error) {
	const struct reload *reload = gidd->reload;
	sd_json_variant *all = NULL;
	int built = reload == NULL
			? 0
			: sd_json_buildo(&all, SD_JSON_BUILD_PAIR_STRING("file", reload->path),
					  SD_JSON_BUILD_PAIR_UNSIGNED("readings", reload->readings),
					  SD_JSON_BUILD_PAIR_BOOLEAN("is_newer",
							  config_file_is_newer(gidd->config)),
					  SD_JSON_BUILD_PAIR_STRING("refused",
							  reload->refused == NULL
									  ? ""
									  : reload->refused));
	if (built < 0 && *error == 0) {
		*error = built;
	}
	return all;
}

/* --- the report ------------------------------------------------------------------------------- */

/* `reader`: a client that sees only what its user may read; NULL: everything. */
static int build_report(struct gidd *gidd, struct client *reader, sd_json_variant **report) {
	int error = 0;
	struct {
		const char *key;
		sd_json_variant *value;
	} parts[] = {
			{"configuration", configuration(gidd, &error)},
			{"quotas", quotas(gidd->used, gidd->self->quota, &error)},
			{"links", links(gidd, &error)},
			{"pairs", pairs(gidd, &error)},
			{"clients", clients(gidd, &error)},
			{"slabs", slabs(gidd, reader, &error)},
			{"streams", streams(gidd, reader, &error)},
			{"readable", readable(gidd, reader, &error)},
			{"subscriptions", subscriptions(gidd, reader, &error)},
	};
	if (error == 0) {
		error = sd_json_buildo(report,
				SD_JSON_BUILD_PAIR_STRING("domain", gidd->self->name),
				SD_JSON_BUILD_PAIR_UNSIGNED("number", gidd->self->number),
				SD_JSON_BUILD_PAIR_INTEGER("pid", getpid()),
				SD_JSON_BUILD_PAIR_UNSIGNED("sealed_since", gidd->seal.since),
				SD_JSON_BUILD_PAIR_BOOLEAN("safety_is_open",
						access_safety_is_open(gidd->config, gidd->self)),
				SD_JSON_BUILD_PAIR_BOOLEAN("input_is_open",
						access_input_is_open(gidd->config, gidd->self)),
				SD_JSON_BUILD_PAIR_UNSIGNED("wire", GID_WIRE_VERSION));
	}
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		sd_json_variant *value = parts[i].value;
		if (value == NULL && error >= 0) {
			error = sd_json_variant_new_array(&value, NULL, 0);
		}
		if (error >= 0) {
			error = sd_json_variant_set_field(report, parts[i].key, value);
		}
		sd_json_variant_unref(value);
	}
	return error;
}

static int make_memfd(const char *text, size_t size) {
	int fd = memfd_create("gidd-status", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0) {
		return -errno;
	}
	if (write(fd, text, size) != (ssize_t)size) {
		close(fd);
		return -ENOMEM;
	}
	fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL);
	return fd;
}

/* Makes a sealed file of the report. Returns its descriptor or -errno. */
static int make_report(struct gidd *gidd, struct client *reader, uint64_t *size) {
	sd_json_variant *report = NULL;
	char *text = NULL;
	int result = build_report(gidd, reader, &report);
	if (result >= 0) {
		result = sd_json_variant_format(report, 0, &text);
	}
	if (result >= 0) {
		*size = strlen(text);
		result = *size <= GID_WIRE_REPORT_MAX ? make_memfd(text, *size) : -EFBIG;
	}
	free(text);
	sd_json_variant_unref(report);
	return result;
}

/* --- requests --------------------------------------------------------------------------------- */

/* A client that has not read its last report waits for the next: unread reports use our memory. */
static bool is_ready(struct client *client) {
	client->has_report = client->has_report && packet_stream_is_unread(&client->stream);
	return client->wants_report && !client->has_report;
}

static void send_report(struct client *client, int fd, uint64_t size) {
	client->wants_report = false;
	if (fd < 0) {
		peer_result(&client->peer, client->report_serial, fd, 0, "no report: %s",
				fd == -EFBIG ? "it would be longer than 64 MiB: there is too "
					       "much in this domain"
					     : strerror(-fd));
		return;
	}
	union gid_wire_message message;
	gid_wire_begin(&message, GID_WIRE_REPORT, client->report_serial);
	message.report.size = size;
	peer_send(&client->peer, &message, &fd, 1);
	client->has_report = true;
}

/* The client that has waited the longest. */
static struct client *find_next(struct gidd *gidd) {
	struct client *client, *next = NULL;
	TAILQ_FOREACH(client, &gidd->clients, entry) {
		if (is_ready(client) && (next == NULL || client->report_turn < next->report_turn)) {
			next = client;
		}
	}
	return next;
}

/* Sends one report to all waiting clients that see the same, so only one is made at a time. */
static void send_reports(struct gidd *gidd) {
	uint64_t size = 0, begin = gid_clock_now();
	struct client *client, *first = find_next(gidd);
	if (first == NULL) {
		return;
	}
	bool part = client_sees_a_part(first);
	int fd = make_report(gidd, part ? first : NULL, &size);
	TAILQ_FOREACH(client, &gidd->clients, entry) {
		if (is_ready(client) && client_sees_a_part(client) == part &&
				(!part || client->uid == first->uid)) {
			send_report(client, fd, size);
		}
	}
	if (fd >= 0) {
		close(fd);
	}
	uint64_t now = gid_clock_now(), rest = REST * (now - begin) / 1000;
	rest = rest < REST_MAX_US ? rest : REST_MAX_US;
	rest = rest > REPORT_EVERY_US ? rest : REPORT_EVERY_US;
	gidd->report_due_us = now / 1000 + rest;
}

static void arm(struct gidd *gidd);

static int handle_due(sd_event_source *source, uint64_t now, void *data) {
	const struct client *client;
	struct gidd *gidd = data;
	gidd->report = sd_event_source_disable_unref(gidd->report);
	send_reports(gidd);
	TAILQ_FOREACH(client, &gidd->clients, entry) {
		if (client->wants_report) {
			arm(gidd);
			break;
		}
	}
	return 0;
}

static void arm(struct gidd *gidd) {
	if (gidd->report == NULL) {
		uint64_t soonest = gid_clock_now() / 1000 + REPORT_EVERY_US;
		uint64_t due = gidd->report_due_us > soonest ? gidd->report_due_us : soonest;
		sd_event_add_time(gidd->event, &gidd->report, CLOCK_MONOTONIC, due,
				REPORT_EVERY_US / 10, handle_due, gidd);
	}
}

void status_request(struct client *client, uint32_t serial) {
	struct gidd *gidd = client->peer.gidd;
	if (seal_is_on(gidd) && !seal_is_for(client->uid)) {
		peer_result(&client->peer, serial, -ESHUTDOWN, 0, "%s", gidd->seal.text);
		return;
	}
	if (!client_may_ask_for_status(client)) {
		peer_refuse(&client->peer, serial, -EPERM,
				"the cockpit's configuration does not let user %s ask for a "
				"report: status=off",
				client->user);
		return;
	}
	if (client->wants_report) {
		peer_result(&client->peer, serial, -EAGAIN, 0,
				"a client gets one report at a time");
		return;
	}
	client->wants_report = true;
	client->report_serial = serial;
	client->report_turn = ++gidd->report_requests;
	if (gidd->report == NULL && gid_clock_now() / 1000 >= gidd->report_due_us) {
		send_reports(gidd);
	}
	if (client->wants_report) {
		arm(gidd);
	}
}

void status_close(struct gidd *gidd) {
	gidd->report = sd_event_source_disable_unref(gidd->report);
}
