// SPDX-License-Identifier: MIT
#include "standard_streams.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void check_output(void) {
	errno = EIO; /* the error of an earlier write is lost */
	if (fflush(stdout) == 0 && !ferror(stdout)) {
		return;
	}
	fprintf(stderr, "%s: standard output: %s\n", program_invocation_short_name,
			strerror(errno));
	_exit(EXIT_FAILURE);
}

void standard_streams_init(void) {
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) < 0) {
			open("/dev/null", O_RDWR);
		}
	}
	signal(SIGXFSZ, SIG_IGN);
	atexit(check_output);
}
