// SPDX-License-Identifier: MIT
/*
 * Loaded before other libraries (LD_PRELOAD), counts the bytes that a program copies: by memcpy()
 * and memmove(), of at least a page, and by reading and writing descriptors, which the kernel
 * copies. The sums are in the file $GID_BENCH_COPIES, two numbers of 64 bits, which the caller made
 * and which all processes of one measurement share.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#define LEAST 4096u /* bytes: what is smaller is no picture's */

struct sums {
	uint64_t memory, descriptors;
};

static struct sums nowhere;
static struct sums *sums = &nowhere;

/* Copies before this, as the program starts, are no picture's. */
static __attribute__((constructor)) void find_sums(void) {
	const char *path = getenv("GID_BENCH_COPIES");
	int fd = path != NULL ? open(path, O_RDWR | O_CLOEXEC) : -1;
	if (fd < 0) {
		return;
	}
	void *mapped = mmap(NULL, sizeof(*sums), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (mapped != MAP_FAILED) {
		sums = mapped;
	}
}

static void add_memory(size_t size) {
	if (size >= LEAST) {
		__atomic_fetch_add(&sums->memory, size, __ATOMIC_RELAXED);
	}
}

static ssize_t add_descriptors(ssize_t size) {
	if (size >= (ssize_t)LEAST) {
		__atomic_fetch_add(&sums->descriptors, (uint64_t)size, __ATOMIC_RELAXED);
	}
	return size;
}

/* --- memory ----------------------------------------------------------------------------------- */

/* dlsym() itself may copy: the function without a counter is written out. */
static void *copy(void *to, const void *from, size_t size) {
	void *end = to;
	__asm__ volatile("rep movsb" : "+D"(end), "+S"(from), "+c"(size) : : "memory");
	return to;
}

void *memcpy(void *restrict to, const void *restrict from, size_t size) {
	add_memory(size);
	return copy(to, from, size);
}

void *memmove(void *to, const void *from, size_t size) {
	static void *(*real)(void *, const void *, size_t);
	add_memory(size);
	if ((uintptr_t)to - (uintptr_t)from >= size) {
		return copy(to, from, size);
	}
	if (real == NULL) {
		real = (void *(*)(void *, const void *, size_t))dlsym(RTLD_NEXT, "memmove");
	}
	return real(to, from, size);
}

/* --- descriptors ------------------------------------------------------------------------------ */

#define REAL(name) ((__typeof__(&(name)))dlsym(RTLD_NEXT, #name))

ssize_t read(int fd, void *data, size_t size) {
	return add_descriptors(REAL(read)(fd, data, size));
}

ssize_t write(int fd, const void *data, size_t size) {
	return add_descriptors(REAL(write)(fd, data, size));
}

ssize_t readv(int fd, const struct iovec *parts, int count) {
	return add_descriptors(REAL(readv)(fd, parts, count));
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
	return add_descriptors(REAL(writev)(fd, parts, count));
}

ssize_t recv(int fd, void *data, size_t size, int flags) {
	return add_descriptors(REAL(recv)(fd, data, size, flags));
}

ssize_t send(int fd, const void *data, size_t size, int flags) {
	return add_descriptors(REAL(send)(fd, data, size, flags));
}

ssize_t recvmsg(int fd, struct msghdr *message, int flags) {
	return add_descriptors(REAL(recvmsg)(fd, message, flags));
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags) {
	return add_descriptors(REAL(sendmsg)(fd, message, flags));
}

ssize_t recvfrom(int fd, void *restrict data, size_t size, int flags,
		struct sockaddr *restrict from, socklen_t *restrict length) {
	return add_descriptors(REAL(recvfrom)(fd, data, size, flags, from, length));
}

ssize_t sendto(int fd, const void *data, size_t size, int flags, const struct sockaddr *to,
		socklen_t length) {
	return add_descriptors(REAL(sendto)(fd, data, size, flags, to, length));
}
