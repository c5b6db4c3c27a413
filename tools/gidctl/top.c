// SPDX-License-Identifier: MIT
/* gidctl top: what flows, how fast, how late, and what it cost; from two reports, a while apart. */
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "gidctl.h"
#include "gidctl_display.h"
#include "gidctl_table.h"

#define BUCKETS 24

/* What gidd, and the domain's display where it has one, said at a time. */
struct sample {
	sd_json_variant *report;
	sd_json_variant *display; /* NULL: none */
	double time;
};

/* What happened to one subscription between two reports. */
struct flow {
	sd_json_variant *now; /* the subscription in the later report */
	double fps;
	double p50_us, p99_us; /* NAN: no frames */
};

static double now_seconds(void) {
	return (double)gid_clock_now() / 1e9;
}

/* --- figures ---------------------------------------------------------------------------------- */

/* Counters are written by programs that may write anything, and begin anew with them. */
static uint64_t difference(uint64_t before, uint64_t after) {
	return after >= before ? after - before : 0;
}

/* Bucket n counts what is less than 2^n us; within a bucket all values are taken as equally likely.
 */
static double quantile(const uint64_t buckets[BUCKETS], double share) {
	double total = 0, below = 0;
	for (int i = 0; i < BUCKETS; i++) {
		total += (double)buckets[i];
	}
	for (int i = 0; i < BUCKETS && total > 0; i++) {
		double count = (double)buckets[i];
		if (count > 0 && below + count >= share * total) {
			double low = i == 0 ? 0 : ldexp(1, i - 1), high = ldexp(1, i);
			return low + (high - low) * (share * total - below) / count;
		}
		below += count;
	}
	return NAN;
}

static sd_json_variant *find_same(sd_json_variant *report, sd_json_variant *subscription) {
	sd_json_variant *other;
	REPORT_FOREACH(other, report, "subscriptions") {
		if (report_number(other, "number") == report_number(subscription, "number") &&
				strcmp(report_text(other, "stream"),
						report_text(subscription, "stream")) == 0) {
			return other;
		}
	}
	return NULL;
}

static struct flow measure(sd_json_variant *before, sd_json_variant *subscription, double seconds) {
	struct flow flow = {.now = subscription};
	sd_json_variant *then = report_field(find_same(before, subscription), "consumer_counts");
	sd_json_variant *now = report_field(subscription, "consumer_counts");
	uint64_t buckets[BUCKETS];
	for (size_t i = 0; i < BUCKETS; i++) {
		sd_json_variant *a = report_element(then, "latency_buckets", i);
		sd_json_variant *b = report_element(now, "latency_buckets", i);
		buckets[i] = difference(a == NULL ? 0 : sd_json_variant_unsigned(a),
				b == NULL ? 0 : sd_json_variant_unsigned(b));
	}
	uint64_t frames =
			difference(report_number(then, "received"), report_number(now, "received"));
	flow.fps = seconds > 0 ? (double)frames / seconds : 0;
	flow.p50_us = quantile(buckets, 0.5);
	flow.p99_us = quantile(buckets, 0.99);
	return flow;
}

/* --- shown ------------------------------------------------------------------------------------ */

static void add_time(struct table *table, double us) {
	if (isnan(us)) {
		table_add(table, LOOK_FAINT, "-");
	} else if (us < 1000) {
		table_add(table, LOOK_PLAIN, "%.0f us", us);
	} else {
		table_add(table, us < 50000 ? LOOK_PLAIN : LOOK_WARNING, "%.1f ms", us / 1000);
	}
}

static void add_count(struct table *table, sd_json_variant *counts, const char *key) {
	uint64_t count = report_number(counts, key);
	table_add(table, count == 0 ? LOOK_FAINT : LOOK_WARNING, "%llu", (unsigned long long)count);
}

