// SPDX-License-Identifier: MIT
/*
 * Pictures whose fence comes late, or never, and such as take long to be examined: the reader of a
 * stream waits for none of them longer than it may, and whatever the producer sends meanwhile, it
 * gives back what it took. libgid's and the worker's functions are replaced by those of the test.
 */
#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "cluster/workers/stream_reader.h"
#include "libgid/wire_ring.h"
#include "tap.h"

#define MS UINT64_C(1000000)
#define DEADLINE_MS 200

static uint64_t now = 1000 * MS;
static unsigned queued, released, references, shown;
static unsigned empties, taken; /* entries without a picture, before the frames; all that went */
static uint64_t next_sequence, last_shown, last_released;
static uint32_t mark; /* flags of an entry without a picture, behind the frames; 0: none */
static bool drawn, current, imports_later, is_forbidden, is_set_back;
static enum gid_memory memory;
static int bell;
static gid_imported_func imported; /* is to be called, with `imports_later` */

uint64_t gid_clock_now(void) {
	return now;
}

/* --- the consumer, which has `empties`, `queued` frames, and `mark` --------------------------- */

int gid_consumer_create(struct gid_domain *domain, const char *owner, const char *name,
		const struct gid_consumer_options *options, struct gid_consumer **consumer) {
	*consumer = (struct gid_consumer *)&bell;
	return 1;
}

void gid_consumer_destroy(struct gid_consumer *consumer) {
}

int gid_consumer_get_fd(const struct gid_consumer *consumer) {
	return bell;
}

enum gid_consumer_state gid_consumer_get_state(const struct gid_consumer *consumer) {
	return GID_CONSUMER_LIVE;
}

int gid_consumer_receive_burst(
		struct gid_consumer *consumer, struct gid_frame *frames, uint32_t count) {
	uint32_t got = 0;
	for (; got < count && empties > 0; empties--) {
		frames[got++] = (struct gid_frame){.flags = GID_FRAME_FLUSH};
	}
	for (; got < count && queued > 0; queued--) {
		frames[got++] = (struct gid_frame){
				.gid = gid_make(1, 1, (uint32_t)(next_sequence % 4), 0),
				.sequence = ++next_sequence,
				.submit_time = now,
		};
	}
	if (got < count && mark != 0) {
		frames[got++] = (struct gid_frame){.flags = mark};
		mark = 0;
	}
	taken += got;
	return got > 0 ? (int)got : -EAGAIN;
}

int gid_consumer_release_burst(
		struct gid_consumer *consumer, const struct gid_frame *frames, uint32_t count) {
	released += count;
	if (count > 0) {
		last_released = frames[count - 1].sequence;
	}
	return 0;
}

int gid_consumer_release(struct gid_consumer *consumer, const struct gid_frame *frame) {
	return gid_consumer_release_burst(consumer, frame, 1);
}

int gid_consumer_holds(const struct gid_consumer *consumer, const struct gid_frame *frame,
		const struct gid_slab *slab, uint64_t *until) {
	return is_set_back ? -ESTALE : 0;
}

int gid_consumer_tell_showable(struct gid_consumer *consumer, const struct gid_showable *showable,
		uint32_t number) {
	return 0;
}

uint32_t gid_domain_number(const struct gid_domain *domain) {
	return 2;
}

int gid_slab_import_async(struct gid_domain *domain, gid_id gid, gid_imported_func done, void *data,
		struct gid_slab **slab) {
	if (imports_later) {
		imported = done;
		return -EINPROGRESS;
	}
	if (is_forbidden) {
		return -EACCES;
	}
	*slab = (struct gid_slab *)&references;
	references++;
	return 0;
}

void gid_slab_import_cancel(struct gid_domain *domain, void *data) {
	imported = NULL;
}

struct gid_slab *gid_slab_ref(struct gid_slab *slab) {
	references++;
	return slab;
}

void gid_slab_unref(struct gid_slab *slab) {
	references -= slab != NULL;
}

bool gid_slab_is_current(const struct gid_slab *slab, gid_id gid) {
	return current;
}

const void *gid_slab_view_untouched(const struct gid_slab *slab, uint32_t slot) {
	return &references;
}

void gid_slab_get_info(const struct gid_slab *slab, struct gid_slab_info *info) {
	*info = (struct gid_slab_info){.slot_count = 4, .slot_size = 4096, .memory = memory};
}

/* --- the worker, which is done at once, unless it `works` ------------------------------------- */

static struct worker_options options;
static struct wl_event_source *source;
static struct examination work;
static struct own_picture picture;
static bool works, has_work;

static void hand_over(void) {
	struct examination done = work;
	bool is_done = has_work && !works;
	done.undrawn = done.slot != NULL && memory == GID_MEMORY_DMABUF && !drawn;
	if (is_done) {
		has_work = picture.used = false;
	}
	options.examined(options.data, is_done ? &done : NULL);
}

