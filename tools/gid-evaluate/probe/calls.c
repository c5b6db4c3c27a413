// SPDX-License-Identifier: MIT
/* What the system's own calls cost (5.14): in batches where one alone is too short for the clock.
 */
#include <err.h>
#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "probe.h"

#define SAMPLES 200
#define BATCH 2000u
#define ROUND_TRIPS 5000u
#define PERIOD_NS 1000000

#define MESSAGE_BYTES 16
#define QUEUED 8

static sem_t semaphore;
static mqd_t queue;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void wait_unavailable(void) {
	sem_trywait(&semaphore);
}

static void post_and_wait(void) {
	sem_post(&semaphore);
	sem_wait(&semaphore);
}

static void lock_and_unlock(void) {
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
}

/* Of each kind that UnixBench's "syscall" makes, one. */
static void call_the_system(void) {
	close(dup(STDERR_FILENO));
	syscall(SYS_getpid);
	syscall(SYS_getuid);
	umask(022);
}

static void send_to_queue(void) {
	static const char message[MESSAGE_BYTES];
	if (mq_send(queue, message, sizeof(message), 0) < 0) {
		err(1, "message queue");
	}
}

static void receive_from_queue(void) {
	char message[MESSAGE_BYTES];
	if (mq_receive(queue, message, sizeof(message), NULL) < 0) {
		err(1, "message queue");
	}
}

static void send_and_receive(void) {
	send_to_queue();
	receive_from_queue();
}

static void measure_batches(const char *name, void (*call)(void)) {
	struct figure figure;
	figure_init(&figure, "ns", SAMPLES);
	for (int sample = 0; sample < SAMPLES; sample++) {
		uint64_t begin = probe_now();
		for (uint32_t i = 0; i < BATCH; i++) {
			call();
		}
		figure_add(&figure, (double)(probe_now() - begin) / BATCH);
	}
	probe_print(name, &figure);
	figure_finish(&figure);
}

/* Kernels can be built without them, and a container may have none. */
static void measure_queue(void) {
	char name[64];
	struct mq_attr size = {.mq_maxmsg = QUEUED, .mq_msgsize = MESSAGE_BYTES};
	snprintf(name, sizeof(name), "/gid-probe-%d", (int)getpid());
	queue = mq_open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600, &size);
	if (queue == (mqd_t)-1) {
		warn("no message queues");
		return;
	}
	mq_unlink(name);
	measure_batches("message queue, 16 bytes sent and received", send_and_receive);
	mq_close(queue);
}

static void signal_fd(int fd) {
	if (eventfd_write(fd, 1) < 0) {
		err(1, "eventfd");
	}
}

static void await_fd(int fd) {
	eventfd_t value;
	if (eventfd_read(fd, &value) < 0) {
		err(1, "eventfd");
	}
}

/* From one process to another and back; on one core that is two switches and nothing else. */
static void measure_round_trip(const char *name, int core, int peer_core) {
	struct figure figure;
	int there = eventfd(0, 0), back = eventfd(0, 0);
	if (there < 0 || back < 0) {
		err(1, "eventfd");
	}
	pid_t child = fork();
	if (child < 0) {
		err(1, "fork");
	}
	if (child == 0) {
		probe_pin(peer_core);
		for (uint32_t i = 0; i < ROUND_TRIPS; i++) {
			await_fd(there);
			signal_fd(back);
		}
		_exit(0);
	}
	probe_pin(core);
	figure_init(&figure, "µs", ROUND_TRIPS);
	for (uint32_t i = 0; i < ROUND_TRIPS; i++) {
		uint64_t begin = probe_now();
		signal_fd(there);
		await_fd(back);
		figure_add(&figure, (double)(probe_now() - begin) / 1e3);
	}
	waitpid(child, NULL, 0);
	close(there);
	close(back);
	probe_print(name, &figure);
	figure_finish(&figure);
}

/* How late a sleeper is woken by its timer. */
static void measure_timer(void) {
	struct figure figure;
	figure_init(&figure, "µs", 1000);
	uint64_t due = probe_now();
	for (int i = 0; i < 1000; i++) {
		due += PERIOD_NS;
		struct timespec until = {(time_t)(due / 1000000000), (long)(due % 1000000000)};
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
		uint64_t now = probe_now();
		figure_add(&figure, (double)(now - due) / 1e3);
		due = now > due + PERIOD_NS ? now : due;
	}
	probe_print("timer, lateness", &figure);
	figure_finish(&figure);
}

int probe_calls(int argc, char **argv) {
	if (argc > 1) {
		errx(2, "calls: no argument is expected, not %s", argv[1]);
	}
	int first = probe_core(0), second = probe_core(1);
	sem_init(&semaphore, 0, 0);
	probe_pin(first);
	probe_begin();
	measure_batches("semaphore, not available", wait_unavailable);
	measure_batches("semaphore, release and obtain", post_and_wait);
	measure_batches("mutex, lock and unlock", lock_and_unlock);
	measure_batches("system calls, five", call_the_system);
	measure_queue();
	measure_round_trip("two switches on one core", first, first);
	measure_round_trip("wake-up of another core and back", first, second);
	measure_timer();
	probe_end();
	sem_destroy(&semaphore);
	return 0;
}
