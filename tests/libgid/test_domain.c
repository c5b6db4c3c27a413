// SPDX-License-Identifier: MIT
/* Connecting to a real gidd: where it is, what is said when it is not, and when it comes back. */
#include <errno.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>

#include "cockpit.h"
#include "socket.h"
#include "tap.h"
#include "wire.h"

static void expect_refusal(const char *name, int expected, const char *part) {
	struct gid_domain *domain = NULL;
	int error = gid_domain_connect(name, &domain);
	tap_ok(error == expected && strstr(gid_domain_connect_error(), part) != NULL,
			"connecting to %s gives %d and says \"%s\" (%d: %s)",
			name == NULL ? "any" : name, expected, part, error,
			gid_domain_connect_error());
	if (error == 0) {
		gid_domain_destroy(domain);
	}
}

static void test_nobody(void) {
	setenv("GID_RUNTIME_DIR", "/nowhere", 1);
	expect_refusal("open", -ENOENT,
			"`gid-cockpit --config FILE up`, or `gidd --config FILE --domain open`");
	expect_refusal(NULL, -ENOENT, "no domain runs here");
	expect_refusal("/nowhere/x/gidd.sock", -ENOENT, "no gidd for domain 'x' at /nowhere/x/");
	expect_refusal("two words", -EINVAL, "is not a domain's name");
	setenv("GID_DOMAIN", "hud", 1);
	expect_refusal(NULL, -ENOENT, "--domain hud");
	unsetenv("GID_DOMAIN");
}

static void test_names(void) {
	struct gid_domain *domain;
	char path[128];
	snprintf(path, sizeof(path), "%s/cluster/gidd.sock", cockpit_folder);
	const struct {
		const char *name, *variable;
		uint32_t number;
	} ways[] = {{"open", NULL, 1}, {"cluster", "open", 2}, {NULL, "open", 1}, {path, NULL, 2}};
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		if (ways[i].variable != NULL) {
			setenv("GID_DOMAIN", ways[i].variable, 1);
		}
		int error = gid_domain_connect(ways[i].name, &domain);
		unsetenv("GID_DOMAIN");
		if (!tap_ok(error == 0, "way %zu to a domain connects: %s", i,
				    gid_domain_connect_error())) {
			continue;
		}
		tap_ok(gid_domain_number(domain) == ways[i].number &&
						strcmp(gid_domain_name(domain),
								cockpit_names[ways[i].number]) ==
								0 &&
						gid_domain_is_connected(domain),
				"it is %s", gid_domain_name(domain));
		gid_domain_destroy(domain);
	}
	expect_refusal(NULL, -EINVAL, "2 domains run here");
	cockpit_kill(2);
	expect_refusal("cluster", -ECONNREFUSED, "--domain cluster");
	snprintf(path, sizeof(path), "%s/cluster/gidd.sock", cockpit_folder);
	unlink(path);
	int error = gid_domain_connect(NULL, &domain);
	tap_ok(error == 0 && gid_domain_number(domain) == 1, "the only domain needs no name");
	gid_domain_destroy(error == 0 ? domain : NULL);
	cockpit_start(2);
}

static void test_status(void) {
	struct gid_domain *domain;
	char *json = NULL;
	gid_domain_connect("open", &domain);
	tap_ok(gid_domain_status(domain, &json) == 0 && json[0] == '{' &&
					strstr(json, "open") != NULL,
			"gidd tells its status as JSON");
	free(json);
	gid_domain_destroy(domain);
}

static bool is_connected(void *data) {
	return gid_domain_is_connected(data);
}

static bool is_away(void *data) {
	return !gid_domain_is_connected(data);
}