static int handle_bell(int fd, uint32_t mask, void *data) {
	hand_over();
	return 0;
}

struct worker *worker_create(const struct worker_options *given) {
	options = *given;
	source = wl_event_loop_add_fd(options.loop, bell, WL_EVENT_READABLE, handle_bell, NULL);
	return (struct worker *)&work;
}

void worker_destroy(struct worker *worker) {
	wl_event_source_remove(source);
}

bool worker_start(struct worker *worker, const struct examination *examination) {
	bool is_free = !has_work;
	if (is_free) {
		work = *examination;
		work.picture = &picture;
		work.reason = work.slot == NULL ? ROLE_REASON_MEMORY : ROLE_REASON_NONE;
		has_work = picture.used = true;
	}
	return is_free;
}

void worker_tick(struct worker *worker) {
}

bool worker_wait(struct worker *worker, uint64_t until) {
	works = false;
	if (has_work) {
		hand_over();
	}
	return true;
}

static unsigned asked; /* by the reader itself: by the display's thread */

bool gid_dmabuf_is_drawn(int fd) {
	asked++;
	return drawn;
}

uint32_t examiner_showable(
		const struct accepted *accepted, struct gid_showable showable[GID_SHOWABLE_MAX]) {
	return 0;
}

void examination_get_check(struct examination *of, const struct examiner_rules *rules,
		struct gid_consumer *consumer) {
}

void samples_add(struct samples *samples, uint64_t value) {
}

/* --- who shows them --------------------------------------------------------------------------- */

static unsigned noted, lost, refused;

static bool handle_examined(
		void *data, const struct examination *of, struct gid_slab *slab, uint64_t time) {
	bool good = of->reason == ROLE_REASON_NONE;
	shown += good;
	refused += !good;
	last_shown = of->frame.sequence;
	return false;
}

static void handle_absent(void *data, const struct gid_frame *frame, uint64_t time) {
	noted++;
}

static void handle_disconnected(void *data, int reason, uint64_t time) {
	lost++;
}

static const struct stream_reader_hooks hooks = {
		handle_examined, handle_absent, handle_disconnected};

/* --- tests ------------------------------------------------------------------------------------ */

static const struct stream_reader_config config = {.kind = "role",
		.name = "telltale",
		.stream = "safety/telltale",
		.undrawn_ns = DEADLINE_MS * MS};
static struct stream_reader stream;

static void begin(void) {
	queued = released = references = shown = noted = lost = refused = 0;
	next_sequence = last_shown = last_released = 0;
	drawn = imports_later = is_forbidden = is_set_back = works = has_work = false;
	current = true;
	memory = GID_MEMORY_DMABUF;
	stream_reader_init(&stream, &config, &hooks, NULL, wl_event_loop_create());
	stream_reader_start(&stream, (struct gid_domain *)&bell);
}

/* The event loop turns once: here for the worker, in which all descriptors are one. */
static void turn(void) {
	wl_event_loop_dispatch(stream.loop, 0);
}

static void refresh(unsigned frames) {
	now += 16 * MS;
	queued += frames;
	stream_reader_tick(&stream);
	turn();
}

/* All that was received was given back, and nothing is held. */
static bool end(void) {
	struct wl_event_loop *loop = stream.loop;
	unsigned waits = stream.waits == STREAM_READER_FENCED ||
			stream.waits == STREAM_READER_QUEUED ||
			stream.waits == STREAM_READER_MISSING;
	waits += has_work;
	stream_reader_stop(&stream);
	stream_reader_drain(&stream, now);
	stream_reader_finish(&stream);
	wl_event_loop_destroy(loop);
	return references == 0 && released + waits == next_sequence && !picture.used;
}

static void test_late(void) {
	begin();
	refresh(1);
	refresh(0);
	tap_ok(shown == 0, "a picture that is being drawn is not there yet");
	drawn = true;
	refresh(0);
	tap_ok(shown == 1 && last_shown == 1, "once it is drawn it is");
	tap_ok(end(), "and all is given back");
	begin();
	memory = GID_MEMORY_MEMFD;
	refresh(1);
	tap_ok(shown == 1, "memory that no device writes is always drawn");
	tap_ok(end(), "and all is given back");
}

/* Of a device that takes longer for each picture than a refresh. */
static void test_behind(void) {
	begin();
	for (unsigned i = 0; i < 20; i++) {
		drawn = i % 2 == 1;
		refresh(1);
	}
	tap_ok(shown >= 9, "newer pictures do not take the place of one that is nearly drawn (%u)",
			shown);
	tap_ok(end(), "and all is given back");
}

