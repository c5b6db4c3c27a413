// SPDX-License-Identifier: MIT
/* Pictures that may be shown, as a file has them: read as a whole or not at all, and so written. */
#include "cluster/base/accepted.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ini_file.h"
#include "tap.h"

#define ZEROES "00000000000000000000000000000000000000000000000000000000000000"
#define ONE ZEROES "01"
#define TWO ZEROES "02"
#define LETTERS ZEROES "aF"

static off_t synced; /* bytes of what was brought to the disk last */
static bool disk_fails;

/* In the place of the C library's. */
int fsync(int fd) {
	struct stat status = {0};
	fstat(fd, &status);
	synced = status.st_size;
	errno = EIO;
	return disk_fails ? -1 : 0;
}

static struct digest digest_of(uint8_t last) {
	struct digest digest = {0};
	digest.bytes[sizeof(digest.bytes) - 1] = last;
	return digest;
}

static bool have(const struct hashes *hashes, uint8_t last) {
	struct digest digest = digest_of(last);
	return hashes_have(hashes, &digest);
}

/* What reading a file of these bytes says. */
static int read_bytes(struct hashes *hashes, const char *bytes, size_t size) {
	*hashes = (struct hashes){0};
	FILE *file = fopen("some.hashes", "we");
	bool written = file != NULL && fwrite(bytes, 1, size, file) == size;
	if (file == NULL || fclose(file) != 0 || !written) {
		return -EIO;
	}
	return hashes_read(hashes, "some.hashes");
}

static int read_text(struct hashes *hashes, const char *text) {
	return read_bytes(hashes, text, strlen(text));
}

static void test_good_files(void) {
	struct hashes hashes;
	tap_ok(read_text(&hashes, "") == 0 && hashes.count == 0, "an empty file");
	hashes_finish(&hashes);
	tap_ok(read_text(&hashes, "# one\n\n \t" TWO " \t# two\r\n" ONE "\n" TWO "\n" LETTERS) ==
							0 &&
					hashes.count == 3,
			"comments, blanks, one twice, and a last line without an end");
	tap_ok(have(&hashes, 1) && have(&hashes, 2) && have(&hashes, 0xaf) && !have(&hashes, 3),
			"each is found");
	hashes_finish(&hashes);
}

static void test_mistakes(void) {
	static const char *const mistakes[] = {
			ZEROES "0\n", ONE "0\n", ONE " x\n", "x" ONE "\n", ZEROES "0g\n"};
	struct hashes hashes;
	for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
		tap_ok(read_text(&hashes, mistakes[i]) == -EINVAL, "no SHA-256: %zu", i);
		hashes_finish(&hashes);
	}
	static const char zero[] = ONE "\n" TWO "\0\n" ONE "\n";
	tap_ok(read_bytes(&hashes, zero, sizeof(zero) - 1) == -EINVAL, "a line with a zero");
	hashes_finish(&hashes);
	char line[1100];
	memset(line, '#', sizeof(line));
	tap_ok(read_bytes(&hashes, line, sizeof(line)) == -EINVAL, "a line that is too long");
	hashes_finish(&hashes);
	hashes = (struct hashes){0};
	tap_ok(hashes_read(&hashes, "nowhere") == -ENOENT, "no file");
	tap_ok(hashes_read(&hashes, ".") == -EISDIR, "one that cannot be read");
	hashes_finish(&hashes);
}