static void test_restart(void) {
	struct gid_domain *domain;
	char *json = NULL;
	gid_domain_connect("open", &domain);
	int fd = gid_domain_get_fd(domain);
	cockpit_kill(1);
	tap_ok(cockpit_until(domain, is_away, domain), "the death of gidd is seen");
	int error = gid_domain_status(domain, &json);
	tap_ok(error == -ENOTCONN && strstr(gid_domain_error(domain), "is away") != NULL,
			"asking it says so: %s", gid_domain_error(domain));
	tap_ok(gid_domain_dispatch(domain) >= 0, "this is not the end");
	cockpit_sleep_ms(400);
	gid_domain_dispatch(domain);
	cockpit_start(1);
	long begin = cockpit_now_ms();
	bool back = cockpit_until(domain, is_connected, domain);
	tap_ok(back, "its return is seen (%ld ms)", cockpit_now_ms() - begin);
	tap_ok(gid_domain_get_fd(domain) == fd, "the descriptor is the same");
	tap_ok(gid_domain_status(domain, &json) == 0, "it answers again");
	free(json);

	/* Killed while nobody dispatches: found out by asking. */
	cockpit_kill(1);
	tap_ok(gid_domain_status(domain, &json) == -ENOTCONN, "a death is found out by asking");
	cockpit_start(1);
	tap_ok(cockpit_until(domain, is_connected, domain), "and its return again");
	gid_domain_destroy(domain);
}

static void test_hang(void) {
	struct gid_domain *domain, *other;
	char *json = NULL;
	unsetenv("GID_ANSWER_SECONDS");
	gid_domain_connect("open", &domain);
	kill(cockpit_gidd[1], SIGSTOP);
	long begin = cockpit_now_ms();
	int error = gid_domain_status(domain, &json);
	long waited = cockpit_now_ms() - begin;
	tap_ok(error == -ETIMEDOUT && waited >= 1900,
			"a stopped gidd is given up after 2 s (%ld ms)", waited);
	begin = cockpit_now_ms();
	error = gid_domain_connect("open", &other);
	tap_ok(error == -ETIMEDOUT && strstr(gid_domain_connect_error(), "does not answer") != NULL,
			"connecting to it as well: %s", gid_domain_connect_error());
	setenv("GID_ANSWER_SECONDS", "3", 1);
	begin = cockpit_now_ms();
	error = gid_domain_connect("open", &other);
	waited = cockpit_now_ms() - begin;
	unsetenv("GID_ANSWER_SECONDS");
	tap_ok(error == -ETIMEDOUT && waited >= 2900, "or after what is configured (%ld ms)",
			waited);
	int long_ones = 0; /* a busy machine may pause in one */
	for (int i = 0; i < 300 && long_ones < 30; i++) {
		begin = cockpit_now_ms();
		gid_domain_dispatch(domain);
		long_ones += cockpit_now_ms() - begin > 1000;
		cockpit_sleep_ms(10);
	}
	tap_ok(long_ones < 30, "dispatch does not wait for it (but %d times of 300)", long_ones);
	kill(cockpit_gidd[1], SIGCONT);
	tap_ok(cockpit_until(domain, is_connected, domain), "when it goes on it is found");
	tap_ok(gid_domain_status(domain, &json) == 0, "and answers");
	free(json);
	gid_domain_destroy(domain);
}

/* A gidd that takes one connection, says `size` bytes, and ends it. */
struct rude {
	int listener;
	const void *says;
	size_t size;
};

static void *run_rude(void *data) {
	const struct rude *rude = data;
	char hello[4096];
	int peer = accept(rude->listener, NULL, NULL);
	(void)!read(peer, hello, sizeof(hello));
	if (rude->size > 0) {
		(void)!write(peer, rude->says, rude->size);
	}
	close(peer);
	return NULL;
}