static void test_never(void) {
	begin();
	unsigned held = 0;
	for (unsigned i = 0; i < 1000; i++) {
		refresh(i % 2);
		unsigned out = (unsigned)(next_sequence - released);
		held = out > held ? out : held;
	}
	tap_ok(shown == 0 && held == 1, "of pictures that are never drawn one is held at a time");
	tap_ok(stream.undrawn == released && released > 400, "they are counted");
	tap_ok(end(), "and all is given back");
	begin();
	refresh(1);
	unsigned ms = 0;
	while (released == 0 && ms < 2 * DEADLINE_MS) {
		refresh(0);
		ms += 16;
	}
	tap_ok(released == 1 && stream.waits == STREAM_READER_IDLE && ms >= DEADLINE_MS &&
					ms <= DEADLINE_MS + 2 * 16,
			"a single one is given back when the role's deadline is over: %u ms", ms);
	drawn = true;
	refresh(1);
	tap_ok(last_shown == 2, "the next one is shown");
	tap_ok(end(), "and all is given back");
}

/* The producer took the slot back, as it does when the lease is over, and draws into it again. */
static void test_lease(void) {
	begin();
	refresh(1);
	current = false;
	drawn = true;
	refresh(0);
	tap_ok(shown == 0 && last_released == 1,
			"what was drawn after its lease is another picture");
	tap_ok(end(), "and all is given back");
}

/* The machine that sent it went back to an earlier state while it was examined. */
static void test_set_back(void) {
	begin();
	drawn = works = true;
	refresh(1);
	is_set_back = true;
	works = false;
	refresh(0);
	tap_ok(shown == 0 && refused == 1 && last_released == 1,
			"what a machine sent that was set back is refused");
	is_set_back = false;
	refresh(1);
	tap_ok(shown == 1 && last_shown == 2, "what it sends later is shown");
	tap_ok(end(), "and all is given back");
}

/* Drawn, and then not: a fence that goes back. */
static void test_back(void) {
	begin();
	for (unsigned i = 0; i < 100; i++) {
		drawn = i % 5 == 0;
		refresh(2);
	}
	tap_ok(shown >= 19 && last_shown <= next_sequence,
			"a fence that goes back costs pictures only");
	tap_ok(end(), "and all is given back");
}

/* It is hidden, or over, before its last picture can be looked at. */
static void test_hidden(uint32_t flags, const char *what) {
	begin();
	refresh(1);
	mark = flags;
	refresh(0);
	drawn = true;
	refresh(0);
	tap_ok(shown == 0 && last_released == 1, "%s: what is drawn later is not shown", what);
	refresh(1);
	tap_ok(shown == 1 && last_shown == 2, "%s: what comes later is", what);
	tap_ok(end(), "and all is given back");
	begin();
	imports_later = drawn = true;
	refresh(1);
	mark = flags;
	refresh(0);
	tap_ok(imported == NULL && last_released == 1, "%s: nor is it waited for its memory", what);
	tap_ok(end(), "and all is given back");
}

/* As many entries as a ring of libgid has, of which the last one has the picture. No doorbell
 * rings: it does only for who found nothing more. */
static void test_full_ring(void) {
	begin();
	drawn = true;
	empties = GID_RING_ENTRIES_MIN - 1;
	queued = 1;
	unsigned ticks = 0, most = 0;
	while (next_sequence == 0 && ticks < 100) {
		taken = 0;
		now += 16 * MS;
		stream_reader_tick(&stream);
		most = taken > most ? taken : most;
		ticks++;
	}
	tap_ok(ticks <= STREAM_READER_TICKS, "a picture behind a full ring is taken in %u ticks",
			ticks);
	tap_ok(most <= STREAM_READER_ENTRIES, "each of them takes %u entries", most);
	turn();
	tap_ok(shown == 1, "and it is shown");
	tap_ok(end(), "and all is given back");
}

/* A worker that is busy is not waited for: the newest frame is, and those before it go back. */
static void test_dear(void) {
	begin();
	drawn = works = true;
	for (unsigned i = 0; i < 100; i++) {
		refresh(1);
	}
	unsigned out = (unsigned)(next_sequence - released);
	tap_ok(shown == 0 && out == 2, "of a dear stream two frames are held (%u)", out);
	works = false;
	refresh(0);
	tap_ok(shown == 1 && last_shown == 1, "what was examined is shown");
	refresh(0);
	tap_ok(shown == 2 && last_shown == 100, "the next one is the newest");
	tap_ok(end(), "and all is given back");
}

/* A picture whose memory may not be read is refused in its turn, not before one that is older. */
static void test_forbidden(void) {
	begin();
	drawn = works = true;
	refresh(1);
	is_forbidden = true;
	refresh(1);
	tap_ok(shown + refused == 0, "what came first is examined still");
	works = false;
	refresh(0);
	tap_ok(shown == 1 && last_shown == 1, "it is shown");
	refresh(0);
	tap_ok(refused == 1 && last_shown == 2, "then the one without memory is refused");
	tap_ok(end(), "and all is given back");
}

