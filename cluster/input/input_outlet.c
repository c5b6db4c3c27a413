// SPDX-License-Identifier: MIT
#include "input_outlet.h"

#include <assert.h>
#include <input_sender.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <wlr/util/log.h>

#include "sealed.h"
#include "thread.h"

#define STREAMS_MAX 64u /* bits of input_outlet::overflown, and as many as roles and layers */
#define PLACES 1024u	/* of the ring */
#define MS_NS 1000000ull
#define RETRY_MS 1000
/*
 * While something is pressed, the thread checks this often that the display is alive, and releases
 * all after this many failures.
 */
#define LOOK_MS 100
#define LOOKS 20u

struct outlet_stream {
	struct input_outlet *outlet;
	char name[INPUT_NAME_SIZE];
	uint32_t devices;
	_Atomic uint64_t events, left_out;
	atomic_uint readers;
	/* For the thread only: */
	struct input_sender *sender; /* NULL: none now */
	bool failed;		     /* it must be created again */
	uint64_t again;		     /* the earliest time for that, CLOCK_MONOTONIC ns */
	int reported;		     /* the last error in the log; 0: none */
};

/* An event; type 0: release all that the stream holds. */
struct place {
	size_t stream;
	struct input_record event;
};

struct input_outlet {
	char *domain_name;
	struct outlet_stream *streams;
	size_t count;
	pthread_t thread;
	int wake; /* eventfd, for the thread */
	atomic_bool ends;
	atomic_uint alive; /* a counter that the display increments */
	/* Bit i: an event of stream i did not fit in the ring, so all that it holds is released. */
	_Atomic uint64_t overflown;
	struct place ring[PLACES];
	atomic_uint head; /* next write, by the display's thread */
	atomic_uint tail; /* next read, by the outlet's thread */
	/* For the thread only: */
	struct gid_domain *domain; /* NULL: none now */
	int reported;
	uint64_t looked;       /* the last liveness check, CLOCK_MONOTONIC ns */
	unsigned seen, missed; /* the last value of `alive`, and checks since it changed */
	bool holding;	       /* something may be pressed */
};

/* --- the display's thread --------------------------------------------------------------------- */

static void outlet_put(
		struct input_outlet *outlet, size_t stream, const struct input_record *event) {
	unsigned head = atomic_load_explicit(&outlet->head, memory_order_relaxed);
	struct outlet_stream *of = &outlet->streams[stream];
	if (head - atomic_load_explicit(&outlet->tail, memory_order_acquire) >= PLACES) {
		of->left_out++;
		atomic_fetch_or(&outlet->overflown, UINT64_C(1) << stream);
	} else {
		of->events += event->type != 0 && event->type != INPUT_GROUP_END;
		outlet->ring[head % PLACES] = (struct place){stream, *event};
		atomic_store_explicit(&outlet->head, head + 1, memory_order_release);
	}
	if (event->type == INPUT_GROUP_END || event->type == 0) {
		eventfd_write(outlet->wake, 1);
	}
}

void input_outlet_post(
		struct input_outlet *outlet, size_t stream, const struct input_record *event) {
	if (stream < outlet->count && outlet->streams[stream].devices != 0) {
		outlet_put(outlet, stream, event);
	}
}

void input_outlet_release(struct input_outlet *outlet, size_t stream) {
	input_outlet_post(outlet, stream, &(struct input_record){0});
}

void input_outlet_alive(struct input_outlet *outlet) {
	atomic_fetch_add_explicit(&outlet->alive, 1, memory_order_relaxed);
}

struct input_outlet_stats input_outlet_get_stats(const struct input_outlet *outlet, size_t stream) {
	const struct outlet_stream *of = &outlet->streams[stream];
	return (struct input_outlet_stats){.events = atomic_load(&of->events),
			.left_out = atomic_load(&of->left_out),
			.readers = atomic_load(&of->readers)};
}

/* --- the thread: streams ---------------------------------------------------------------------- */

static void stream_report(struct outlet_stream *stream, int error, const char *why) {
	if (error < 0 && error != stream->reported) {
		wlr_log(WLR_ERROR, "stream %s: %s: trying again", stream->name,
				why[0] != '\0' ? why : gid_strerror(error));
	}
	stream->reported = error;
}

static void handle_published(void *data, int error) {
	struct outlet_stream *stream = data;
	stream->failed = error != 0;
	stream_report(stream, error,
			error == -EEXIST ? "another program of this domain sends it"
					 : gid_strerror(error));
}

