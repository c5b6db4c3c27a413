// SPDX-License-Identifier: MIT
/*
 * What a producer makes of what gidd says of its consumers: those that it may not have, those that
 * come with the wrong things, doorbells past gidd, and a gidd that comes back and refuses. And that
 * a callback may end it.
 */
#include <drm_fourcc.h>
#include <gid/stream.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include "false_flow.h"
#include "memory_source.h"
#include "producer.h"
#include "subscriber.h"

#define STREAM 5u
#define SLAB 7u
#define BELLS_MOST 1000

static atomic_int publish_answer;
static atomic_bool publish_waits;
static atomic_uint publish_serial, unpublished;
static atomic_uint published, accepted, announced, grants;
static atomic_int announced_as;

static bool allows;
static unsigned joined, left;

static bool hear(int fd, const union gid_wire_message *message, unsigned life) {
	uint32_t serial = message->header.serial;
	switch (message->header.type) {
	case GID_WIRE_PUBLISH:
		publish_serial = serial;
		published++;
		return publish_waits || false_gidd_answer(fd, serial, publish_answer, STREAM);
	case GID_WIRE_UNPUBLISH:
		unpublished = message->unpublish.stream;
		return true;
	case GID_WIRE_ACCEPT:
		accepted++;
		return true;
	case GID_WIRE_SUBSCRIBER:
		announced_as = (int)message->subscriber.subscription;
		announced++;
		return true;
	case GID_WIRE_EXPORT:
		return false_gidd_answer(fd, serial, 0, SLAB);
	case GID_WIRE_UNEXPORT:
		return false_gidd_answer(fd, serial, 0, 0);
	case GID_WIRE_GRANT:
		grants++;
		return false_gidd_answer(fd, serial, -EPERM, 0);
	default:
		return flow_hear(fd, message);
	}
}

static bool allow(void *data, uint32_t domain) {
	return allows;
}

static void hear_subscriber(void *data, uint32_t domain, bool is_there, uint32_t consumers) {
	joined += is_there;
	left += !is_there;
}

static void say_subscriber_of(uint32_t flags, uint32_t number, int page, int bell) {
	union gid_wire_message message;
	gid_wire_begin(&message, GID_WIRE_SUBSCRIBER, 0);
	message.subscriber.subscription = number;
	message.subscriber.stream = STREAM;
	message.subscriber.domain = 2;
	message.subscriber.credit = 4;
	message.subscriber.flags = flags;
	flow_say(&message, (int[]){page, bell}, 2);
}

static void say_subscriber(uint32_t number, int page, int bell) {
	say_subscriber_of(GID_WIRE_REMOTE, number, page, bell);
}

static void test_refused(struct gid_domain *domain, int page, const int bells[2]) {
	unsigned before = flow.ended;
	allows = false;
	say_subscriber(1, page, bells[1]);
	WAIT_FOR(domain, flow.ended > before);
	tap_ok(flow.end_reason == -EPERM && joined == 0, "a producer can refuse a domain: %d",
			flow.end_reason);
	allows = true;
	before = flow.ended;
	say_subscriber(2, bells[0], bells[1]);
	WAIT_FOR(domain, flow.ended > before);
	tap_ok(flow.end_reason == -EBADF && joined == 0, "what is no memory is no page: %d",
			flow.end_reason);
	before = flow.ended;
	say_subscriber(3, page, page);
	WAIT_FOR(domain, flow.ended > before);
	tap_ok(flow.end_reason == -EPROTO && joined == 0 && accepted == 0,
			"nor is that a doorbell: %d", flow.end_reason);
}

/* A producer that sends before it looks who rang finds nothing then: but it was rung for something.
 */
static void test_rung_late(struct gid_producer *producer, struct gid_wire_page *page, int hears) {
	const struct gid_subscription *subscription = producer->subscriptions;
	const uint32_t places = GID_RING_RELEASES_EACH * subscription->ring.entries;
	struct gid_frame frame = GID_FRAME_INIT;
	frame.flags = GID_FRAME_EOS;
	uint64_t index = subscription->ring.tail;
	int sent = gid_producer_send(producer, &frame);
	for (; sent == 1 && index < BELLS_MOST; index++) {
		page->head = index + 1;
		page->releases[index % places] = index;
		page->release_tail = index + 1;
		eventfd_write(hears, 1);
		sent = index + 1 < BELLS_MOST ? gid_producer_send(producer, &frame) : 1;
		gid_producer_dispatch(producer);
	}
	tap_ok(sent == 1 && subscription->ring.released == BELLS_MOST &&
					subscription->doorbell.hear >= 0,
			"one that rings for each is heard, also where a frame comes first");
}

