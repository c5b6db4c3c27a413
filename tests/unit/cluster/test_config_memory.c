// SPDX-License-Identifier: MIT
/*
 * A configuration for which there is no memory is not taken for another one, as one without a
 * picture for the worst case: each allocation fails once.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cluster/base/cluster_config.h"
#include "tap.h"

static const char text[] = "[output left]\n"
			   "stream=screen\nwidth=400\nheight=120\nrefresh=60\n"
			   "background=own.png\npanel=touch\n"
			   "[role telltale]\n"
			   "domain=open\noutput=left\nwidth=320\nheight=80\ndeadline-ms=500\n"
			   "formats=XR24, NV12\ntransform=normal, flipped\nprotection=crc64\n"
			   "fallback=own.png\n"
			   "[layer map]\n"
			   "domain=open\noutput=left\nwidth=64\nheight=48\nfallback=/own.png\n";

static unsigned calls, failing; /* the one with this number, from 1; 0: none */

static bool fails(void) {
	return ++calls == failing;
}

typedef void *malloc_func(size_t size);
typedef void *realloc_func(void *old, size_t count, size_t size);
typedef char *strdup_func(const char *string);
typedef int asprintf_func(char **result, const char *format, ...);

malloc_func __real_malloc, __wrap_malloc;
realloc_func __real_reallocarray, __wrap_reallocarray;
strdup_func __real_strdup, __wrap_strdup;
asprintf_func __wrap_asprintf;

void *__wrap_malloc(size_t size) {
	return fails() ? NULL : __real_malloc(size);
}

void *__wrap_reallocarray(void *old, size_t count, size_t size) {
	return fails() ? NULL : __real_reallocarray(old, count, size);
}

char *__wrap_strdup(const char *string) {
	return fails() ? NULL : __real_strdup(string);
}

int __wrap_asprintf(char **result, const char *format, ...) {
	va_list arguments;
	va_start(arguments, format);
	int size = fails() ? -1 : vasprintf(result, format, arguments);
	va_end(arguments);
	return size;
}

/* Returns what reading it does, where the allocation with this number fails. */
static int read_config(const char *path, unsigned number, FILE *errors) {
	struct cluster_config config;
	calls = 0;
	failing = number;
	int result = cluster_config_read(&config, path, errors);
	failing = 0;
	cluster_config_finish(&config);
	return result;
}

int main(void) {
	char path[] = "/tmp/gid-config-XXXXXX";
	int fd = mkstemp(path);
	FILE *errors = fopen("/dev/null", "we");
	if (fd < 0 || errors == NULL || write(fd, text, strlen(text)) != (ssize_t)strlen(text)) {
		tap_ok(false, "a configuration in %s: %s", path, strerror(errno));
		return tap_finish();
	}
	tap_ok(read_config(path, 0, stderr) == 0 && calls > 10, "a configuration that is right");
	unsigned count = calls;
	for (unsigned number = 1; number <= count; number++) {
		int result = read_config(path, number, errors);
		tap_ok(result < 0, "allocation %u of %u fails: %s", number, count,
				strerror(-result));
	}
	fclose(errors);
	close(fd);
	unlink(path);
	return tap_finish();
}