/* One that stands still, whose memory gidd does not know yet: it is refused once, and then shown.
 */
static void test_known_later(bool later) {
	begin();
	stream.config.asks_again = true;
	drawn = is_forbidden = true;
	refresh(1);
	refresh(0);
	tap_ok(refused == 1 && shown == 0 && released == 0, "a picture without memory is kept");
	imports_later = later;
	for (unsigned i = 0; i < 20; i++) {
		refresh(0);
		if (imported != NULL) {
			gid_imported_func done = imported;
			imported = NULL;
			done(&stream, gid_make(1, 1, 0, 0), -ENOENT, NULL);
		}
	}
	tap_ok(refused == 1 && released == 0, "and asked for without another word");
	imports_later = is_forbidden = false;
	for (unsigned i = 0; i < 8; i++) {
		refresh(0);
	}
	tap_ok(refused == 1 && shown == 1 && last_shown == 1, "it is shown when it is known");
	is_forbidden = true;
	refresh(1);
	refresh(0);
	is_forbidden = false;
	refresh(1);
	refresh(0);
	tap_ok(refused == 2 && shown == 2 && last_shown == 3, "a newer one takes its place");
	is_forbidden = true;
	refresh(1);
	refresh(0);
	mark = GID_FRAME_HIDDEN;
	refresh(0);
	tap_ok(stream.waits == STREAM_READER_IDLE && noted == 1, "and so does the end of all");
	tap_ok(end(), "and all is given back");
}

/* What is examined when the producer says that there is nothing to show, is not shown. */
static void test_examined_too_late(void) {
	begin();
	drawn = works = true;
	refresh(1);
	mark = GID_FRAME_EOS;
	refresh(0);
	works = false;
	refresh(0);
	tap_ok(noted == 1 && shown == 0 && released == 1,
			"a frame from before the end is not shown");
	refresh(1);
	tap_ok(shown == 1 && last_shown == 2, "one after it is");
	tap_ok(end(), "and all is given back");
	begin();
	drawn = works = true;
	refresh(1);
	tap_ok(end() && shown == 0 && lost == 1, "nor is one that is examined when all ends");
}

/* The domain is lost while a picture is examined, which may take long. */
static void test_lost_meanwhile(void) {
	begin();
	drawn = works = true;
	refresh(1);
	stream_reader_stop(&stream);
	tap_ok(works && stream_reader_reads(&stream), "the display waits for no worker");
	works = false;
	turn();
	tap_ok(!stream_reader_reads(&stream) && references == 0 && shown == 0,
			"its memory is let go of when it is done");
	end();
}

/* One that comes between two refreshes: the older one is nearer to being drawn. */
static void test_newer_while_undrawn(void) {
	begin();
	refresh(1);
	tap_ok(stream.waits == STREAM_READER_FENCED, "a picture that is being drawn waits");
	queued = 1;
	turn();
	tap_ok(stream.waits == STREAM_READER_FENCED && stream.undrawn == 1 && last_released == 2,
			"a newer one goes back");
	drawn = true;
	refresh(0);
	tap_ok(shown == 1 && last_shown == 1, "the older one is shown");
	tap_ok(end(), "and all is given back");
}

/* The worker finds that a device draws it still, when the memory of a newer one is asked for. */
static void test_undrawn_while_importing(void) {
	begin();
	works = true;
	refresh(1);
	imports_later = true;
	refresh(1);
	tap_ok(stream.waits == STREAM_READER_IMPORTING, "a newer one waits for its memory");
	works = false;
	turn();
	tap_ok(stream.waits == STREAM_READER_IMPORTING && stream.undrawn == 1 && last_released == 1,
			"what is not drawn goes back");
	drawn = true;
	references++;
	imported(&stream, gid_make(1, 1, 0, 0), 0, (struct gid_slab *)&references);
	refresh(0);
	tap_ok(shown == 1 && last_shown == 2, "the newer one is shown");
	tap_ok(end(), "and all is given back");
}

int main(void) {
	bell = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK); /* always rings */
	test_late();
	test_behind();
	test_never();
	test_lease();
	test_set_back();
	test_back();
	test_hidden(GID_FRAME_HIDDEN | GID_HIDDEN_EMPTY << GID_FRAME_HIDDEN_SHIFT, "hidden");
	test_hidden(GID_FRAME_EOS, "ended");
	test_full_ring();
	test_dear();
	test_forbidden();
	test_known_later(false);
	test_known_later(true);
	test_examined_too_late();
	test_lost_meanwhile();
	test_newer_while_undrawn();
	test_undrawn_while_importing();
	tap_ok(asked == 0, "the reader itself never asks a dma-buf, which others may have locked");
	close(bell);
	return tap_finish();
}
