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

#include "foreign_json.h"
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
	sd_json_variant *now;  /* the subscription in the later report */
	double fps;	       /* 0: the earlier one does not know of it */
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
				strcmp(report_text(other, "reader"),
						report_text(subscription, "reader")) == 0 &&
				strcmp(report_text(other, "stream"),
						report_text(subscription, "stream")) == 0) {
			return other;
		}
	}
	return NULL;
}

static struct flow measure(sd_json_variant *before, sd_json_variant *subscription, double seconds) {
	struct flow flow = {.now = subscription, .p50_us = NAN, .p99_us = NAN};
	sd_json_variant *then = report_field(find_same(before, subscription), "consumer_counts");
	sd_json_variant *now = report_field(subscription, "consumer_counts");
	if (!sd_json_variant_is_object(then)) {
		return flow; /* what it has counted by now may be of hours */
	}
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

/* The earlier report, if numbers mean the same in both: a gidd that comes back gives others. */
static sd_json_variant *comparable(sd_json_variant *before, sd_json_variant *after) {
	return report_number(before, "pid") == report_number(after, "pid") ? before : NULL;
}

/* --- shown ------------------------------------------------------------------------------------ */

static void add_time(struct table *table, double us) {
	if (isnan(us)) {
		table_add(table, STYLE_FAINT, "-");
	} else if (us < 1000) {
		table_add(table, STYLE_PLAIN, "%.0f us", us);
	} else {
		table_add(table, us < 50000 ? STYLE_PLAIN : STYLE_WARNING, "%.1f ms", us / 1000);
	}
}

static void add_count(struct table *table, sd_json_variant *counts, const char *key) {
	uint64_t count = report_number(counts, key);
	table_add(table, count == 0 ? STYLE_FAINT : STYLE_WARNING, "%llu",
			(unsigned long long)count);
}

/* Copies are made by the producer, and by a consumer that holds frames for long. */
static uint64_t copies_of(const struct flow *flow, const char *key) {
	return report_number(report_field(flow->now, "producer_counts"), key) +
			report_number(report_field(flow->now, "consumer_counts"), key);
}

/* All frames that it got. */
static uint64_t received_of(const struct flow *flow) {
	return report_number(report_field(flow->now, "consumer_counts"), "received");
}

/* Who reads it: of another domain its gidd knows, and ours the domain only. */
static const char *consumer_of(const struct flow *flow, char text[80]) {
	static const char link[] = "link to ";
	const char *consumer = report_text(flow->now, "consumer");
	if (strncmp(consumer, link, sizeof(link) - 1) != 0) {
		return consumer;
	}
	snprintf(text, 80, "a program in %s", consumer + sizeof(link) - 1);
	return text;
}

/* The format, the size, and how much flows: frames that came, of so many bytes. */
static void add_picture(struct table *table, const struct flow *flow) {
	sd_json_variant *picture = report_field(flow->now, "picture");
	if (picture == NULL) { /* no frame came, or its gidd does not know them */
		for (int i = 0; i < 3; i++) {
			table_add(table, STYLE_FAINT, "-");
		}
		return;
	}
	table_add(table, STYLE_PLAIN, "%s", report_text(picture, "format"));
	table_add(table, STYLE_PLAIN, "%llux%llu",
			(unsigned long long)report_number(picture, "width"),
			(unsigned long long)report_number(picture, "height"));
	table_add(table, flow->fps > 0 ? STYLE_PLAIN : STYLE_FAINT, "%.1f",
			flow->fps * (double)report_number(picture, "bytes") / 1e6);
}

static void add_flow(struct table *table, const struct flow *flow) {
	sd_json_variant *counts = report_field(flow->now, "producer_counts");
	const char *state = report_text(flow->now, "state");
	bool live = strcmp(state, "live") == 0;
	uint64_t copied = copies_of(flow, "copied_frames");
	char clock[24], consumer[80];
	table_add(table, STYLE_BOLD, "%s", report_text(flow->now, "stream"));
	table_add(table, STYLE_PLAIN, "%s", report_text(flow->now, "domain"));
	table_add(table, STYLE_PLAIN, "%s", report_text(flow->now, "reader"));
	table_add(table, flow->fps > 0 ? STYLE_PLAIN : STYLE_FAINT, "%.1f", flow->fps);
	add_time(table, flow->p50_us);
	add_time(table, flow->p99_us);
	table_add(table, STYLE_PLAIN, "%llu/%llu",
			(unsigned long long)report_number(counts, "held"),
			(unsigned long long)report_number(flow->now, "credit"));
	add_count(table, counts, "dropped");
	table_add(table, copied == 0 ? STYLE_FAINT : STYLE_WARNING, "%llu",
			(unsigned long long)copied);
	table_add(table, live ? STYLE_GOOD : STYLE_WARNING, "%s", state);
	add_picture(table, flow);
	table_add(table, STYLE_PLAIN, "%llu", (unsigned long long)received_of(flow));
	add_count(table, counts, "leases_expired");
	table_add(table, STYLE_FAINT, "%s", report_clock_error(flow->now, clock));
	table_add(table, STYLE_FAINT, "%s", consumer_of(flow, consumer));
}

/* Adds those of one side to an object with a number for each. */
static void add_reasons(sd_json_variant **all, sd_json_variant *flow, const char *side) {
	sd_json_variant *reasons = report_field(report_field(flow, side), "copy_reasons");
	if (reasons == NULL || !sd_json_variant_is_object(reasons)) {
		return;
	}
	/* As the keys and the values of an object lie: by turns. */
	for (size_t i = 0; i + 1 < sd_json_variant_elements(reasons); i += 2) {
		const char *name = foreign_json_line(sd_json_variant_by_index(reasons, i));
		sd_json_variant *count = sd_json_variant_by_index(reasons, i + 1);
		sd_json_variant_set_field_unsigned(all, name,
				report_number(*all, name) + sd_json_variant_unsigned(count));
	}
}

/* Why frames were copied, by both sides. To be unreferenced. */
static sd_json_variant *reasons_of(const struct flow *flow) {
	sd_json_variant *all = NULL;
	sd_json_variant_new_object(&all, NULL, 0);
	add_reasons(&all, flow->now, "producer_counts");
	add_reasons(&all, flow->now, "consumer_counts");
	return all;
}

/* A line of its own, so that the narrowest terminal has it. */
static void print_reasons(const struct flow *flow) {
	sd_json_variant *reasons = reasons_of(flow);
	const char *between = ": ";
	if (sd_json_variant_elements(reasons) > 0) {
		printf("%s copied for %s", report_text(flow->now, "stream"),
				report_text(flow->now, "reader"));
	}
	for (size_t i = 0; i + 1 < sd_json_variant_elements(reasons); i += 2) {
		printf("%s%s%s%s %llu", between, style_begin(STYLE_WARNING),
				sd_json_variant_string(sd_json_variant_by_index(reasons, i)),
				style_end(STYLE_WARNING),
				(unsigned long long)sd_json_variant_unsigned(
						sd_json_variant_by_index(reasons, i + 1)));
		between = ", ";
	}
	if (sd_json_variant_elements(reasons) > 0) {
		printf("\n");
	}
	sd_json_variant_unref(reasons);
}

static void print_flows(sd_json_variant *before, sd_json_variant *after, double seconds) {
	/* What says that something is wrong first: those on the right go below it where there is no
	 * room. */
	static const char *const headings[] = {"STREAM", "OF", "READER", ">FPS", ">P50", ">P99",
			">HELD", ">DROPPED", ">COPIED", "STATE", "FORMAT", ">SIZE", ">MB/S",
			">FRAMES", ">LEASES", ">CLOCK", "CONSUMER"};
	struct table *table = table_create(headings, sizeof(headings) / sizeof(headings[0]));
	sd_json_variant *subscription;
	if (table == NULL) {
		return;
	}
	REPORT_FOREACH(subscription, after, "subscriptions") {
		struct flow flow = measure(comparable(before, after), subscription, seconds);
		add_flow(table, &flow);
	}
	table_print(table);
	REPORT_FOREACH(subscription, after, "subscriptions") {
		const struct flow flow = {.now = subscription};
		print_reasons(&flow);
	}
	if (report_element(after, "subscriptions", 0) == NULL) {
		printf("%sno subscriptions%s\n", style_begin(STYLE_FAINT), style_end(STYLE_FAINT));
	}
	table_destroy(table);
}

static sd_json_variant *flow_json(const struct flow *flow) {
	static const char *const counts[] = {"held", "dropped", "leases_expired"};
	sd_json_variant *out = NULL, *producer = report_field(flow->now, "producer_counts");
	sd_json_variant *reasons = reasons_of(flow);
	sd_json_variant *picture = report_field(flow->now, "picture");
	bool timed = !isnan(flow->p50_us);
	char consumer[80];
	sd_json_buildo(&out, SD_JSON_BUILD_PAIR_STRING("stream", report_text(flow->now, "stream")),
			SD_JSON_BUILD_PAIR_STRING("domain", report_text(flow->now, "domain")),
			SD_JSON_BUILD_PAIR_STRING("reader", report_text(flow->now, "reader")),
			SD_JSON_BUILD_PAIR_STRING("state", report_text(flow->now, "state")),
			SD_JSON_BUILD_PAIR_STRING("consumer", consumer_of(flow, consumer)),
			SD_JSON_BUILD_PAIR_UNSIGNED(
					"copied_frames", copies_of(flow, "copied_frames")),
			SD_JSON_BUILD_PAIR_UNSIGNED(
					"copied_bytes", copies_of(flow, "copied_bytes")),
			SD_JSON_BUILD_PAIR_VARIANT("copy_reasons", reasons),
			SD_JSON_BUILD_PAIR_REAL("fps", flow->fps),
			SD_JSON_BUILD_PAIR_UNSIGNED("received", received_of(flow)),
			SD_JSON_BUILD_PAIR_CONDITION(
					picture != NULL, "picture", SD_JSON_BUILD_VARIANT(picture)),
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
	sd_json_variant_unref(reasons);
	return out;
}

static void dump(const struct sample *before, const struct sample *after) {
	sd_json_variant *all = NULL, *out = NULL, *subscription;
	double seconds = after->time - before->time;
	REPORT_FOREACH(subscription, after->report, "subscriptions") {
		struct flow flow = measure(
				comparable(before->report, after->report), subscription, seconds);
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

/* Which gidds are asked. */
struct asked {
	struct gid_domain *domains[GID_DOMAIN_MAX];
	size_t count;
	bool all; /* of this system */
};

static bool asked_init(struct asked *asked, const struct options *options) {
	char names[GID_DOMAIN_MAX][GID_NAME_MAX + 1];
	*asked = (struct asked){.all = options->all};
	size_t found = options->all ? report_find_domains(names, GID_DOMAIN_MAX) : 0;
	for (size_t i = 0; i < found; i++) {
		const struct options one = {.domain = names[i]};
		asked->domains[asked->count] = report_connect(&one);
		asked->count += asked->domains[asked->count] != NULL;
	}
	if (asked->count == 0) { /* or to hear why there is none */
		asked->domains[0] = report_connect(options);
		asked->count = asked->domains[0] != NULL;
	}
	return asked->count > 0;
}

static void asked_finish(struct asked *asked) {
	for (size_t i = 0; i < asked->count; i++) {
		gid_domain_destroy(asked->domains[i]);
	}
}

static bool is_asked(const struct asked *asked, const char *name) {
	for (size_t i = 0; i < asked->count; i++) {
		if (strcmp(gid_domain_name(asked->domains[i]), name) == 0) {
			return true;
		}
	}
	return false;
}

/* Two gidds know of a subscription between two domains: the reader's knows who reads. */
static sd_json_variant *own_subscriptions(
		const struct asked *asked, sd_json_variant *report, sd_json_variant *all) {
	sd_json_variant *subscription;
	const char *domain = report_text(report, "domain");
	REPORT_FOREACH(subscription, report, "subscriptions") {
		const char *reader = report_text(subscription, "reader");
		if (strcmp(reader, domain) == 0 || !is_asked(asked, reader)) {
			sd_json_variant_append_array(&all, subscription);
		}
	}
	return all;
}

/* One report of all that are asked; those that do not answer are left out. */
static int sample_take_all(struct sample *sample, const struct asked *asked) {
	sd_json_variant *all = NULL;
	int error = -ENOTCONN;
	sd_json_variant_new_array(&all, NULL, 0);
	for (size_t i = 0; i < asked->count; i++) {
		sd_json_variant *report;
		gid_domain_dispatch(asked->domains[i]);
		if (report_fetch(asked->domains[i], &report) < 0) {
			continue;
		}
		error = 0;
		all = own_subscriptions(asked, report, all);
		if (sample->display == NULL) {
			sample->display = display_fetch(report_text(report, "domain"));
		}
		sd_json_variant_unref(report);
	}
	sd_json_buildo(&sample->report, SD_JSON_BUILD_PAIR_STRING("domain", "*"),
			SD_JSON_BUILD_PAIR_VARIANT("subscriptions", all));
	sd_json_variant_unref(all);
	return error;
}

static int sample_take_one(struct sample *sample, struct gid_domain *domain) {
	/* Where gidd went away this brings it back. */
	gid_domain_dispatch(domain);
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

/* Returns 0, or -errno after a message, with nothing in the sample. */
static int sample_take(struct sample *sample, const struct asked *asked) {
	*sample = (struct sample){.time = now_seconds()};
	int error = asked->all ? sample_take_all(sample, asked)
			       : sample_take_one(sample, asked->domains[0]);
	if (error < 0) {
		fprintf(stderr, "gidctl: no report from gidd: %s\n", gid_strerror(error));
		sample_finish(sample);
	}
	return error;
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
		printf("%s %s%s%s, every %.1f s; q ends\n\n", options->all ? "Domains" : "Domain",
				style_begin(STYLE_BOLD), report_text(after->report, "domain"),
				style_end(STYLE_BOLD), options->interval);
	}
	print_flows(before->report, after->report, seconds);
	if (after->display != NULL) {
		display_print(before->display, after->display, seconds);
	}
	fflush(stdout);
}

int command_top(const struct options *options) {
	struct asked asked;
	if (!asked_init(&asked, options)) {
		return EXIT_FAILURE;
	}
	struct sigaction action = {.sa_handler = handle_signal};
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	bool live = style_is_terminal() && !options->once && !options->json;
	struct termios keys;
	bool keyboard = live && keyboard_init(&keys);
	struct sample before, after;
	int error = sample_take(&before, &asked);
	if (live) {
		fputs("\033[?25l", stdout); /* no cursor */
	}
	bool shown = false;
	while (!interrupted && ferror(stdout) == 0 && !(options->once && (shown || error < 0))) {
		pause_for(options->interval, keyboard);
		error = sample_take(&after, &asked);
		if (error < 0) {
			continue;
		}
		if (!interrupted && before.report != NULL) {
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
	asked_finish(&asked);
	return error < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