static void add_flow(struct table *table, const struct flow *flow) {
	sd_json_variant *counts = report_field(flow->now, "producer_counts");
	const char *state = report_text(flow->now, "state");
	bool live = strcmp(state, "live") == 0;
	char clock[24];
	table_add(table, LOOK_BOLD, "%s", report_text(flow->now, "stream"));
	table_add(table, LOOK_PLAIN, "%s", report_text(flow->now, "domain"));
	table_add(table, LOOK_PLAIN, "%s", report_text(flow->now, "reader"));
	table_add(table, live ? LOOK_GOOD : LOOK_WARNING, "%s", state);
	table_add(table, flow->fps > 0 ? LOOK_PLAIN : LOOK_FAINT, "%.1f", flow->fps);
	add_time(table, flow->p50_us);
	add_time(table, flow->p99_us);
	table_add(table, LOOK_FAINT, "%s", report_clock_error(flow->now, clock));
	table_add(table, LOOK_PLAIN, "%llu/%llu", (unsigned long long)report_number(counts, "held"),
			(unsigned long long)report_number(flow->now, "credit"));
	add_count(table, counts, "dropped");
	add_count(table, counts, "copied_frames");
	add_count(table, counts, "leases_expired");
	table_add(table, LOOK_FAINT, "%s", report_text(flow->now, "consumer"));
}

static void print_flows(sd_json_variant *before, sd_json_variant *after, double seconds) {
	static const char *const headings[] = {"STREAM", "OF", "READER", "STATE", ">FRAMES/S",
			">P50", ">P99", ">CLOCK", ">HELD", ">DROPPED", ">COPIED", ">LEASES",
			"CONSUMER"};
	struct table *table = table_create(headings, 13);
	sd_json_variant *subscription;
	if (table == NULL) {
		return;
	}
	REPORT_FOREACH(subscription, after, "subscriptions") {
		struct flow flow = measure(before, subscription, seconds);
		add_flow(table, &flow);
	}
	table_print(table);
	if (report_element(after, "subscriptions", 0) == NULL) {
		printf("%sno subscriptions%s\n", look_begin(LOOK_FAINT), look_end(LOOK_FAINT));
	}
	table_destroy(table);
}

static sd_json_variant *flow_json(const struct flow *flow) {
	static const char *const counts[] = {
			"held", "dropped", "copied_frames", "copied_bytes", "leases_expired"};
	sd_json_variant *out = NULL, *producer = report_field(flow->now, "producer_counts");
	bool timed = !isnan(flow->p50_us);
	sd_json_buildo(&out, SD_JSON_BUILD_PAIR_STRING("stream", report_text(flow->now, "stream")),
			SD_JSON_BUILD_PAIR_STRING("domain", report_text(flow->now, "domain")),
			SD_JSON_BUILD_PAIR_STRING("reader", report_text(flow->now, "reader")),
			SD_JSON_BUILD_PAIR_STRING("state", report_text(flow->now, "state")),
			SD_JSON_BUILD_PAIR_REAL("fps", flow->fps),
			SD_JSON_BUILD_PAIR_CONDITION(timed, "latency_us",
					SD_JSON_BUILD_OBJECT(SD_JSON_BUILD_PAIR_REAL(
									     "p50", flow->p50_us),
							SD_JSON_BUILD_PAIR_REAL(
									"p99", flow->p99_us))),
			SD_JSON_BUILD_PAIR_UNSIGNED("clock_error_ns",
					report_number(flow->now, "clock_error_ns")),
			SD_JSON_BUILD_PAIR_UNSIGNED("credit", report_number(flow->now, "credit")));
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		sd_json_variant_set_field_unsigned(
				&out, counts[i], report_number(producer, counts[i]));
	}
	return out;
}

static void dump(const struct sample *before, const struct sample *after) {
	sd_json_variant *all = NULL, *out = NULL, *subscription;
	double seconds = after->time - before->time;
	REPORT_FOREACH(subscription, after->report, "subscriptions") {
		struct flow flow = measure(before->report, subscription, seconds);
		sd_json_variant *one = flow_json(&flow);
		sd_json_variant_append_array(&all, one);
		sd_json_variant_unref(one);
	}
	if (all == NULL) {
		sd_json_variant_new_array(&all, NULL, 0);
	}
	sd_json_buildo(&out,
			SD_JSON_BUILD_PAIR_STRING("domain", report_text(after->report, "domain")),
			SD_JSON_BUILD_PAIR_REAL("seconds", seconds),
			SD_JSON_BUILD_PAIR_VARIANT("subscriptions", all),
			SD_JSON_BUILD_PAIR_CONDITION(after->display != NULL, "display",
					SD_JSON_BUILD_VARIANT(after->display)));
	sd_json_variant_dump(out, SD_JSON_FORMAT_NEWLINE | SD_JSON_FORMAT_FLUSH, stdout, NULL);
	sd_json_variant_unref(out);
	sd_json_variant_unref(all);
}