/* One of another machine, which is heard by gidd's word alone. */
static void test_doorbells(struct gid_domain *domain, struct gid_producer *producer,
		struct gid_wire_page *page) {
	int rings = eventfd(0, EFD_CLOEXEC), hears = eventfd(0, EFD_CLOEXEC);
	int others = eventfd(0, EFD_CLOEXEC);
	flow_say_doorbell(5, GID_WIRE_DOORBELL_RING, others);
	flow_say_doorbell(4, GID_WIRE_DOORBELL_RING, rings);
	flow_say_doorbell(4, GID_WIRE_DOORBELL_RING, others);
	flow_say_doorbell(5, GID_WIRE_DOORBELL_HEAR, others);
	flow_say_doorbell(4, GID_WIRE_DOORBELL_HEAR, hears);
	flow_say_doorbell(4, GID_WIRE_DOORBELL_HEAR, others);
	flow_say_hearing(5);
	flow_wait_heard(domain, 7);
	WAIT_FOR(domain, flow.hearing_on > 0);
	const struct gid_subscription *subscription = producer->subscriptions;
	tap_ok(flow.hearing_on == 1 && subscription->doorbell.hear >= 0,
			"it hears past gidd, and says so once");
	struct gid_frame frame = GID_FRAME_INIT;
	frame.flags = GID_FRAME_EOS;
	page->asleep = 1;
	tap_ok(gid_producer_send(producer, &frame) == 1, "the consumer gets a frame");
	uint64_t rung = 0;
	tap_ok(poll(&(struct pollfd){rings, POLLIN, 0}, 1, 0) == 1 &&
					read(rings, &rung, sizeof(rung)) > 0 && rung == 1 &&
					poll(&(struct pollfd){others, POLLIN, 0}, 1, 0) == 0,
			"and is rung for past gidd, by the first bell alone");

	page->head = 1;
	page->releases[0] = 0;
	page->release_tail = 1;
	eventfd_write(hears, 1);
	gid_producer_dispatch(producer);
	tap_ok(subscription->ring.released == 1, "what it gives back is collected when it rings");
	test_rung_late(producer, page, hears);
	int times = 0;
	while (subscription->doorbell.hear >= 0 && times < BELLS_MOST) {
		eventfd_write(hears, 1);
		gid_producer_dispatch(producer);
		times++;
	}
	WAIT_FOR(domain, flow.hearing_off > 0);
	tap_ok(times > 10 && times < BELLS_MOST && joined == 1 && left == 0,
			"one that rings %d times for nothing is heard by gidd again", times);
	flow_say_doorbell(4, GID_WIRE_DOORBELL_HEAR, hears);
	flow_wait_heard(domain, 1);
	tap_ok(subscription->doorbell.hear >= 0, "which may give it another bell");
	flow_say_hearing(4);
	flow_say_hearing(4);
	flow_wait_heard(domain, 2);
	tap_ok(subscription->doorbell.hear < 0 && left == 0, "and take it, too");
	close(rings);
	close(hears);
	close(others);
}

static void test_comes_back(struct gid_domain *domain, struct gid_producer *producer) {
	unsigned before = announced;
	false_gidd.life++;
	WAIT_FOR(domain, announced > before);
	tap_ok(left == 0 && announced_as != 4, "a gidd that comes back is told who reads");
	before = published;
	publish_answer = -EACCES;
	false_gidd.life++;
	WAIT_FOR(domain, published > before);
	WAIT_FOR(domain, left > 0);
	tap_ok(left == 1 && strstr(gid_domain_error(domain), "refuses stream 'movie'") != NULL,
			"one that refuses the stream ends it: %s", gid_domain_error(domain));
	struct gid_frame frame = GID_FRAME_INIT;
	frame.flags = GID_FRAME_EOS;
	tap_ok(gid_producer_send(producer, &frame) == 0, "nobody gets what is sent from then on");
}

static void test_counts(struct gid_producer *producer) {
	struct gid_producer_stats stats;
	gid_producer_count_copy(producer, 4096);
	gid_producer_get_stats(producer, &stats);
	tap_ok(stats.copied_frames == 1 && stats.copied_bytes == 4096,
			"a copy of which nobody says why is counted");
}

/* --- callbacks that end their producer -------------------------------------------------------- */

static struct gid_producer *ending; /* at the next callback; NULL: it has ended */
static unsigned called_late;

static void end_producer(void) {
	called_late += ending == NULL;
	gid_producer_destroy(ending);
	ending = NULL;
}

static bool end_at_allow(void *data, uint32_t domain) {
	end_producer();
	return allows;
}

static void end_at_leave(void *data, uint32_t domain, bool is_there, uint32_t consumers) {
	if (!is_there) {
		end_producer();
	}
}

static void hear_granted(void *data, gid_id gid, int error) {
	called_late += ending == NULL;
}

