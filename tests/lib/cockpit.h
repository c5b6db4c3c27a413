// SPDX-License-Identifier: MIT
/**
 * Two domains for a test: `open` (1) and `cluster` (2), which may read what open grants it, each
 * with a real gidd, in a temporary runtime folder that $GID_RUNTIME_DIR names.
 */
#ifndef GID_TESTS_COCKPIT_H
#define GID_TESTS_COCKPIT_H

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <gid/domain.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* What a test needs beyond that: streams of open, and further lines of the configuration. */
#ifndef COCKPIT_STREAMS
#define COCKPIT_STREAMS "movie camera/*"
#endif
#ifndef COCKPIT_MORE
#define COCKPIT_MORE ""
#endif

/* For what must happen, on however busy a machine. */
#define COCKPIT_PATIENCE_MS 180000

static char cockpit_folder[64];
static pid_t cockpit_gidd[3]; /* by the domain's number; 0: not running */
static const char *const cockpit_names[3] = {NULL, "open", "cluster"};

static inline void cockpit_sleep_ms(long ms) {
	nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

static inline long cockpit_now_ms(void) {
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Starts a domain's gidd and returns when it answers; its log goes to a file of the folder. */
static inline bool cockpit_start(int number) {
	const char *name = cockpit_names[number];
	char config[128], log[128];
	snprintf(config, sizeof(config), "%s/cockpit.conf", cockpit_folder);
	snprintf(log, sizeof(log), "%s/%s.log", cockpit_folder, name);
	cockpit_gidd[number] = fork();
	if (cockpit_gidd[number] == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		int fd = open(log, O_WRONLY | O_CREAT | O_APPEND, 0600);
		dup2(fd, STDOUT_FILENO);
		dup2(fd, STDERR_FILENO);
		execl(getenv("GIDD"), "gidd", "--config", config, "--domain", name, NULL);
		_exit(127);
	}
	for (int i = 0; i < COCKPIT_PATIENCE_MS / 10; i++) {
		struct gid_domain *domain;
		if (gid_domain_connect(name, &domain) == 0) {
			gid_domain_destroy(domain);
			return true;
		}
		cockpit_sleep_ms(10);
	}
	return false;
}

static inline void cockpit_kill(int number) {
	if (cockpit_gidd[number] > 0) {
		kill(cockpit_gidd[number], SIGKILL);
		waitpid(cockpit_gidd[number], NULL, 0);
		cockpit_gidd[number] = 0;
	}
}

static inline int cockpit_remove(
		const char *path, const struct stat *status, int type, struct FTW *where) {
	return remove(path);
}

static inline void cockpit_finish(void) {
	cockpit_kill(1);
	cockpit_kill(2);
	if (cockpit_folder[0] != '\0') {
		nftw(cockpit_folder, cockpit_remove, 16, FTW_DEPTH | FTW_PHYS);
		cockpit_folder[0] = '\0';
	}
}

/* Before that there is no stream of the other domain. */
static inline bool cockpit_wait_link(void) {
	struct gid_domain *domain;
	bool up = false;
	if (gid_domain_connect(cockpit_names[2], &domain) < 0) {
		return false;
	}
	for (long end = cockpit_now_ms() + COCKPIT_PATIENCE_MS; !up && cockpit_now_ms() < end;) {
		char *status = NULL;
		up = gid_domain_status(domain, &status) == 0 && strstr(status, "\"up\"") != NULL;
		free(status);
		cockpit_sleep_ms(up ? 0 : 5);
	}
	gid_domain_destroy(domain);
	return up;
}

static inline bool cockpit_init(void) {
	strcpy(cockpit_folder, "/tmp/gid-cockpit-XXXXXX");
	if (getenv("GIDD") == NULL || mkdtemp(cockpit_folder) == NULL) {
		cockpit_folder[0] = '\0';
		return false;
	}
	setenv("GID_RUNTIME_DIR", cockpit_folder, 1);
	setenv("GID_ANSWER_SECONDS", "30", 0); /* where gidd runs late, too */
	unsetenv("GID_DOMAIN");
	char path[128];
	snprintf(path, sizeof(path), "%s/cockpit.conf", cockpit_folder);
	FILE *config = fopen(path, "we");
	if (config == NULL) {
		return false;
	}
	fprintf(config,
			"[cockpit]\nruntime=%s\n"
			"[domain open]\nnumber=1\nmemory=64M\nslabs=256\nclient-slabs=200\n"
			"[domain cluster]\nnumber=2\n"
			"[share open cluster]\nstreams=" COCKPIT_STREAMS "\n" COCKPIT_MORE,
			cockpit_folder);
	fclose(config);
	return cockpit_start(1) && cockpit_start(2) && cockpit_wait_link();
}

/* Dispatches a domain until `done` holds; false: it took too long. */
static inline bool cockpit_until(struct gid_domain *domain, bool (*done)(void *data), void *data) {
	long end = cockpit_now_ms() + COCKPIT_PATIENCE_MS;
	while (!done(data)) {
		long left = end - cockpit_now_ms();
		struct pollfd fd = {gid_domain_get_fd(domain), POLLIN, 0};
		if (left <= 0) {
			return false;
		}
		poll(&fd, 1, (int)left);
		gid_domain_dispatch(domain);
	}
	return true;
}

/*
 * Returns when both gidds have passed on all that these clients of open and cluster had said, and
 * the clients have all that was said to them: gidds do one thing after the other, and so does their
 * link. Such an answer is kept for the next dispatch.
 */
static inline void cockpit_pass_on(
		struct gid_domain *open_client, struct gid_domain *cluster_client) {
	const gid_id nothing = gid_make(1, GID_SLAB_MAX, 0, 0);
	struct gid_slab *none;
	gid_slab_import(open_client, nothing, &none);
	gid_slab_import(cluster_client, nothing, &none);
	gid_slab_import(open_client, nothing, &none);
}

/* Entries of a folder of /proc/self, or mappings of shared memory in a file there. */
static inline int cockpit_count(const char *path) {
	int count = 0;
	DIR *folder = opendir(path);
	if (folder != NULL) {
		while (readdir(folder) != NULL) {
			count++;
		}
		closedir(folder);
		return count;
	}
	FILE *file = fopen(path, "re");
	char line[4096];
	while (fgets(line, sizeof(line), file) != NULL) {
		count += strstr(line, "/memfd:") != NULL;
	}
	fclose(file);
	return count;
}

/* Whether a thread beside this one computes, or waits for a processor to do so. */
static inline bool cockpit_others_run(void) {
	DIR *folder = opendir("/proc/self/task");
	bool found = false;
	for (struct dirent *entry; !found && (entry = readdir(folder)) != NULL;) {
		char path[sizeof("/proc/self/task/") + sizeof(entry->d_name) + sizeof("/stat")];
		char text[256] = "";
		snprintf(path, sizeof(path), "/proc/self/task/%s/stat", entry->d_name);
		bool is_other = entry->d_name[0] != '.' && atoi(entry->d_name) != gettid();
		FILE *file = is_other ? fopen(path, "re") : NULL;
		if (file != NULL) { /* it may have ended */
			text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
			fclose(file);
		}
		const char *name_end = strrchr(text, ')');
		found = name_end != NULL && (name_end[2] == 'R' || name_end[2] == 'D');
	}
	closedir(folder);
	return found;
}

/*
 * That number once it has not changed for 100 ms while no other thread ran: libgid's helpers close
 * descriptors a bit later, and on a busy machine much later.
 */
static inline int cockpit_count_settled(const char *path) {
	int count = cockpit_count(path);
	long end = cockpit_now_ms() + COCKPIT_PATIENCE_MS;
	for (int calm = 0; calm < 10 && cockpit_now_ms() < end; calm++) {
		cockpit_sleep_ms(10);
		int now = cockpit_count(path);
		calm = now == count && !cockpit_others_run() ? calm : -1;
		count = now;
	}
	return count;
}

#endif
