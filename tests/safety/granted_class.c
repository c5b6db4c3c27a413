// SPDX-License-Identifier: MIT
/*
 * To be preloaded: whoever asks for a class of scheduling gets it, as far as it can see. Each
 * request is written to the file GRANTED_CLASS: the thread, whether it is the first, the class and
 * the priority.
 */
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

int sched_setscheduler(pid_t pid, int policy, const struct sched_param *param) {
	const char *path = getenv("GRANTED_CLASS");
	int fd = path != NULL ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
	if (fd >= 0) {
		pid_t thread = (pid_t)syscall(SYS_gettid);
		dprintf(fd, "%d %s %d %d\n", thread, thread == getpid() ? "first" : "other",
				policy & ~SCHED_RESET_ON_FORK, param->sched_priority);
		close(fd);
	}
	return 0;
}