static void handle_readers(void *data, uint32_t readers) {
	struct outlet_stream *stream = data;
	if ((atomic_load(&stream->readers) > 0) != (readers > 0)) {
		wlr_log(WLR_INFO, "stream %s is taken%s", stream->name,
				readers > 0 ? "" : " by nobody now");
	}
	atomic_store(&stream->readers, readers);
}

static const struct input_sender_events sender_events = {
		.published = handle_published, .readers = handle_readers};

static void stream_end(struct outlet_stream *stream) {
	input_sender_destroy(stream->sender);
	stream->sender = NULL;
	stream->failed = false;
	atomic_store(&stream->readers, 0);
}

/* Returns whether the stream exists. */
static bool stream_begin(struct outlet_stream *stream) {
	if (stream->failed) {
		stream_end(stream);
	}
	uint64_t now = gid_clock_now();
	if (stream->sender == NULL && now >= stream->again) {
		struct gid_domain *domain = stream->outlet->domain;
		int error = input_sender_create(domain, stream->name, INPUT_LEASE_DEFAULT_MS,
				&sender_events, stream, &stream->sender);
		stream->again = now + RETRY_MS * MS_NS;
		if (error < 0) {
			stream_report(stream, error, gid_domain_error(domain));
		}
	}
	if (stream->sender == NULL) {
		return false;
	}
	input_sender_set_devices(stream->sender, stream->devices);
	return true;
}

/* --- the thread: connection ------------------------------------------------------------------- */

static void outlet_disconnect(struct input_outlet *outlet) {
	for (size_t i = 0; i < outlet->count; i++) {
		stream_end(&outlet->streams[i]);
	}
	gid_domain_destroy(outlet->domain);
	outlet->domain = NULL;
}

/* May wait long for gidd: nobody waits for this thread. Returns whether all streams exist. */
static bool outlet_connect(struct input_outlet *outlet) {
	int error = 0;
	if (outlet->domain == NULL && sealed_is_on()) {
		return false;
	}
	if (outlet->domain == NULL) {
		error = gid_domain_connect(outlet->domain_name, &outlet->domain);
		if (error < 0 && error != outlet->reported) {
			wlr_log(WLR_ERROR, "no input: %s: trying again",
					gid_domain_connect_error());
		}
		outlet->reported = error;
	}
	bool all = error == 0;
	for (size_t i = 0; i < outlet->count && error == 0; i++) {
		struct outlet_stream *stream = &outlet->streams[i];
		all = (stream->devices == 0 || stream_begin(stream)) && all;
	}
	return all;
}

/* --- the thread: events ----------------------------------------------------------------------- */

static void outlet_release(struct input_outlet *outlet, uint64_t streams) {
	for (size_t i = 0; i < outlet->count; i++) {
		if ((streams >> i & 1) && outlet->streams[i].sender != NULL) {
			input_sender_release_all(outlet->streams[i].sender);
		}
	}
}

static void outlet_take(struct input_outlet *outlet, const struct place *place) {
	struct input_sender *sender = outlet->streams[place->stream].sender;
	if (sender == NULL) {
		return; /* without a stream there is no reader */
	}
	if (place->event.type == 0) {
		input_sender_release_all(sender);
	} else {
		input_sender_add(sender, &place->event);
		outlet->holding = true;
	}
	if (place->event.type == INPUT_GROUP_END) {
		input_sender_flush(sender);
	}
}

static void outlet_drain(struct input_outlet *outlet) {
	unsigned tail = atomic_load_explicit(&outlet->tail, memory_order_relaxed);
	while (tail != atomic_load_explicit(&outlet->head, memory_order_acquire)) {
		struct place place = outlet->ring[tail % PLACES];
		atomic_store_explicit(&outlet->tail, ++tail, memory_order_release);
		outlet_take(outlet, &place);
	}
	outlet_release(outlet, atomic_exchange(&outlet->overflown, 0));
}

/*
 * A display that hangs would not forward that a finger was lifted. Checked by time, not by
 * wake-ups: readers that come and go can wake the thread as often as they like.
 */
