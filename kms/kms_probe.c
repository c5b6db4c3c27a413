// SPDX-License-Identifier: MIT
#include "kms_probe.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "thread.h"

/* Of the loop's side and of the thread: the last one that leaves frees it. */
struct shared {
	atomic_int users;
	atomic_bool ends;
	int fd;		     /* of the device */
	int asked, answered; /* eventfds */
	_Atomic(struct kms_connectors *) answer;
};

struct kms_probe {
	struct shared *shared;
	struct wl_event_source *source;
	void (*done)(void *data, const struct kms_connectors *connectors);
	void *data;
};

/* --- connectors ------------------------------------------------------------------------------- */

static drmModeConnector *read_one(int fd, uint32_t id, struct kms_connector *properties) {
	drmModeConnector *found = drmModeGetConnector(fd, id);
	if (found != NULL && kms_connector_read(properties, fd, id) != 0) {
		drmModeFreeConnector(found);
		found = NULL;
	}
	return found;
}

struct kms_connectors *kms_connectors_read(int fd) {
	drmModeRes *list = drmModeGetResources(fd);
	struct kms_connectors *connectors = NULL;
	if (list != NULL) {
		size_t size = (size_t)list->count_connectors * sizeof(connectors->all[0]);
		connectors = calloc(1, sizeof(*connectors) + size);
	}
	for (int i = 0; connectors != NULL && i < list->count_connectors; i++) {
		connectors->all[i].id = list->connectors[i];
		connectors->all[i].found =
				read_one(fd, list->connectors[i], &connectors->all[i].properties);
		connectors->count++;
	}
	drmModeFreeResources(list);
	return connectors;
}

void kms_connectors_destroy(struct kms_connectors *connectors) {
	for (size_t i = 0; connectors != NULL && i < connectors->count; i++) {
		drmModeFreeConnector(connectors->all[i].found);
	}
	free(connectors);
}

/* --- the thread ------------------------------------------------------------------------------- */

static void close_one(int fd) {
	if (fd >= 0) {
		close(fd);
	}
}

static void shared_unref(struct shared *shared) {
	if (atomic_fetch_sub(&shared->users, 1) > 1) {
		return;
	}
	kms_connectors_destroy(atomic_load(&shared->answer));
	close_one(shared->fd);
	close_one(shared->asked);
	close_one(shared->answered);
	free(shared);
}

/* For the loop's side. */
static struct shared *shared_create(int fd) {
	struct shared *shared = calloc(1, sizeof(*shared));
	if (shared == NULL) {
		return NULL;
	}
	atomic_init(&shared->users, 1);
	shared->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	shared->asked = eventfd(0, EFD_CLOEXEC);
	shared->answered = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (shared->fd < 0 || shared->asked < 0 || shared->answered < 0) {
		shared_unref(shared);
		return NULL;
	}
	return shared;
}

/* An answer that nobody took is older than this one. */
static void *run(void *data) {
	struct shared *shared = data;
	eventfd_t times;
	while (eventfd_read(shared->asked, &times) == 0 && !atomic_load(&shared->ends)) {
		struct kms_connectors *answer = kms_connectors_read(shared->fd);
		kms_connectors_destroy(atomic_exchange(&shared->answer, answer));
		eventfd_write(shared->answered, 1);
	}
	shared_unref(shared);
	return NULL;
}

/* --- the loop's side -------------------------------------------------------------------------- */

static int handle_answered(int fd, uint32_t mask, void *data) {
	struct kms_probe *probe = data;
	eventfd_t times;
	eventfd_read(fd, &times);
	struct kms_connectors *answer = atomic_exchange(&probe->shared->answer, NULL);
	if (answer != NULL) {
		probe->done(probe->data, answer);
		kms_connectors_destroy(answer);
	}
	return 0;
}

struct kms_probe *kms_probe_create(struct wl_event_loop *loop, int fd,
		void (*done)(void *data, const struct kms_connectors *connectors), void *data) {
	struct kms_probe *probe = calloc(1, sizeof(*probe));
	if (probe == NULL) {
		return NULL;
	}
	*probe = (struct kms_probe){.done = done, .data = data, .shared = shared_create(fd)};
	if (probe->shared != NULL) {
		probe->source = wl_event_loop_add_fd(loop, probe->shared->answered,
				WL_EVENT_READABLE, handle_answered, probe);
	}
	if (probe->source == NULL) {
		kms_probe_destroy(probe);
		return NULL;
	}
	atomic_fetch_add(&probe->shared->users, 1);
	if (gid_thread_start(NULL, GID_THREAD_STACK, run, probe->shared) < 0) {
		shared_unref(probe->shared);
		kms_probe_destroy(probe);
		return NULL;
	}
	return probe;
}

void kms_probe_destroy(struct kms_probe *probe) {
	if (probe == NULL) {
		return;
	}
	if (probe->source != NULL) {
		wl_event_source_remove(probe->source);
	}
	if (probe->shared != NULL) {
		atomic_store(&probe->shared->ends, true);
		kms_probe_ask(probe);
		shared_unref(probe->shared);
	}
	free(probe);
}

void kms_probe_ask(struct kms_probe *probe) {
	eventfd_write(probe->shared->asked, 1);
}
