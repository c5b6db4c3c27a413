// SPDX-License-Identifier: MIT
#include "confine.h"

#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/socket.h>

/*
 * Calls of the display's thread: its event loop and timers, the sockets of streams, of gidd and of
 * the status. It needs them in a sealed domain, too: it reconnects to gidd, as only gidd can unseal
 * the domain.
 */
static const int lasting_calls[] = {
		SCMP_SYS(accept4),
		SCMP_SYS(clock_gettime),
		SCMP_SYS(close),
		SCMP_SYS(connect),
		SCMP_SYS(epoll_ctl),
		SCMP_SYS(epoll_pwait),
		SCMP_SYS(epoll_wait),
		SCMP_SYS(exit),
		SCMP_SYS(exit_group),
		SCMP_SYS(fcntl),
		SCMP_SYS(fstat),
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
		SCMP_SYS(munlock),
		SCMP_SYS(munmap),
		SCMP_SYS(poll),
		SCMP_SYS(ppoll),
		SCMP_SYS(read),
		SCMP_SYS(recvfrom),
		SCMP_SYS(recvmsg),
		SCMP_SYS(restart_syscall),
		SCMP_SYS(rt_sigprocmask),
		SCMP_SYS(rt_sigreturn),
		SCMP_SYS(sched_getscheduler), /* before it unmaps memory */
		SCMP_SYS(sched_setscheduler), /* of workers, when their budgets end and begin */
		SCMP_SYS(sendmsg),
		SCMP_SYS(sendto),
		SCMP_SYS(setsockopt),
		SCMP_SYS(shutdown),
		SCMP_SYS(tgkill),
		SCMP_SYS(timerfd_settime),
		SCMP_SYS(unlink),
		SCMP_SYS(write),
		SCMP_SYS(writev),
		/* For the time limit of waiting for a dma-buf's device: */
		SCMP_SYS(rt_sigaction),
		SCMP_SYS(timer_create),
		SCMP_SYS(timer_delete),
		SCMP_SYS(timer_settime),
};

/*
 * Allowed until the domain is sealed: memory, descriptors, and the calls of helper threads that
 * start later and inherit the filter. Those close foreign descriptors, and reconnect to gidd.
 */
static const int growing_calls[] = {
		SCMP_SYS(brk),
		SCMP_SYS(cachestat), /* whether foreign memory has its pages; so mincore() below */
		SCMP_SYS(dup3),
		SCMP_SYS(epoll_create1),
		SCMP_SYS(eventfd2),
		SCMP_SYS(fallocate),
		SCMP_SYS(fstatfs),
		SCMP_SYS(ftruncate),
		SCMP_SYS(memfd_create),
		SCMP_SYS(mincore),
		SCMP_SYS(mremap),
		SCMP_SYS(newfstatat),
		SCMP_SYS(readlink),   /* what kind of file a received descriptor is */
		SCMP_SYS(readlinkat), /* instead of readlink() on some architectures */
		SCMP_SYS(seccomp),    /* for confine_sealed() */
		SCMP_SYS(socketpair),
		SCMP_SYS(timerfd_create),
		/* For helper threads: */
		SCMP_SYS(access), /* whether gidd's socket exists */
		SCMP_SYS(clock_nanosleep),
		SCMP_SYS(clone3),
		SCMP_SYS(faccessat), /* instead of access() on some architectures */
		SCMP_SYS(getdents64),
		SCMP_SYS(rseq),
		SCMP_SYS(sched_get_priority_max),
		SCMP_SYS(sched_get_priority_min),
		SCMP_SYS(sched_getparam),
		SCMP_SYS(set_robust_list),
};

/*
 * Refuses to open files for writing, with an error that does not end the process: code that tries,
 * such as the log, works without.
 */
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

/*
 * A call that is allowed with certain arguments only. Nothing is opened for writing, and no memory
 * becomes executable.
 */
struct form {
	int call;
	unsigned count;
	struct scmp_arg_cmp of[2];
};

/* Revoked memory stays mapped at its address, as zeroes, for code that still reads it. */
static const struct form lasting_forms[] = {
		{SCMP_SYS(socket), 1, {SCMP_A0(SCMP_CMP_EQ, AF_UNIX)}},
		/* Instead of unlink() on some architectures. It would delete directories, too. */
		{SCMP_SYS(unlinkat), 1, {SCMP_A2(SCMP_CMP_MASKED_EQ, AT_REMOVEDIR, 0)}},
};
static const struct form sealed_forms[] = {
		{SCMP_SYS(mmap), 1, {SCMP_A2(SCMP_CMP_EQ, PROT_NONE)}},
		{SCMP_SYS(mmap), 2,
				{SCMP_A2(SCMP_CMP_EQ, PROT_READ),
						SCMP_A3(SCMP_CMP_MASKED_EQ, MAP_FIXED, MAP_FIXED)}},
		{SCMP_SYS(mremap), 1, {SCMP_A3(SCMP_CMP_MASKED_EQ, MREMAP_FIXED, MREMAP_FIXED)}},
};

static const struct form growing_forms[] = {
		{SCMP_SYS(openat), 1, {SCMP_A2(SCMP_CMP_MASKED_EQ, O_ACCMODE, O_RDONLY)}},
		{SCMP_SYS(mmap), 1, {SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0)}},
		{SCMP_SYS(mprotect), 1, {SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0)}},
		{SCMP_SYS(prlimit64), 1, {SCMP_A2(SCMP_CMP_EQ, 0)}}, /* reads limits only */
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* --- building a filter ------------------------------------------------------------------------ */

/* Both functions set `*error` on failure, and return how many calls they allow. */
static int allow_calls(scmp_filter_ctx filter, const int *calls, size_t count, int *error) {
	for (size_t i = 0; i < count && *error == 0; i++) {
		*error = seccomp_rule_add(filter, SCMP_ACT_ALLOW, calls[i], 0);
	}
	return (int)count;
}

static int allow_forms(scmp_filter_ctx filter, const struct form *forms, size_t count, int *error) {
	for (size_t i = 0; i < count && *error == 0; i++) {
		*error = seccomp_rule_add_array(
				filter, SCMP_ACT_ALLOW, forms[i].call, forms[i].count, forms[i].of);
	}
	return (int)count;
}

static int confine(bool sealed) {
	int error = 0;
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_KILL_PROCESS);
	if (filter == NULL) {
		return -ENOMEM;
	}
	int count = allow_calls(filter, lasting_calls, COUNT(lasting_calls), &error) +
			allow_forms(filter, lasting_forms, COUNT(lasting_forms), &error);
	if (!sealed) {
		count += allow_calls(filter, growing_calls, COUNT(growing_calls), &error) +
				allow_forms(filter, growing_forms, COUNT(growing_forms), &error);
		error = error < 0 ? error : refuse_writing(filter);
	} else {
		count += allow_forms(filter, sealed_forms, COUNT(sealed_forms), &error);
		/* The process has set no_new_privs already. */
		error = error < 0 ? error : seccomp_attr_set(filter, SCMP_FLTATR_CTL_NNP, 0);
	}
	error = error < 0 ? error : seccomp_load(filter);
	seccomp_release(filter);
	return error < 0 ? error : count;
}

int confine_thread(void) {
	return confine(false);
}

int confine_sealed(void) {
	return confine(true);
}
