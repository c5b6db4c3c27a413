// SPDX-License-Identifier: MIT
#include "log_writer.h"

#include <poll.h>
#include <unistd.h>

bool log_write(const char *line, size_t size) {
	struct pollfd out = {.fd = STDERR_FILENO, .events = POLLOUT};
	return poll(&out, 1, 0) == 1 && (out.revents & POLLOUT) != 0 &&
			write(STDERR_FILENO, line, size) >= 0;
}
