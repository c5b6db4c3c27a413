// SPDX-License-Identifier: MIT
/*
 * To be preloaded: the allocation with the number FAILING_MALLOC fails, and says so by a byte
 * written to the descriptor FAILING_MALLOC_FD. They are counted from the first that follows upon a
 * connect(), which is where libgid's part begins.
 *
 * With FAILING_MALLOC_OF=PLACE it is the one with this number, from 0, that the program's own code
 * asks for there, from its start: at so many bytes, in hexadecimal, from the program's beginning.
 * With FAILING_MALLOC_OF=all none fails, and the place of each is written as 8 bytes.
 */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);

static atomic_long left = -1; /* -1: none is to fail */
static int told = -1;
/* Of the program's own code, where only that counts. */
static struct {
	bool only, all;
	uintptr_t begin, end, place; /* `place` from `begin` on */
} own;

/* `caller`: where the allocation was asked for. */
static bool fails(const void *caller) {
	uint64_t place = (uintptr_t)caller - own.begin;
	if (own.only && ((uintptr_t)caller < own.begin || (uintptr_t)caller >= own.end)) {
		return false;
	}
	if (own.all) {
		(void)!write(told, &place, sizeof(place));
		return false;
	}
	if ((own.only && place != own.place) || atomic_load(&left) < 0 ||
			atomic_fetch_sub(&left, 1) != 0) {
		return false;
	}
	(void)!write(told, "!", 1);
	errno = ENOMEM;
	return true;
}

void *malloc(size_t size) {
	return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
	return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size) {
	return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(old, size);
}

/* libc's own ask for their memory from within libc. */

void *reallocarray(void *old, size_t count, size_t size) {
	size_t bytes;
	if (__builtin_mul_overflow(count, size, &bytes) || fails(__builtin_return_address(0))) {
		errno = ENOMEM;
		return NULL;
	}
	return __libc_realloc(old, bytes);
}

char *strdup(const char *text) {
	size_t size = strlen(text) + 1;
	char *copy = fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
	return copy != NULL ? memcpy(copy, text, size) : NULL;
}

int asprintf(char **text, const char *format, ...) {
	va_list values;
	va_start(values, format);
	int length = fails(__builtin_return_address(0)) ? -1 : vasprintf(text, format, values);
	va_end(values);
	return length;
}

static void start(void) {
	const char *number = getenv("FAILING_MALLOC"), *to = getenv("FAILING_MALLOC_FD");
	if (number != NULL && to != NULL) {
		told = atoi(to);
		atomic_store(&left, atol(number));
	}
}

/* The first object is the program. */
static int find_program(struct dl_phdr_info *info, size_t size, void *data) {
	own.begin = UINTPTR_MAX;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];
		uintptr_t from = info->dlpi_addr + part->p_vaddr, to = from + part->p_memsz;
		if (part->p_type == PT_LOAD) {
			own.begin = from < own.begin ? from : own.begin;
			own.end = to > own.end ? to : own.end;
		}
	}
	return 1;
}

__attribute__((constructor)) static void start_with_program(void) {
	const char *place = getenv("FAILING_MALLOC_OF");
	if (place != NULL) {
		dl_iterate_phdr(find_program, NULL);
		start();
		own.all = strcmp(place, "all") == 0;
		own.place = own.all ? 0 : strtoul(place, NULL, 16);
		own.only = true;
	}
}

int connect(int fd, const struct sockaddr *address, socklen_t size) {
	static atomic_flag begun = ATOMIC_FLAG_INIT;
	/* Each thread looks for it: the one that begins may not have found it yet. */
	int (*real)(int, const struct sockaddr *, socklen_t) = (int (*)(
			int, const struct sockaddr *, socklen_t))dlsym(RTLD_NEXT, "connect");
	if (!atomic_flag_test_and_set(&begun) && getenv("FAILING_MALLOC_OF") == NULL) {
		start();
	}
	return real(fd, address, size);
}