/* A connection that ends before the welcome is none, whatever ended it. */
static void test_no_welcome(void) {
	union gid_wire_message refusal, early;
	gid_wire_begin(&refusal, GID_WIRE_RESULT, 1);
	refusal.result.error = -EUSERS;
	snprintf(refusal.result.text, sizeof(refusal.result.text), "there are too many");
	gid_wire_begin(&early, GID_WIRE_CLOCK, 0);
	early.clock.domain = 2;
	const struct {
		const void *says;
		size_t size;
		int error;
		const char *part;
	} ends[] = {
			{NULL, 0, -ENOTCONN, "the connection ended"},
			{refusal.bytes, refusal.header.size, -EUSERS, "there are too many"},
			{early.bytes, early.header.size, -EPROTO, "before WELCOME"},
			{"short", 5, -EPROTO, "no connection to gidd"},
	};
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/rude.sock", cockpit_folder);
	struct rude rude = {socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), NULL, 0};
	tap_ok(bind(rude.listener, (struct sockaddr *)&address, sizeof(address)) == 0 &&
					listen(rude.listener, 4) == 0,
			"a rude gidd listens");
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		rude.says = ends[i].says;
		rude.size = ends[i].size;
		pthread_t thread;
		pthread_create(&thread, NULL, run_rude, &rude);
		expect_refusal(address.sun_path, ends[i].error, ends[i].part);
		pthread_join(thread, NULL);
	}
	close(rude.listener);
	unlink(address.sun_path);
}

/* Other words than the answer, without a pause: up to so many after it had to be there. */
#define LATE_MAX 1000u

static uint64_t due; /* 0: nothing comes but what gidd says */
static unsigned late;

ssize_t __real_gid_socket_receive(int fd, void *data, size_t size,
		int fds[static GID_SOCKET_FDS_MAX], uint32_t *fd_count);
ssize_t __wrap_gid_socket_receive(int fd, void *data, size_t size,
		int fds[static GID_SOCKET_FDS_MAX], uint32_t *fd_count);

ssize_t __wrap_gid_socket_receive(int fd, void *data, size_t size,
		int fds[static GID_SOCKET_FDS_MAX], uint32_t *fd_count) {
	if (due == 0 || late == LATE_MAX) {
		return __real_gid_socket_receive(fd, data, size, fds, fd_count);
	}
	cockpit_sleep_ms(1);
	late += gid_clock_now() > due;
	union gid_wire_message words;
	gid_wire_begin(&words, GID_WIRE_REVOKED, 0);
	words.revoked.gid = gid_make(1, 2, 3, 4);
	memcpy(data, &words, words.header.size);
	for (uint32_t i = 0; i < GID_SOCKET_FDS_MAX; i++) {
		fds[i] = -1;
	}
	*fd_count = 0;
	return (ssize_t)words.header.size;
}

static void test_other_words(void) {
	struct gid_domain *domain = NULL;
	char *json = NULL;
	setenv("GID_ANSWER_SECONDS", "1", 1);
	tap_ok(gid_domain_connect("open", &domain) == 0, "a gidd that is to answer in a second");
	unsetenv("GID_ANSWER_SECONDS");
	due = gid_clock_now() + 1000000000;
	int error = gid_domain_status(domain, &json);
	due = 0;
	tap_ok(error == -ETIMEDOUT, "it is given up then, whatever else it says (%d)", error);
	gid_domain_destroy(domain);
	free(json);
}

static void test_leaks(void) {
	struct gid_domain *domain;
	int fds = cockpit_count_settled("/proc/self/fd"), failed = 0;
	for (int i = 0; i < 200; i++) {
		failed += gid_domain_connect("open", &domain) != 0;
		gid_domain_destroy(failed == 0 ? domain : NULL);
		failed += gid_domain_connect("nobody", &domain) != -ENOENT;
	}
	tap_ok(failed == 0, "200 connections come and go, and 200 find nobody (%d)", failed);
	int left = cockpit_count_settled("/proc/self/fd");
	tap_ok(left == fds, "they leave no descriptor behind: %d, then %d", fds, left);
	gid_domain_destroy(NULL);
}

int main(void) {
	test_nobody();
	if (tap_ok(cockpit_init(), "two domains run")) {
		test_names();
		test_status();
		test_restart();
		test_hang();
		test_no_welcome();
		test_other_words();
		test_leaks();
	}
	cockpit_finish();
	return tap_finish();
}
