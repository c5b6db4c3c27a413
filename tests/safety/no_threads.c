// SPDX-License-Identifier: MIT
/*
 * To be preloaded: while the file NO_THREADS is there, no thread can be started, as where the user
 * has as many as he may have.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *data),
		void *data) {
	static int (*create)(pthread_t *thread, const pthread_attr_t *attributes,
			void *(*run)(void *data), void *data);
	const char *path = getenv("NO_THREADS");
	if (path != NULL && access(path, F_OK) == 0) {
		return EAGAIN;
	}
	if (create == NULL) {
		*(void **)&create = dlsym(RTLD_NEXT, "pthread_create");
	}
	return create(thread, attributes, run, data);
}
