// SPDX-License-Identifier: MIT
/*
 * How fast a file is read that the kernel has in memory already, as the evaluation report has it by
 * lmbench's bw_file_rd (5.10): with each read its opening, by read() of 64 KiB at a time, and
 * mapped.
 */
#include <err.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "probe.h"

#define FILE_BYTES (64u << 20)
#define PIECE (64u << 10)
#define ROUNDS 15

static uint8_t piece[PIECE];

static uint64_t sum_of(const uint8_t *bytes, size_t count) {
	uint64_t sum = 0;
	for (size_t i = 0; i < count / sizeof(sum); i++) {
		sum += ((const uint64_t *)bytes)[i];
	}
	return sum;
}

static int open_file(const char *path) {
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		err(1, "%s", path);
	}
	return fd;
}

static uint64_t by_read(const char *path) {
	uint64_t sum = 0;
	int fd = open_file(path);
	for (ssize_t got; (got = read(fd, piece, sizeof(piece))) != 0;) {
		if (got < 0) {
			err(1, "%s", path);
		}
		sum += sum_of(piece, (size_t)got);
	}
	close(fd);
	return sum;
}

static uint64_t by_map(const char *path) {
	int fd = open_file(path);
	uint8_t *bytes = mmap(NULL, FILE_BYTES, PROT_READ, MAP_SHARED, fd, 0);
	if (bytes == MAP_FAILED) {
		err(1, "%s", path);
	}
	uint64_t sum = sum_of(bytes, FILE_BYTES);
	munmap(bytes, FILE_BYTES);
	close(fd);
	return sum;
}

static void measure(const char *name, const char *path, uint64_t (*read_all)(const char *)) {
	struct figure figure;
	figure_init(&figure, "MB/s", ROUNDS);
	read_all(path);
	for (int round = 0; round < ROUNDS; round++) {
		uint64_t begin = probe_now();
		uint64_t sum = read_all(path);
		__asm__ volatile("" : : "r"(sum));
		figure_add(&figure, FILE_BYTES * 1e3 / (double)(probe_now() - begin));
	}
	probe_print(name, &figure);
	figure_finish(&figure);
}

int probe_files(int argc, char **argv) {
	char path[] = "/tmp/gid-probe-XXXXXX";
	if (argc > 1) {
		errx(2, "files: no argument is expected, not %s", argv[1]);
	}
	probe_pin(probe_core(1));
	int fd = mkstemp(path);
	if (fd < 0) {
		err(1, "%s", path);
	}
	memset(piece, 1, sizeof(piece));
	for (size_t written = 0; written < FILE_BYTES; written += sizeof(piece)) {
		if (write(fd, piece, sizeof(piece)) != sizeof(piece)) {
			unlink(path);
			err(1, "%s", path);
		}
	}
	close(fd);
	probe_begin();
	measure("a file, opened and read", path, by_read);
	measure("a file, opened and mapped", path, by_map);
	probe_end();
	unlink(path);
	return 0;
}