/* Of what has a page and a doorbell of its own. */
static void say_consumer_of(uint32_t flags) {
	struct gid_memory_own page;
	int bells[2];
	if (!tap_ok(gid_memory_create(&page, "gid-page", sizeof(struct gid_wire_page)) == 0 &&
					    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0,
							    bells) == 0,
			    "what a consumer has")) {
		return;
	}
	say_subscriber_of(flags, 6, page.fd, bells[1]);
	gid_memory_finish(&page);
	close(bells[0]);
	close(bells[1]);
}

static void test_ended_at_allow(struct gid_domain *domain) {
	const struct gid_producer_options options = {
			.size = sizeof(options),
			.allow = end_at_allow,
	};
	const unsigned before = accepted;
	for (int i = 0; i < 2; i++) {
		allows = i == 0;
		int error = gid_producer_create(domain, "movie", &options, &ending);
		say_consumer_of(GID_WIRE_REMOTE);
		WAIT_FOR(domain, ending == NULL);
		tap_ok(error == 0 && accepted == before && gid_domain_is_connected(domain),
				"a producer can end as it is asked who may subscribe: %d", error);
	}
}

/* Its consumer may not read what is sent: it hears that, and has no use for the stream any more. */
static void test_ended_at_refused_grant(struct gid_domain *domain) {
	const struct gid_producer_options options = {
			.size = sizeof(options),
			.subscriber = end_at_leave,
			.granted = hear_granted,
	};
	struct gid_layout layout;
	struct gid_slab *slab = NULL;
	struct gid_frame frame = GID_FRAME_INIT;
	gid_layout_init(&layout, DRM_FORMAT_XRGB8888, 16, 16, 64);
	int error = gid_producer_create(domain, "movie", &options, &ending);
	error = error < 0 ? error : gid_slab_create(domain, &layout, 0, 1, NULL, &slab);
	const unsigned before = accepted;
	say_consumer_of(0);
	WAIT_FOR(domain, accepted > before);
	frame.gid = error < 0 ? GID_NONE : gid_slab_gid(slab, 0);
	tap_ok(error == 0 && gid_producer_send(ending, &frame) == -EINPROGRESS,
			"a frame waits for a grant: %d", error);
	WAIT_FOR(domain, ending == NULL);
	tap_ok(grants == 1 && called_late == 0,
			"no callback is called for a producer that the last one has ended");
	gid_slab_destroy(slab, false);
}

static void hear_published(void *data, int error) {
	called_late++;
}

/* And before gidd has answered, which then has a stream that nobody sends. */
static void test_ended_unpublished(struct gid_domain *domain) {
	const struct gid_producer_options options = {
			.size = sizeof(options),
			.published = hear_published,
	};
	struct gid_producer *producer;
	const unsigned before = published;
	publish_waits = true;
	int error = gid_producer_create(domain, "movie", &options, &producer);
	WAIT_FOR(domain, published > before);
	gid_producer_destroy(error < 0 ? NULL : producer);
	unpublished = 0;
	publish_waits = false;
	false_gidd_answer(flow.connection, publish_serial, 0, STREAM);
	WAIT_FOR(domain, unpublished > 0);
	tap_ok(error == 0 && unpublished == STREAM && called_late == 0,
			"a stream that is made for nobody any more is ended: %d", error);
}

static void test_all(struct gid_domain *domain) {
	struct gid_producer_options options = {
			.size = sizeof(options),
			.allow = allow,
			.subscriber = hear_subscriber,
	};
	struct gid_producer *producer = NULL;
	struct gid_memory_own page;
	int bells[2];
	if (!tap_ok(gid_producer_create(domain, "movie", &options, &producer) == 0 &&
					    gid_memory_create(&page, "gid-page",
							    sizeof(struct gid_wire_page)) == 0 &&
					    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0,
							    bells) == 0,
			    "a producer, and what a consumer has")) {
		return;
	}
	struct gid_wire_page *shared = page.data;
	test_refused(domain, page.fd, bells);
	say_subscriber(4, page.fd, bells[1]);
	WAIT_FOR(domain, accepted > 0);
	if (tap_ok(joined == 1 && producer->subscriptions != NULL, "a consumer comes")) {
		test_doorbells(domain, producer, shared);
		test_counts(producer);
		test_comes_back(domain, producer);
	}
	gid_producer_destroy(producer);
	gid_memory_finish(&page);
	close(bells[0]);
	close(bells[1]);
	publish_answer = 0;
	test_ended_at_allow(domain);
	test_ended_at_refused_grant(domain);
	test_ended_unpublished(domain);
}

int main(void) {
	setenv("GID_ANSWER_SECONDS", "20", 1);
	return false_gidd_test(hear, test_all);
}
