// SPDX-License-Identifier: MIT
/*
 * Who else may run on a program's processors. Which those are is the test's choice: of the
 * programs of this machine only its own children may run on processor 1.
 */
#include "cores.h"

#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"

static pid_t child;
static int child_class, child_priority;
static bool of_two;

int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set) {
	CPU_ZERO_S(size, set);
	if (pid == getpid() || (child != 0 && pid == child)) {
		CPU_SET_S(1, size, set);
		if (of_two) {
			CPU_SET_S(2, size, set);
			CPU_SET_S(7, size, set);
		}
	} else {
		CPU_SET_S(0, size, set);
	}
	return 0;
}

int sched_getscheduler(pid_t pid) {
	return child != 0 && pid == child ? child_class : SCHED_OTHER;
}

int sched_getparam(pid_t pid, struct sched_param *param) {
	param->sched_priority = child != 0 && pid == child ? child_priority : 0;
	return 0;
}

static void begin_child(const char *name) {
	child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_NAME, name);
		pause();
		_exit(0);
	}
}

/* Until the child has its name. */
static struct cores look(int priority, const char *name) {
	struct cores cores;
	do {
		if (cores_scan(getpid(), priority, &cores) < 0) {
			abort();
		}
	} while (name != NULL && strcmp(cores.programs.names, name) != 0);
	return cores;
}

static bool says(const struct cores *cores, const char *wanted) {
	char text[320];
	cores_describe(cores, text, sizeof(text));
	return strcmp(text, wanted) == 0;
}

int main(void) {
	struct cores cores = look(0, NULL);
	tap_ok(cores.number == 1 && cores.programs.count == 0 &&
					says(&cores, "processor 1, which no other program may use"),
			"a processor of its own");
	begin_child("a),(b 2");
	cores = look(0, "a)_(b_2");
	tap_ok(says(&cores, "processor 1, which 1 other program may use: a)_(b_2"),
			"one that may run there is named, whatever its name is");
	child_class = SCHED_FIFO | SCHED_RESET_ON_FORK;
	child_priority = 20;
	cores = look(10, NULL);
	tap_ok(says(&cores,
			       "processor 1, which 1 other program may use: a)_(b_2; "
			       "1 thread goes before the display: a)_(b_2"),
			"and that it goes before the display");
	cores = look(20, NULL);
	tap_ok(cores.before.count == 0, "one of the same priority has its turn after it");
	child_class = SCHED_DEADLINE;
	cores = look(20, NULL);
	tap_ok(cores.before.count == 1, "who has deadlines goes before all others");
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	child = 0;
	of_two = true;
	cores = look(0, NULL);
	tap_ok(cores.number == 3 &&
					says(&cores,
							"processors 1-2,7, which no other program may "
							"use"),
			"several processors");
	return tap_finish();
}
