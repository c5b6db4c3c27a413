// SPDX-License-Identifier: MIT
#include "cost.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PROCESSES_MAX 8
#define REST_NS 20000000
#define RESTS_MAX 25
#define IDLE_US 300.0 /* of a rest: what those take that do nothing */

static pid_t processes[PROCESSES_MAX]; /* the first one is this one */
static int process_count;

static double cpu_us_of(pid_t process) {
	clockid_t clock;
	struct timespec spent;
	if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &spent) < 0) {
		errx(1, "process %d is not there", (int)process);
	}
	return (double)spent.tv_sec * 1e6 + (double)spent.tv_nsec / 1e3;
}

static FILE *open_file(pid_t process, const char *name) {
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/%s", (int)process, name);
	FILE *file = fopen(path, "re");
	if (file == NULL) {
		err(1, "%s", path);
	}
	return file;
}

static double faults_of(pid_t process) {
	char text[1024];
	FILE *file = open_file(process, "stat");
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	/* The name may have anything in it. Then: state and six numbers. */
	const char *at = strrchr(text, ')');
	unsigned long faults = 0;
	if (at == NULL || sscanf(at, ") %*c %*d %*d %*d %*d %*d %*u %lu", &faults) != 1) {
		errx(1, "/proc/%d/stat is not what it was", (int)process);
	}
	return (double)faults;
}

static double tables_kb_of(pid_t process) {
	char line[256];
	unsigned long kb = 0;
	FILE *file = open_file(process, "status");
	while (fgets(line, sizeof(line), file) != NULL && sscanf(line, "VmPTE: %lu", &kb) != 1) {
	}
	fclose(file);
	return (double)kb;
}

void cost_watch(int count, char *pids[]) {
	processes[0] = getpid();
	process_count = 1;
	for (int i = 0; i < count && process_count < PROCESSES_MAX; i++) {
		processes[process_count++] = (pid_t)strtol(pids[i], NULL, 10);
	}
}

bool cost_is_watched(void) {
	return process_count > 1;
}

struct cost cost_now(void) {
	struct cost all = {0};
	for (int i = 0; i < process_count; i++) {
		all.cpu_us += cpu_us_of(processes[i]);
		all.faults += faults_of(processes[i]);
		all.tables_kb += tables_kb_of(processes[i]);
	}
	return all;
}

static double cpu_us(void) {
	double sum = 0;
	for (int i = 0; i < process_count; i++) {
		sum += cpu_us_of(processes[i]);
	}
	return sum;
}

struct cost cost_at_rest(void) {
	double before = cpu_us(), now = before;
	int rests = 0;
	do {
		before = now;
		nanosleep(&(struct timespec){0, REST_NS}, NULL);
		now = cpu_us();
	} while (now - before > IDLE_US && ++rests < RESTS_MAX);
	return cost_now();
}
