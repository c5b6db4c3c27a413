// SPDX-License-Identifier: MIT
/*
 * What the display sends of its panels' input, by real gidds: whatever happens to the display, to
 * its gidd or to the ring between its threads, nothing stays pressed, and it comes back.
 */
#include "cluster/input/input_outlet.h"

#include <input_receiver.h>
#include <linux/input-event-codes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <wlr/util/log.h>

#include "sealed.h"

#define COCKPIT_STREAMS "input/*"
#include "cockpit.h"
#include "tap.h"

#define PLACES 1024u /* of the ring */
#define ALL (INPUT_TOUCH | INPUT_POINTER | INPUT_KEYBOARD)

static const struct input_outlet_stream streams[] = {{"panel", ALL}, {"other", 0},
		{"a name that is too long for a stream, because of what stands before all of these",
				ALL}};
#define COUNT (sizeof(streams) / sizeof(streams[0]))

static struct input_outlet *outlet;
static struct gid_domain *reader_domain;
static struct input_receiver *receiver, *one_more;
static bool is_there, is_pressed;

static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static char logged[16384];

static void handle_log(enum wlr_log_importance importance, const char *format, va_list values) {
	pthread_mutex_lock(&log_lock);
	size_t used = strlen(logged);
	vsnprintf(logged + used, sizeof(logged) - used, format, values);
	used = strlen(logged);
	snprintf(logged + used, sizeof(logged) - used, "\n");
	pthread_mutex_unlock(&log_lock);
}

/* If so, what was said until now is forgotten. */
static bool was_logged(const char *words) {
	pthread_mutex_lock(&log_lock);
	bool found = strstr(logged, words) != NULL;
	if (found) {
		logged[0] = '\0';
	}
	pthread_mutex_unlock(&log_lock);
	return found;
}

/* --- its connection --------------------------------------------------------------------------- */

/* For once: as one that came back with another number, to which nothing comes any more. */
static atomic_bool is_broken;

int __real_gid_domain_dispatch(struct gid_domain *domain);
int __wrap_gid_domain_dispatch(struct gid_domain *domain);

int __wrap_gid_domain_dispatch(struct gid_domain *domain) {
	int ret = __real_gid_domain_dispatch(domain);
	return domain != reader_domain && atomic_exchange(&is_broken, false) ? -EPROTO : ret;
}

/* --- who reads it ----------------------------------------------------------------------------- */

static void hear_event(void *data, const struct input_record *event) {
	if (event->type == INPUT_KEY) {
		is_pressed = event->value != 0;
	}
}

static void hear_devices(void *data, uint32_t devices) {
	/* All, from the first frame on. */
}

static void hear_woken(void *data) {
	/* It is looked for all the time. */
}

static void hear_sender(void *data, bool there, const char *why) {
	is_there = there;
}

static const struct input_receiver_events events = {
		.sink = {.event = hear_event, .devices = hear_devices},
		.woken = hear_woken,
		.sender_changed = hear_sender,
};

static void look(void) {
	struct pollfd fds[] = {{gid_domain_get_fd(reader_domain), POLLIN, 0},
			{input_receiver_get_fd(receiver), POLLIN, 0}};
	poll(fds, 2, 5);
	gid_domain_dispatch(reader_domain);
	input_receiver_dispatch(receiver);
	if (one_more != NULL) {
		input_receiver_dispatch(one_more);
	}
}

static bool take(struct input_receiver **by) {
	return input_receiver_create(reader_domain, "open", "input/panel", &events, NULL, by) == 0;
}

/* `alive`: the display goes on meanwhile. */
static bool look_until(bool (*done)(void), bool alive) {
	for (long end = cockpit_now_ms() + COCKPIT_PATIENCE_MS; !done();) {
		if (cockpit_now_ms() > end) {
			return false;
		}
		if (alive) {
			input_outlet_alive(outlet);
		}
		look();
	}
	return true;
}

/* By both ends: the sender knows of its reader a bit later. */
static bool comes(void) {
	return is_there && input_outlet_get_stats(outlet, 0).readers == 1;
}

