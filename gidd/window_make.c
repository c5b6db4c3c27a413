// SPDX-License-Identifier: MIT
/* The hub makes the files that windows are; QEMU maps them into the guests. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log.h"
#include "window.h"

char *window_path(const struct gidd *gidd, const struct config_domain *domain) {
	char *path;
	return asprintf(&path, "%s/window/%s", gidd->runtime, domain->name) < 0 ? NULL : path;
}

static void put_header(struct gid_wire_window *header, const struct config_domain *domain) {
	*header = (struct gid_wire_window){
		.magic = GID_WINDOW_MAGIC,
		.version = GID_WINDOW_VERSION,
		.domain = domain->number,
		.size = domain->window,
	};
	(void)!getrandom(&header->cookie, sizeof(header->cookie), 0);
	snprintf(header->name, sizeof(header->name), "%s", domain->name);
}

/*
 * One that is there already goes on, for guests may have it mapped: if its size is right, its first
 * page can be written again, whatever its owner made of it.
 */
static int open_old(const char *path, const struct config_domain *domain) {
	struct stat status;
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0) {
		return -errno;
	}
	if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode) ||
		status.st_size != (off_t)domain->window) {
		close(fd);
		return -ENOENT;
	}
	return fd;
}

/* All of it is there from the start: a guest that finds no page left would be killed. */
static int make_new(const char *path, const struct config_domain *domain) {
	if (unlink(path) < 0 && errno != ENOENT) {
		return -errno;
	}
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0) {
		return -errno;
	}
	int error = -posix_fallocate(fd, 0, (off_t)domain->window);
	if (error < 0) {
		unlink(path);
		close(fd);
		return error;
	}
	return fd;
}

static int window_make(struct gidd *gidd, const struct config_domain *domain) {
	struct gid_wire_window header;
	char *path = window_path(gidd, domain);
	if (path == NULL) {
		return -ENOMEM;
	}
	put_header(&header, domain);
	int fd = open_old(path, domain);
	if (fd < 0) {
		if (access(path, F_OK) == 0) {
			log_warning("the window of domain %s is made anew, of %llu MiB: a machine "
				    "that has the old one must be started again",
				domain->name, (unsigned long long)domain->window >> 20);
		}
		fd = make_new(path, domain);
	}
	int error = fd < 0 ? fd : 0;
	if (error == 0 && pwrite(fd, &header, sizeof(header), 0) != (ssize_t)sizeof(header)) {
		error = -EIO;
	}
	if (error < 0) {
		log_error("cannot make the window of domain %s, %s of %llu MiB: %s", domain->name,
			path, (unsigned long long)domain->window >> 20, strerror(-error));
	}
	if (fd >= 0) {
		close(fd);
	}
	free(path);
	return error;
}

void window_mark(struct gidd *gidd, const struct config_domain *domain) {
	(void)window_make(gidd, domain); /* says what is wrong */
}

int window_make_all(struct gidd *gidd) {
	char folder[128];
	snprintf(folder, sizeof(folder), "%s/window", gidd->runtime);
	if (mkdir(folder, 0711) < 0 && errno != EEXIST) {
		log_error("cannot make %s: %s", folder, strerror(errno));
		return -errno;
	}
	const struct config_domain *domain;
	TAILQ_FOREACH(domain, &gidd->config->domains, entry) {
		int error = config_has_window(gidd->config, domain) ? window_make(gidd, domain) : 0;
		if (error < 0) {
			return error;
		}
	}
	return 0;
}
