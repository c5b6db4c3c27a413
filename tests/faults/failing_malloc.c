// SPDX-License-Identifier: MIT
/*
 * To be preloaded: the allocation with the number FAILING_MALLOC fails, counted from the first that
 * follows upon a connect(), which is where libgid's part begins; and says so by a byte written to
 * the descriptor FAILING_MALLOC_FD.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);

static atomic_long left = -1; /* -1: none is to fail */
static int told = -1;

static bool fails(void) {
	if (atomic_load(&left) < 0 || atomic_fetch_sub(&left, 1) != 0) {
		return false;
	}
	(void)!write(told, "!", 1);
	errno = ENOMEM;
	return true;
}

void *malloc(size_t size) {
	return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
	return fails() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size) {
	return fails() ? NULL : __libc_realloc(old, size);
}

int connect(int fd, const struct sockaddr *address, socklen_t size) {
	static atomic_flag begun = ATOMIC_FLAG_INIT;
	static int (*real)(int, const struct sockaddr *, socklen_t);
	if (!atomic_flag_test_and_set(&begun)) {
		real = (int (*)(int, const struct sockaddr *, socklen_t))dlsym(
				RTLD_NEXT, "connect");
		const char *number = getenv("FAILING_MALLOC"), *to = getenv("FAILING_MALLOC_FD");
		if (number != NULL && to != NULL) {
			told = atoi(to);
			atomic_store(&left, atol(number));
		}
	}
	return real(fd, address, size);
}