static bool pressed(void) {
	return is_pressed;
}

static bool released(void) {
	return !is_pressed;
}

/* --- who sends it ----------------------------------------------------------------------------- */

static void post(size_t stream, struct input_record event) {
	event.time = gid_clock_now();
	input_outlet_post(outlet, stream, &event);
}

static void end_group(void) {
	post(0, (struct input_record){.type = INPUT_GROUP_END});
}

static void press(void) {
	post(0, (struct input_record){.type = INPUT_KEY, .code = KEY_A, .value = 1});
	end_group();
}

static bool begin(const char *domain) {
	outlet = input_outlet_create(domain, streams, COUNT);
	return outlet != NULL;
}

static bool begin_and_press(void) {
	bool begun = begin("open") && look_until(comes, true);
	press();
	return begun && look_until(pressed, true);
}

static void end(void) {
	input_outlet_destroy(outlet);
	outlet = NULL;
}

/* --- tests ------------------------------------------------------------------------------------ */

static void test_streams(void) {
	tap_ok(begin_and_press(), "a key is pressed");
	post(1, (struct input_record){.type = INPUT_KEY, .code = KEY_A, .value = 1});
	post(2, (struct input_record){.type = INPUT_KEY, .code = KEY_A, .value = 1});
	post(COUNT, (struct input_record){.type = INPUT_KEY, .code = KEY_A, .value = 1});
	tap_ok(input_outlet_get_stats(outlet, 0).events == 1 &&
					input_outlet_get_stats(outlet, 1).events == 0 &&
					input_outlet_get_stats(outlet, 2).events == 0,
			"what has no stream gets no event");
	input_outlet_release(outlet, 0);
	tap_ok(look_until(released, true), "what the router releases is released");
	press();
	tap_ok(look_until(pressed, true), "it is pressed again");
	end();
	tap_ok(look_until(released, false), "nothing stays pressed when the display ends");
}

static long held_until;

static bool has_been_held(void) {
	return cockpit_now_ms() > held_until;
}

static void test_display_that_stands_still(void) {
	tap_ok(begin_and_press(), "a key is pressed");
	held_until = cockpit_now_ms() + 3000;
	look_until(has_been_held, true);
	tap_ok(is_pressed, "it is held for as long as the display goes on");
	tap_ok(look_until(released, false), "and released when that stands still");
	tap_ok(was_logged("the display stands still: all that is pressed is released"),
			"which is told");
	held_until = cockpit_now_ms() + 500;
	look_until(has_been_held, false);
	input_outlet_release(outlet, 0);
	held_until = cockpit_now_ms() + 500;
	look_until(has_been_held, false);
	tap_ok(!was_logged("the display stands still"), "once, as nothing is pressed any more");
	press();
	tap_ok(look_until(pressed, true), "it can be pressed again");
	end();
	tap_ok(look_until(released, false), "the end");
}

static unsigned expected;

static bool has_as_many_readers(void) {
	return input_outlet_get_stats(outlet, 0).readers == expected;
}

static bool have_readers(unsigned count) {
	expected = count;
	return look_until(has_as_many_readers, true);
}

static void test_readers(void) {
	tap_ok(begin("open") && look_until(comes, true) &&
					was_logged("stream input/panel is taken\n"),
			"it is told that somebody reads it");
	tap_ok(take(&one_more) && have_readers(2) && !was_logged("is taken"),
			"but not that one more does");
	input_receiver_destroy(one_more);
	one_more = NULL;
	tap_ok(have_readers(1) && !was_logged("is taken"), "nor that this one goes");
	input_receiver_destroy(receiver);
	receiver = NULL;
	expected = 0;
	for (long late = cockpit_now_ms() + COCKPIT_PATIENCE_MS;
			!has_as_many_readers() && cockpit_now_ms() < late;) {
		gid_domain_dispatch(reader_domain);
		cockpit_sleep_ms(5);
	}
	tap_ok(was_logged("stream input/panel is taken by nobody now"), "but that nobody is left");
	is_there = false;
	tap_ok(take(&receiver) && look_until(comes, true) && was_logged("input/panel is taken\n"),
			"and that somebody is there again");
	end();
}