static void outlet_watch(struct input_outlet *outlet) {
	uint64_t now = gid_clock_now();
	if (now - outlet->looked < LOOK_MS * MS_NS) {
		return;
	}
	outlet->looked = now;
	unsigned alive = atomic_load_explicit(&outlet->alive, memory_order_relaxed);
	outlet->missed = alive != outlet->seen ? 0 : outlet->missed + 1;
	outlet->seen = alive;
	if (outlet->missed >= LOOKS && outlet->holding) {
		wlr_log(WLR_ERROR, "the display stands still: all that is pressed is released");
		outlet_release(outlet, UINT64_MAX);
		outlet->holding = false;
	}
}

static int outlet_patience(const struct input_outlet *outlet, bool all) {
	uint64_t deadline = UINT64_MAX, now = gid_clock_now();
	for (size_t i = 0; i < outlet->count; i++) {
		if (outlet->streams[i].sender != NULL) {
			uint64_t next = input_sender_deadline(outlet->streams[i].sender);
			deadline = next < deadline ? next : deadline;
		}
	}
	if (deadline == UINT64_MAX) {
		return outlet->holding ? LOOK_MS : all ? -1 : RETRY_MS;
	}
	/* Senders have their deadlines at least as often. */
	_Static_assert(INPUT_LEASE_DEFAULT_MS / INPUT_BEATS <= LOOK_MS,
			"looks come with its signs");
	return deadline > now ? (int)((deadline - now) / MS_NS + 1) : 0;
}

static void outlet_dispatch(struct input_outlet *outlet) {
	int error = outlet->domain != NULL ? gid_domain_dispatch(outlet->domain) : 0;
	if (error < 0) {
		wlr_log(WLR_ERROR, "no input: %s: trying again", gid_strerror(error));
		outlet_disconnect(outlet);
	}
	for (size_t i = 0; i < outlet->count; i++) {
		if (outlet->streams[i].sender != NULL) {
			input_sender_dispatch(outlet->streams[i].sender);
		}
	}
}

static void *run(void *data) {
	struct input_outlet *outlet = data;
	while (!atomic_load(&outlet->ends)) {
		bool all = outlet_connect(outlet);
		int fd = outlet->domain != NULL ? gid_domain_get_fd(outlet->domain) : -1;
		struct pollfd fds[] = {{.fd = outlet->wake, .events = POLLIN},
				{.fd = fd, .events = POLLIN}};
		eventfd_t count;
		poll(fds, 2, outlet_patience(outlet, all));
		outlet_watch(outlet);
		(void)eventfd_read(outlet->wake, &count);
		outlet_dispatch(outlet);
		outlet_drain(outlet);
	}
	outlet_disconnect(outlet);
	return NULL;
}

/* --- life ------------------------------------------------------------------------------------- */

static void outlet_free(struct input_outlet *outlet) {
	if (outlet->wake >= 0) {
		close(outlet->wake);
	}
	free(outlet->domain_name);
	free(outlet->streams);
	free(outlet);
}

static void outlet_init_streams(
		struct input_outlet *outlet, const struct input_outlet_stream *streams) {
	for (size_t i = 0; i < outlet->count; i++) {
		struct outlet_stream *stream = &outlet->streams[i];
		stream->outlet = outlet;
		stream->devices = input_stream_name(stream->name, streams[i].shown)
				? streams[i].devices
				: 0;
	}
}

struct input_outlet *input_outlet_create(
		const char *domain, const struct input_outlet_stream *streams, size_t count) {
	assert(count <= STREAMS_MAX);
	struct input_outlet *outlet = calloc(1, sizeof(*outlet));
	if (outlet == NULL) {
		return NULL;
	}
	outlet->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	outlet->count = count;
	outlet->streams = calloc(count, sizeof(*outlet->streams));
	outlet->domain_name = domain != NULL ? strdup(domain) : NULL;
	if (outlet->wake < 0 || outlet->streams == NULL ||
			(domain != NULL && outlet->domain_name == NULL)) {
		outlet_free(outlet);
		return NULL;
	}
	outlet_init_streams(outlet, streams);
	if (gid_thread_start(&outlet->thread, GID_THREAD_STACK, run, outlet) != 0) {
		outlet_free(outlet);
		return NULL;
	}
	return outlet;
}

void input_outlet_destroy(struct input_outlet *outlet) {
	if (outlet == NULL) {
		return;
	}
	atomic_store(&outlet->ends, true);
	eventfd_write(outlet->wake, 1);
	/*
	 * A gidd that does not answer may block the thread, which still uses the memory. The
	 * process ends soon.
	 */
	if (gid_thread_join(outlet->thread) == 0) {
		outlet_free(outlet);
	}
}