/* --- the loop --------------------------------------------------------------------------------- */

static volatile sig_atomic_t interrupted;

static void handle_signal(int number) {
	interrupted = 1;
}

/* Keys come one by one, and are not echoed, from here to keyboard_finish(). */
static bool keyboard_init(struct termios *before) {
	if (tcgetattr(STDIN_FILENO, before) < 0) {
		return false;
	}
	struct termios now = *before;
	now.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	return tcsetattr(STDIN_FILENO, TCSANOW, &now) == 0;
}

static void keyboard_finish(const struct termios *before) {
	tcsetattr(STDIN_FILENO, TCSANOW, before);
}

/* Sleeps; a signal or, where there is a keyboard, "q" ends it and all. */
static void pause_for(double seconds, bool keyboard) {
	struct pollfd input = {.fd = keyboard ? STDIN_FILENO : -1, .events = POLLIN};
	double end = now_seconds() + seconds, left;
	while (!interrupted && (left = end - now_seconds()) > 0) {
		char key;
		if (poll(&input, 1, (int)ceil(left * 1000)) <= 0 || input.fd < 0) {
			continue;
		}
		if (read(STDIN_FILENO, &key, 1) <= 0) {
			input.fd = -1; /* the keyboard is gone */
		} else if (key == 'q') {
			interrupted = 1;
		}
	}
}

static int sample_take(struct sample *sample, struct gid_domain *domain) {
	*sample = (struct sample){.time = now_seconds()};
	int error = report_fetch(domain, &sample->report);
	if (error == 0) {
		sample->display = display_fetch(report_text(sample->report, "domain"));
	}
	return error;
}

static void sample_finish(struct sample *sample) {
	sd_json_variant_unref(sample->report);
	sd_json_variant_unref(sample->display);
	*sample = (struct sample){0};
}

static void show(const struct options *options, bool live, const struct sample *before,
		const struct sample *after) {
	double seconds = after->time - before->time;
	if (options->json) {
		dump(before, after);
		return;
	}
	if (live) {
		fputs("\033[H\033[J", stdout);
		printf("Domain %s%s%s, every %.1f s; q ends\n\n", look_begin(LOOK_BOLD),
				report_text(after->report, "domain"), look_end(LOOK_BOLD),
				options->interval);
	}
	print_flows(before->report, after->report, seconds);
	if (after->display != NULL) {
		display_print(before->display, after->display, seconds);
	}
	fflush(stdout);
}

int command_top(const struct options *options) {
	struct gid_domain *domain = report_connect(options);
	if (domain == NULL) {
		return EXIT_FAILURE;
	}
	struct sigaction action = {.sa_handler = handle_signal};
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	bool live = look_is_terminal() && !options->once && !options->json;
	struct termios keys;
	bool keyboard = live && keyboard_init(&keys);
	struct sample before, after;
	int error = sample_take(&before, domain);
	if (live) {
		fputs("\033[?25l", stdout); /* no cursor */
	}
	bool shown = false;
	while (!interrupted && !(options->once && (shown || error < 0))) {
		pause_for(options->interval, keyboard);
		/* Where gidd went away this brings it back. */
		gid_domain_dispatch(domain);
		error = sample_take(&after, domain);
		if (error < 0) {
			fprintf(stderr, "gidctl: no report from gidd: %s\n", gid_strerror(error));
			sample_finish(&after);
			continue;
		}
		if (!interrupted) {
			show(options, live, &before, &after);
			shown = true;
		}
		sample_finish(&before);
		before = after;
	}
	if (live) {
		fputs("\033[?25h", stdout);
	}
	if (keyboard) {
		keyboard_finish(&keys);
	}
	sample_finish(&before);
	gid_domain_destroy(domain);
	return error < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