static bool was_left_out(void) {
	for (unsigned i = 0; i <= PLACES; i++) {
		post(0, (struct input_record){.type = INPUT_MOTION, .x = (int32_t)i % INPUT_FULL});
	}
	end_group();
	return input_outlet_get_stats(outlet, 0).left_out > 0;
}

static void test_more_than_there_is_room_for(void) {
	tap_ok(begin_and_press(), "a key is pressed");
	tap_ok(look_until(was_left_out, true), "more comes at once than the ring has room for");
	tap_ok(look_until(released, true), "then nothing is held");
	press();
	tap_ok(look_until(pressed, true), "and what comes later is sent");
	end();
	tap_ok(look_until(released, false), "the end");
}

/* No event passes through it. */
static void test_gidd_that_goes_away(void) {
	tap_ok(begin_and_press(), "a key is pressed");
	cockpit_kill(1);
	input_outlet_release(outlet, 0);
	tap_ok(look_until(released, true), "it is released without a gidd");
	tap_ok(cockpit_start(1) && look_until(comes, true), "another gidd comes");
	press();
	tap_ok(look_until(pressed, true), "and a key is pressed");
	end();
	tap_ok(look_until(released, false), "the end");
}

static bool has_no_input(void) {
	return was_logged("no input: ");
}

static void test_connection_that_is_over(void) {
	tap_ok(begin_and_press(), "a key is pressed");
	is_broken = true;
	tap_ok(look_until(released, true), "it is released when the connection is over");
	tap_ok(look_until(has_no_input, true), "which is told");
	tap_ok(look_until(comes, true), "and there is another one");
	press();
	tap_ok(look_until(pressed, true), "by which a key is pressed");
	end();
	tap_ok(look_until(released, false), "the end");
}

static void test_gidd_that_is_not_there(void) {
	cockpit_kill(1);
	setenv("GID_DOMAIN", "open", 1);
	tap_ok(begin(NULL) && look_until(has_no_input, true), "it says that there is no gidd");
	held_until = cockpit_now_ms() + 2500;
	look_until(has_been_held, true);
	tap_ok(!has_no_input(), "once, as often as it looks for one");
	end();
	sealed_set(true);
	tap_ok(begin("open") && cockpit_start(1), "a gidd comes while the domain is sealed");
	held_until = cockpit_now_ms() + 1500;
	look_until(has_been_held, true);
	tap_ok(!is_there && !was_logged("no input: "), "then nothing new is begun");
	sealed_set(false);
	tap_ok(look_until(comes, true), "and it is when that is over");
	end();
	unsetenv("GID_DOMAIN");
}

static bool was_taken(void) {
	return was_logged("stream input/panel: another program of this domain sends it");
}

static void test_another_one_sends_it(void) {
	tap_ok(begin("open") && look_until(comes, true), "one sends it");
	struct input_outlet *first = outlet;
	tap_ok(begin("open") && look_until(was_taken, true), "another one is told that it cannot");
	struct input_outlet *second = outlet;
	outlet = first;
	end();
	outlet = second;
	tap_ok(look_until(comes, true), "and sends it once the first has ended");
	end();
}

int main(void) {
	wlr_log_init(WLR_INFO, handle_log);
	if (!tap_ok(cockpit_init(), "two domains")) {
		return tap_finish();
	}
	tap_ok(gid_domain_connect("cluster", &reader_domain) == 0 && take(&receiver),
			"somebody takes the input");
	test_streams();
	test_readers();
	test_display_that_stands_still();
	test_more_than_there_is_room_for();
	test_gidd_that_goes_away();
	test_connection_that_is_over();
	test_gidd_that_is_not_there();
	test_another_one_sends_it();
	input_outlet_destroy(NULL);
	input_receiver_destroy(receiver);
	gid_domain_destroy(reader_domain);
	cockpit_finish();
	return tap_finish();
}