static void test_a_set(void) {
	struct hashes hashes = {0};
	bool sorted = true;
	for (unsigned i = 200; i > 0; i--) {
		struct digest digest = digest_of((uint8_t)i);
		sorted = hashes_add(&hashes, &digest) == 1 && sorted;
		sorted = hashes_add(&hashes, &digest) == 0 && sorted;
	}
	for (unsigned i = 1; i <= 200; i++) {
		sorted = have(&hashes, (uint8_t)i) && sorted;
	}
	tap_ok(sorted && hashes.count == 200 && !have(&hashes, 201), "a set has each once");
	struct hashes again = {0};
	tap_ok(hashes_write(&hashes, "# all\n", "all.hashes") == 0 &&
					hashes_read(&again, "all.hashes") == 0 &&
					again.count == 200 && have(&again, 7),
			"what is written is read");
	tap_ok(synced == (off_t)(strlen("# all\n") + 200 * strlen(ONE "\n")),
			"and is on the disk, all of it");
	hashes_finish(&again);

	/* What does not become a whole file leaves the old one, and nothing beside it. */
	const struct rlimit small = {1000, RLIM_INFINITY}, none = {1, RLIM_INFINITY};
	const struct rlimit whole = {RLIM_INFINITY, RLIM_INFINITY};
	signal(SIGXFSZ, SIG_IGN);
	/* The limit holds for what is told, too. */
	setrlimit(RLIMIT_FSIZE, &small);
	int full = hashes_write(&hashes, "# all\n", "all.hashes");
	setrlimit(RLIMIT_FSIZE, &none);
	int none_fits = hashes_write(&again, "# all\n", "all.hashes");
	setrlimit(RLIMIT_FSIZE, &whole);
	disk_fails = true;
	int broken = hashes_write(&again, "# none\n", "all.hashes");
	disk_fails = false;
	tap_ok(broken == -EIO, "a disk that breaks");
	tap_ok(full == -EFBIG, "a disk that is full");
	tap_ok(none_fits == -EFBIG, "one that takes not even a little");
	tap_ok(access("all.hashes.partial", F_OK) != 0 && hashes_read(&again, "all.hashes") == 0 &&
					again.count == 200,
			"leaves the file as it was");
	hashes_finish(&again);
	tap_ok(hashes_write(&hashes, "", "nowhere/all.hashes") == -ENOENT,
			"a folder that is not there");
	tap_ok(mkdir("folder", 0700) == 0 && hashes_write(&hashes, "", "folder") == -EISDIR &&
					access("folder.partial", F_OK) != 0,
			"a place that is taken by a folder");
	hashes_finish(&hashes);
}

static unsigned mistakes_in(struct accepted *accepted, const char *formats) {
	struct ini_file ini = {.errors = stderr, .name = "test"};
	accepted_set_formats(accepted, &ini, formats);
	return ini.mistakes;
}

static void test_formats(void) {
	struct accepted accepted = {0};
	char many[GID_SHOWABLE_MAX * 5 + 8] = "XR24";
	tap_ok(mistakes_in(&accepted, "XR24, NV12") == 0 && accepted.format_count == 2, "formats");
	tap_ok(mistakes_in(&accepted, "ZZZZ") == 1, "one that is none");
	for (size_t i = 1; i < GID_SHOWABLE_MAX; i++) {
		strcat(many, ",XR24");
	}
	tap_ok(mistakes_in(&accepted, many) == 0 && accepted.format_count == GID_SHOWABLE_MAX,
			"as many as can be told");
	strcat(many, ",AR24");
	tap_ok(mistakes_in(&accepted, many) == 1, "and one more");
}

/* What others send has any number there. */
static void test_transforms(void) {
	tap_ok(accepted_has_transform(&accepted_any, 7) &&
					!accepted_has_transform(&accepted_any, 8),
			"there are 8 transforms");
	tap_ok(strcmp(accepted_transform_name(7), "flipped-270") == 0 &&
					strcmp(accepted_transform_name(8), "?") == 0,
			"which have names");
}

int main(void) {
	char folder[] = "/tmp/gid-hashes-XXXXXX";
	if (!tap_ok(mkdtemp(folder) != NULL && chdir(folder) == 0, "a folder")) {
		return tap_finish();
	}
	test_good_files();
	test_mistakes();
	test_a_set();
	test_formats();
	test_transforms();
	unlink("some.hashes");
	unlink("all.hashes");
	rmdir("folder");
	rmdir(folder);
	return tap_finish();
}
