// SPDX-License-Identifier: MIT
#include "confine.h"

#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/socket.h>

/*
 * Of the display's thread: its event loop, its timers, memory, the sockets of streams, of gidd and
 * of the status. Behind them those of helper threads that begin later and inherit this: who closes
 * what others sent, and who connects to a gidd that is back.
 */
static const int calls[] = {
		SCMP_SYS(accept4),
		SCMP_SYS(brk),
		SCMP_SYS(clock_gettime),
		SCMP_SYS(close),
		SCMP_SYS(connect),
		SCMP_SYS(dup3),
		SCMP_SYS(epoll_create1),
		SCMP_SYS(epoll_ctl),
		SCMP_SYS(epoll_pwait),
		SCMP_SYS(epoll_wait),
		SCMP_SYS(eventfd2),
		SCMP_SYS(exit),
		SCMP_SYS(exit_group),
		SCMP_SYS(fallocate),
		SCMP_SYS(fcntl),
		SCMP_SYS(fstat),
		SCMP_SYS(fstatfs),
		SCMP_SYS(ftruncate),
		SCMP_SYS(futex),
		SCMP_SYS(futex_waitv),
		SCMP_SYS(getpid),
		SCMP_SYS(getpeername),
		SCMP_SYS(getrandom),
		SCMP_SYS(getrusage),
		SCMP_SYS(getsockopt),
		SCMP_SYS(gettid),
		SCMP_SYS(ioctl),
		SCMP_SYS(lseek),
		SCMP_SYS(madvise),
		SCMP_SYS(memfd_create),
		SCMP_SYS(mremap),
		SCMP_SYS(munlock),
		SCMP_SYS(munmap),
		SCMP_SYS(newfstatat),
		SCMP_SYS(poll),
		SCMP_SYS(ppoll),
		SCMP_SYS(read),
		SCMP_SYS(readlink), /* what a lent descriptor is */
		SCMP_SYS(recvfrom),
		SCMP_SYS(recvmsg),
		SCMP_SYS(restart_syscall),
		SCMP_SYS(rt_sigprocmask),
		SCMP_SYS(rt_sigreturn),
		SCMP_SYS(sendmsg),
		SCMP_SYS(sendto),
		SCMP_SYS(setsockopt),
		SCMP_SYS(shutdown),
		SCMP_SYS(socketpair),
		SCMP_SYS(tgkill),
		SCMP_SYS(timerfd_create),
		SCMP_SYS(timerfd_settime),
		SCMP_SYS(unlink),
		SCMP_SYS(write),
		SCMP_SYS(writev),
		/* To wait for a dma-buf's device for a limited time: */
		SCMP_SYS(rt_sigaction),
		SCMP_SYS(timer_create),
		SCMP_SYS(timer_delete),
		SCMP_SYS(timer_settime),
		/* Helper threads: */
		SCMP_SYS(access), /* whether there is a gidd */
		SCMP_SYS(clock_nanosleep),
		SCMP_SYS(clone3),
		SCMP_SYS(faccessat), /* in place of access() elsewhere */
		SCMP_SYS(getdents64),
		SCMP_SYS(rseq),
		SCMP_SYS(sched_get_priority_max),
		SCMP_SYS(sched_get_priority_min),
		SCMP_SYS(sched_getparam),
		SCMP_SYS(sched_getscheduler),
		SCMP_SYS(sched_setscheduler),
		SCMP_SYS(set_robust_list),
};

/* Such as a log that could not be opened at the start, either: who tries goes on without it. */
static int refuse_writing(scmp_filter_ctx filter) {
	static const scmp_datum_t modes[] = {O_WRONLY, O_RDWR};
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		int error = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EACCES), SCMP_SYS(openat), 1,
				SCMP_A2(SCMP_CMP_MASKED_EQ, O_ACCMODE, modes[i]));
		if (error < 0) {
			return error;
		}
	}
	return 0;
}

/* Allowed in one form only: nothing is opened to be written, no memory becomes code. */
static int add_forms(scmp_filter_ctx filter) {
	const struct {
		int call;
		struct scmp_arg_cmp form;
	} forms[] = {
			{SCMP_SYS(openat), SCMP_A2(SCMP_CMP_MASKED_EQ, O_ACCMODE, O_RDONLY)},
			{SCMP_SYS(mmap), SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0)},
			{SCMP_SYS(mprotect), SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0)},
			{SCMP_SYS(socket), SCMP_A0(SCMP_CMP_EQ, AF_UNIX)},
	};
	const size_t count = sizeof(forms) / sizeof(forms[0]);
	for (size_t i = 0; i < count; i++) {
		int error = seccomp_rule_add_array(
				filter, SCMP_ACT_ALLOW, forms[i].call, 1, &forms[i].form);
		if (error < 0) {
			return error;
		}
	}
	int error = refuse_writing(filter);
	return error < 0 ? error : (int)count;
}

int confine_thread(void) {
	const size_t count = sizeof(calls) / sizeof(calls[0]);
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_KILL_PROCESS);
	if (filter == NULL) {
		return -ENOMEM;
	}
	int ret = add_forms(filter);
	for (size_t i = 0; i < count && ret >= 0; i++) {
		int error = seccomp_rule_add(filter, SCMP_ACT_ALLOW, calls[i], 0);
		ret = error < 0 ? error : ret + 1;
	}
	int error = ret < 0 ? ret : seccomp_load(filter);
	seccomp_release(filter);
	return error < 0 ? error : ret;
}
