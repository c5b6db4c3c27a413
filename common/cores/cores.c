// SPDX-License-Identifier: MIT
#include "cores.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KERNEL_THREAD 0x00200000u /* of the flags in /proc/PID/stat: PF_KTHREAD of Linux */

struct scan {
	pid_t pid;
	int priority;
	cpu_set_t set;
	struct cores *cores;
};

/* --- lists as text ---------------------------------------------------------------------------- */

static void append(char *text, size_t size, const char *more) {
	size_t used = strlen(text);
	snprintf(text + used, size - used, "%s", more);
}

/* "2-3,7"; what does not fit is left out. */
static void list_cores(const cpu_set_t *set, char *list, size_t size) {
	list[0] = '\0';
	for (int first = 0; first < CPU_SETSIZE; first++) {
		int last = first;
		char range[32];
		if (!CPU_ISSET(first, set)) {
			continue;
		}
		while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, set)) {
			last++;
		}
		const char *comma = list[0] != '\0' ? "," : "";
		snprintf(range, sizeof(range), last > first ? "%s%d-%d" : "%s%d", comma, first,
				last);
		append(list, size, range);
		first = last;
	}
}

static bool has_name(const char *names, const char *name) {
	size_t length = strlen(name);
	for (const char *at = names; (at = strstr(at, name)) != NULL; at += length) {
		bool begins = at == names || at[-1] == ' ', ends = strchr(",", at[length]) != NULL;
		if (begins && ends) {
			return true;
		}
	}
	return false;
}

static void add_other(struct cores_others *others, const char *name) {
	others->count++;
	bool fits = strlen(others->names) + strlen(name) + 3 < sizeof(others->names);
	if (fits && !has_name(others->names, name)) {
		append(others->names, sizeof(others->names), others->names[0] != '\0' ? ", " : "");
		append(others->names, sizeof(others->names), name);
	}
}

/* --- one program ------------------------------------------------------------------------------ */

/*
 * Reads name and flags. A program chooses its name: characters that a terminal cannot show become
 * _.
 */
static bool read_stat(const char *path, char name[17], unsigned *flags) {
	char text[512];
	FILE *file = fopen(path, "re");
	size_t size = file != NULL ? fread(text, 1, sizeof(text) - 1, file) : 0;
	text[size] = '\0';
	if (file != NULL) {
		fclose(file);
	}
	char *begin = strchr(text, '('), *end = strrchr(text, ')');
	if (begin == NULL || end == NULL || end < begin ||
			sscanf(end, ") %*c %*d %*d %*d %*d %*d %u", flags) != 1) {
		return false;
	}
	*end = '\0';
	snprintf(name, 17, "%s", begin + 1);
	for (char *at = name; *at != '\0'; at++) {
		*at = isgraph((unsigned char)*at) && *at != ',' ? *at : '_';
	}
	return true;
}

static bool may_run_there(const struct scan *scan, pid_t thread) {
	cpu_set_t its, both;
	if (sched_getaffinity(thread, sizeof(its), &its) < 0) {
		return false;
	}
	CPU_AND(&both, &its, &scan->set);
	return CPU_COUNT(&both) > 0;
}

static bool goes_before(const struct scan *scan, pid_t thread) {
	struct sched_param param = {0};
	int class = sched_getscheduler(thread) & ~SCHED_RESET_ON_FORK;
	if (class != SCHED_FIFO && class != SCHED_RR) {
		return class == SCHED_DEADLINE;
	}
	return sched_getparam(thread, &param) == 0 && param.sched_priority > scan->priority;
}

static pid_t number_of(const struct dirent *entry) {
	return isdigit((unsigned char)entry->d_name[0]) ? (pid_t)atol(entry->d_name) : 0;
}

/*
 * Counts its threads that have a higher priority. Returns whether any of its threads may run there.
 */
static bool scan_threads(const struct scan *scan, pid_t pid, const char *name) {
	char path[48];
	struct dirent *entry;
	bool found = false;
	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	DIR *folder = opendir(path);
	while (folder != NULL && (entry = readdir(folder)) != NULL) {
		pid_t thread = number_of(entry);
		if (thread == 0 || !may_run_there(scan, thread)) {
			continue;
		}
		found = true;
		if (goes_before(scan, thread)) {
			add_other(&scan->cores->before, name);
		}
	}
	if (folder != NULL) {
		closedir(folder);
	}
	return found;
}

/* Of the kernel's threads only those of interrupts are reported: they can be moved elsewhere. */
static void scan_process(const struct scan *scan, pid_t pid) {
	char path[48], name[17];
	unsigned flags;
	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	if (pid == scan->pid || !read_stat(path, name, &flags)) {
		return;
	}
	if ((flags & KERNEL_THREAD) == 0) {
		if (scan_threads(scan, pid, name)) {
			add_other(&scan->cores->programs, name);
		}
	} else if (strncmp(name, "irq/", 4) == 0) {
		scan_threads(scan, pid, name);
	}
}

/* --- the scan --------------------------------------------------------------------------------- */

int cores_scan(pid_t pid, int priority, struct cores *cores) {
	struct scan scan = {.pid = pid, .priority = priority, .cores = cores};
	struct dirent *entry;
	*cores = (struct cores){0};
	if (sched_getaffinity(pid, sizeof(scan.set), &scan.set) < 0) {
		return -errno;
	}
	list_cores(&scan.set, cores->list, sizeof(cores->list));
	cores->number = (unsigned)CPU_COUNT(&scan.set);
	DIR *folder = opendir("/proc");
	if (folder == NULL) {
		return -errno;
	}
	while ((entry = readdir(folder)) != NULL) {
		pid_t other = number_of(entry);
		if (other != 0) {
			scan_process(&scan, other);
		}
	}
	closedir(folder);
	return 0;
}

void cores_describe(const struct cores *cores, char *text, size_t size) {
	const struct cores_others *programs = &cores->programs, *before = &cores->before;
	snprintf(text, size, "processor%s %s, which ", cores->number == 1 ? "" : "s", cores->list);
	size_t used = strlen(text);
	if (programs->count == 0) {
		snprintf(text + used, size - used, "no other program may use");
	} else {
		snprintf(text + used, size - used, "%u other program%s may use: %s",
				programs->count, programs->count == 1 ? "" : "s", programs->names);
	}
	used = strlen(text);
	if (before->count > 0) {
		snprintf(text + used, size - used, "; %u thread%s go%s before the display: %s",
				before->count, before->count == 1 ? "" : "s",
				before->count == 1 ? "es" : "", before->names);
	}
}
