// SPDX-License-Identifier: MIT
/* What a reader maps of an owner that means no good: memory with holes, too much, or none at all.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "connection.h"
#include "memory.h"
#include "memory_pages.h"
#include "slab_pair.h"

#define SIZE (1u << 20)
#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL)

/* As any program can send it, without this library. 0 where gidd refuses. */
static uint32_t export_raw(int fd, uint64_t generations) {
	union gid_wire_message message, answer;
	gid_wire_begin(&message, GID_WIRE_EXPORT, 0);
	message.export.memory = GID_MEMORY_MEMFD;
	message.export.slot_size = SIZE;
	message.export.slot_count = 1;
	message.export.generations = generations;
	gid_wire_put_layout(&message.export.layout, &layout);
	int error = gid_domain_request(owner, &message, &fd, 1, &answer, NULL);
	if (error < 0) {
		return 0;
	}
	uint32_t slab = answer.result.value;
	gid_wire_begin(&message, GID_WIRE_GRANT, 0);
	message.grant.slab = slab;
	message.grant.domain = 2;
	message.grant.allow = 1;
	return gid_domain_request(owner, &message, NULL, 0, &answer, NULL) == 0 ? slab : 0;
}

static int make_sparse(unsigned seals) {
	int fd = memfd_create("sparse", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (ftruncate(fd, SIZE) < 0 || fcntl(fd, F_ADD_SEALS, seals) < 0) {
		return -1;
	}
	int read_only = gid_memory_reopen(fd);
	close(fd);
	return read_only;
}

static uint64_t bytes_of(int fd) {
	struct stat status;
	fstat(fd, &status);
	return (uint64_t)status.st_blocks * 512;
}

static void test_holes(void) {
	int fd = make_sparse(SEALS);
	struct gid_slab *slab = NULL;
	tap_ok(gid_memory_check(fd, SIZE, true) == 0 && gid_memory_check_present(fd) == -ENODATA,
			"sealed memory without a page is told from memory");
	uint32_t number = export_raw(fd, 0);
	tap_ok(number == 0 || gid_slab_import(reader, gid_make(1, number, 0, 0), &slab) == -ENODATA,
			"it is not imported (%s)", number == 0 ? "gidd refuses it" : "libgid does");
	tap_ok(bytes_of(fd) == 0, "nor is any page of it made");
	close(fd);

	fd = make_sparse(SEALS);
	tap_ok(gid_slab_export(owner, fd, 0, &layout, NULL, &slab) == 0 && bytes_of(fd) == SIZE,
			"who exports such memory by this library makes its pages");
	struct gid_slab *got = NULL;
	tap_ok(gid_slab_grant(slab, 2) == 0 &&
					gid_slab_import(reader, gid_slab_gid(slab, 0), &got) == 0,
			"and then it is imported");
	gid_slab_unref(got);
	gid_slab_destroy(slab, false);
	close(fd);
}

/* Their owner cannot lose them any more, as those that are only allocated. */
static bool write_pages(int fd, off_t offset) {
	static const char zeroes[SIZE];
	return pwrite(fd, zeroes, SIZE, offset) == SIZE;
}

/* A memfd of two parts, each with all its pages or with none. What is missing is behind its end. */
static int make_hollow(bool first, bool second) {
	const int missing = (int)SIZE * (2 - first - second);
	int fd = memfd_create("hollow", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (ftruncate(fd, 2 * SIZE) < 0 || (first && !write_pages(fd, 0)) ||
			(second && !write_pages(fd, SIZE)) ||
			fallocate(fd, FALLOC_FL_KEEP_SIZE, 2 * SIZE, missing) < 0 ||
			fcntl(fd, F_ADD_SEALS, SEALS) < 0) {
		return -1;
	}
	int read_only = gid_memory_reopen(fd);
	close(fd);
	return read_only;
}

/* Asked without libgid, whose answer is what is tested: cachestat() is of Linux 6.5. */
static bool kernel_tells_pages(int fd) {
	const uint64_t range[2] = {0, 2 * SIZE};
	uint64_t counts[5];
	return syscall(451, fd, range, counts, 0) == 0;
}

/* The kernel counts all pages of a file, wherever they are. */
static void test_hidden_holes(void) {
	int fd = make_hollow(true, false);
	if (!kernel_tells_pages(fd)) {
		printf("# this kernel does not tell which pages there are\n");
		close(fd);
		return;
	}
	tap_ok(gid_memory_check_present(fd) == 0 &&
					gid_memory_check_pages(fd, 0, SIZE, NULL) == 0 &&
					gid_memory_check_pages(fd, 1, SIZE, NULL) == -ENODATA &&
					gid_memory_check_pages(fd, SIZE + 1, 1, NULL) == -ENODATA &&
					gid_memory_check_pages(fd, SIZE, 0, NULL) == 0,
			"of memory whose pages are behind its end it is known which are missing");
	close(fd);

	struct gid_slab *slab = NULL;
	fd = make_hollow(false, true);
	uint32_t number = export_raw(fd, SIZE);
	bool imported = gid_slab_import(reader, gid_make(1, number, 0, 0), &slab) == 0;
	tap_ok(imported && gid_slab_view(slab, 0) == NULL && bytes_of(fd) == 2 * SIZE,
			"a slot without them is not read, and none of them is made");
	gid_slab_unref(slab);
	close(fd);

	fd = make_hollow(true, false);
	number = export_raw(fd, SIZE);
	tap_ok(gid_slab_import(reader, gid_make(1, number, 0, 0), &slab) == -ENODATA &&
					bytes_of(fd) == 2 * SIZE,
			"nor is a table of generations without them");
	close(fd);
}

/* Whose mode its owner changes while the kernel is asked, as if we might not ask; -1: of nobody. */
static int changing = -1;

int __real_mincore(void *data, size_t size, unsigned char *ready);
int __wrap_mincore(void *data, size_t size, unsigned char *ready);
int __wrap_mincore(void *data, size_t size, unsigned char *ready) {
	int result = __real_mincore(data, size, ready);
	if (changing >= 0) {
		usleep(20000); /* more than the kernel's clock takes for a step */
		fchmod(changing, 0);
		memset(ready, 1, size / (size_t)sysconf(_SC_PAGESIZE));
		fchmod(changing, 0777);
	}
	return result;
}

/*
 * Where a fallocate() of their owner's fails, such pages go: between the question and the reading,
 * if he likes.
 */
static void test_pages_that_can_go(void) {
	int fd = memfd_create("allocated", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (posix_fallocate(fd, 0, 2 * SIZE) != 0 || !write_pages(fd, SIZE) ||
			fcntl(fd, F_ADD_SEALS, SEALS) < 0 || !kernel_tells_pages(fd)) {
		printf("# this kernel does not tell which pages there are\n");
		close(fd);
		return;
	}
	int read_only = gid_memory_reopen(fd);
	tap_ok(gid_memory_check_pages(read_only, 0, SIZE, NULL) == -ENODATA &&
					gid_memory_check_pages(read_only, SIZE, SIZE, NULL) == 0 &&
					gid_memory_check_pages(read_only, SIZE - 1, 2, NULL) ==
							-ENODATA,
			"pages that were allocated and never written are none");
	changing = fd;
	tap_ok(gid_memory_check_pages(read_only, SIZE, SIZE, NULL) == -ENODATA,
			"nor is an answer one while others change who may ask");
	changing = -1;

	struct gid_slab *slab = NULL;
	uint32_t number = export_raw(read_only, SIZE);
	bool imported = gid_slab_import(reader, gid_make(1, number, 0, 0), &slab) == 0;
	tap_ok(imported && gid_slab_view(slab, 0) == NULL, "a slot of such pages is not read");
	gid_slab_unref(slab);
	close(read_only);
	close(fd);
}

static void test_bounds(void) {
	struct gid_slab *slabs[3], *got = NULL, *other = NULL;
	for (int i = 0; i < 3; i++) {
		slabs[i] = make(1);
		gid_slab_grant(slabs[i], 2);
	}
	struct gid_imported_of *of = &reader->imported_of[1];
	tap_ok(of->slabs == 0 && of->bytes == 0, "nothing is imported");
	gid_slab_import(reader, gid_slab_gid(slabs[0], 0), &got);
	gid_slab_import(reader, gid_slab_gid(slabs[1], 0), &other);
	tap_ok(of->slabs == 2 && of->bytes == 2 * 12288, "what is, is counted");
	gid_slab_unref(got); /* at rest */
	of->slabs += 1022;
	tap_ok(gid_slab_import(reader, gid_slab_gid(slabs[2], 0), &got) == 0 && of->slabs == 1024,
			"one that is at rest goes for a new one");
	struct gid_slab *more = NULL;
	tap_ok(gid_slab_import(reader, gid_slab_gid(slabs[0], 0), &more) == -EDQUOT &&
					strstr(gid_domain_error(reader), "1024 slabs") != NULL,
			"but there are not more than 1024 of an owner: %s",
			gid_domain_error(reader));
	of->slabs -= 1022;
	of->bytes += (UINT64_C(4) << 30) - 3 * 12288 + 1;
	tap_ok(gid_slab_import(reader, gid_slab_gid(slabs[0], 0), &more) == -EDQUOT,
			"nor more than 4 GiB");
	of->bytes -= (UINT64_C(4) << 30) - 3 * 12288 + 1;
	tap_ok(gid_slab_import(reader, gid_slab_gid(slabs[0], 0), &more) == 0, "else there are");
	gid_slab_unref(got);
	gid_slab_unref(other);
	gid_slab_unref(more);
	for (int i = 0; i < 3; i++) {
		gid_slab_destroy(slabs[i], false);
	}
}

static bool is_revoked(void *data) {
	struct gid_slab_info info;
	gid_slab_get_info(data, &info);
	return info.revoked;
}

/* How many of the owner's slabs its gidd believes to be read. */
static unsigned count_read(void) {
	static const char mark[] = "\"importers\":1";
	char *json = NULL;
	unsigned count = 0;
	if (gid_domain_status(owner, &json) == 0) {
		for (const char *at = json; (at = strstr(at, mark)) != NULL; at++) {
			count++;
		}
	}
	free(json);
	return count;
}

static bool are_64(void *unused) {
	return count_read() == 64;
}

/* A reader keeps a few that it does not use; of the rest nobody need remember that it had them. */
static void test_what_is_let_go_of(void) {
	enum { SLABS = 90 };
	struct gid_slab *slabs[SLABS], *got;
	unsigned imported = 0;
	for (int i = 0; i < SLABS; i++) {
		slabs[i] = make(1);
		gid_slab_grant(slabs[i], 2);
	}
	for (int i = 0; i < SLABS; i++) {
		if (gid_slab_import(reader, gid_slab_gid(slabs[i], 0), &got) == 0) {
			imported++;
			gid_slab_unref(got);
		}
	}
	tap_ok(imported == SLABS && cockpit_until(reader, are_64, NULL),
			"gidd counts what a reader may still use, %u of %d", count_read(), SLABS);
	tap_ok(gid_slab_import(reader, gid_slab_gid(slabs[0], 0), &got) == 0,
			"one that was let go of can be had again");
	gid_slab_revoke(slabs[0], 2);
	tap_ok(cockpit_until(reader, is_revoked, got), "and is revoked as any other");
	gid_slab_unref(got);
	for (int i = 0; i < SLABS; i++) {
		gid_slab_destroy(slabs[i], false);
	}
}

/* A reader that goes on reading, and asks for nothing. */
static void test_a_reader_that_does_not_listen(void) {
	struct gid_slab *slab = make(2), *got = NULL;
	memset(gid_slab_data(slab, 1), 'x', 12288);
	gid_slab_grant(slab, 2);
	gid_slab_import(reader, gid_slab_gid(slab, 1), &got);
	const char *view = gid_slab_view(got, 1);
	struct gid_slab_info info;
	gid_slab_get_info(got, &info);
	char byte = 0;
	tap_ok(view[12287] == 'x', "it reads");
	gid_slab_revoke(slab, 2);
	tap_ok(cockpit_until(reader, is_revoked, got) && view[0] == 0 && view[12287] == 0,
			"what it reads is gone when the grant is");
	tap_ok(pread(info.fd, &byte, 1, 12288) == 1 && byte == 0,
			"nor does the descriptor lead to it any more");
	gid_slab_unref(got);
	gid_slab_destroy(slab, false);
}

static void keep_second(void *data, struct gid_slab *slab) {
	*(int *)data = gid_slab_keep(slab, 1);
	tap_ok(gid_slab_keep(slab, 2) == -EINVAL, "there is no third slot to keep");
}

/* One that still needs a frame when its stream ends. */
static void test_what_is_kept_stays(void) {
	struct gid_slab *slab = make(2), *got = NULL;
	struct gid_slab_info info;
	gid_slab_get_info(slab, &info);
	memset(gid_slab_data(slab, 0), 'x', (size_t)info.slot_size);
	memset(gid_slab_data(slab, 1), 'y', (size_t)info.slot_size);
	gid_slab_grant(slab, 2);
	gid_slab_import(reader, gid_slab_gid(slab, 1), &got);
	const char *first = gid_slab_view(got, 0), *second = gid_slab_view(got, 1);
	const size_t last = (size_t)info.slot_size - 1;
	int ret = 1;
	char byte = 0;
	gid_slab_on_revoked(got, keep_second, &ret);
	gid_slab_destroy(slab, false);
	tap_ok(cockpit_until(reader, is_revoked, got) && ret == 0, "a slot is kept: %d", ret);
	tap_ok(second[0] == 'y' && second[last] == 'y', "it is what it was, where it was");
	tap_ok(first[0] == 0 && first[last] == 0, "and only it");
	gid_slab_get_info(got, &info);
	tap_ok(pread(info.fd, &byte, 1, (off_t)(info.offset + info.slot_size)) == 1 && byte == 'y',
			"also behind the descriptor");
	tap_ok(pwrite(info.fd, "z", 1, 0) < 0, "which nobody can write to");
	gid_slab_unref(got);
}

/* Of slots that are larger than what lies in them, only that is copied, and counted. */
static void test_what_is_not_used_is_not_kept(void) {
	const struct gid_imported_of *of = &reader->imported_of[1], before = *of;
	struct gid_slab *slab = NULL, *got = NULL;
	struct gid_slab_info info;
	int ret = 1;
	tap_ok(gid_slab_create(owner, &layout, SIZE, 2, NULL, &slab) == 0, "slots have room");
	gid_slab_get_info(slab, &info);
	memset(gid_slab_data(slab, 1), 'y', (size_t)info.slot_size);
	gid_slab_grant(slab, 2);
	gid_slab_import(reader, gid_slab_gid(slab, 1), &got);
	const char *second = gid_slab_view(got, 1);
	const uint64_t used = gid_layout_size(&layout);
	gid_slab_on_revoked(got, keep_second, &ret);
	gid_slab_destroy(slab, false);
	tap_ok(cockpit_until(reader, is_revoked, got) && ret == 0 && second[0] == 'y' &&
					second[used - 1] == 'y',
			"what its layout names is kept");
	gid_slab_get_info(got, &info);
	tap_ok(bytes_of(info.fd) == used && of->bytes == before.bytes + used &&
					second[info.slot_size - 1] == 0,
			"nothing else is copied, and counts: %u of %u bytes", (unsigned)used,
			(unsigned)info.slot_size);
	gid_slab_unref(got);
	tap_ok(of->bytes == before.bytes, "until it is not needed any more");
}

/* A producer that begins a stream again and again, and a reader that still has frames of each. */
static void test_what_is_kept_is_counted(void) {
	const struct gid_imported_of *of = &reader->imported_of[1], before = *of;
	struct gid_slab *got[4], *slab;
	struct gid_slab_info info = {0};
	int ret = 0;
	for (int i = 0; i < 4; i++) {
		slab = make(2);
		gid_slab_get_info(slab, &info);
		gid_slab_grant(slab, 2);
		gid_slab_import(reader, gid_slab_gid(slab, 1), &got[i]);
		gid_slab_on_revoked(got[i], keep_second, &ret);
		gid_slab_destroy(slab, false);
		cockpit_until(reader, is_revoked, got[i]);
	}
	tap_ok(of->bytes == before.bytes + 4 * info.slot_size && of->slabs == before.slabs + 4,
			"copies that are kept count as their owner's memory");
	for (int i = 0; i < 4; i++) {
		gid_slab_unref(got[i]);
	}
	tap_ok(of->bytes == before.bytes && of->slabs == before.slabs,
			"until nobody needs them any more");
}

static void test_kinds(void) {
	int fd = memfd_create("huge", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_HUGETLB);
	if (fd >= 0) {
		tap_ok(gid_memory_check(fd, 0, 0) == -EBADF, "huge pages are no memory to share");
		close(fd);
	}
	fd = memfd_create("exp_name: drm", MFD_CLOEXEC);
	int file = open("/dev/null", O_RDWR | O_CLOEXEC);
	tap_ok(gid_memory_check_dmabuf(fd) == -EBADF && gid_memory_check_dmabuf(file) == -EBADF &&
					gid_memory_check_dmabuf(-1) == -EBADF,
			"what is no dma-buf is known");
	close(fd);
	close(file);
}

int main(void) {
	if (slab_pair_init()) {
		test_kinds();
		test_bounds();
		test_what_is_let_go_of();
		test_holes();
		test_hidden_holes();
		test_pages_that_can_go();
		test_a_reader_that_does_not_listen();
		test_what_is_kept_stays();
		test_what_is_not_used_is_not_kept();
		test_what_is_kept_is_counted();
	}
	return slab_pair_finish();
}
