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
 * Of the display's thread: its event loop and timers, the sockets of streams, of gidd and of the
 * status. It needs these also when the domain is sealed: a gidd that went away is looked for, for
 * only a gidd can say that the domain is no longer sealed.
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
		SCMP_SYS(sched_getscheduler), /* before memory is unmapped */
		SCMP_SYS(sendmsg),
		SCMP_SYS(sendto),
		SCMP_SYS(setsockopt),
		SCMP_SYS(shutdown),
		SCMP_SYS(tgkill),
		SCMP_SYS(timerfd_settime),
		SCMP_SYS(unlink),
		SCMP_SYS(write),
		SCMP_SYS(writev),
		/* To wait for a dma-buf's device for a limited time: */
		SCMP_SYS(rt_sigaction),
		SCMP_SYS(timer_create),
		SCMP_SYS(timer_delete),
		SCMP_SYS(timer_settime),
};

/*
 * And before that: memory, descriptors, and those calls of helper threads that begin later and
 * inherit this: who closes what others sent, and who connects to a gidd that is back.
 */
static const int growing_calls[] = {
		SCMP_SYS(brk),
		SCMP_SYS(cachestat), /* whether memory of others has its pages */
		SCMP_SYS(dup3),
		SCMP_SYS(epoll_create1),
		SCMP_SYS(eventfd2),
		SCMP_SYS(fallocate),
		SCMP_SYS(fstatfs),
		SCMP_SYS(ftruncate),
		SCMP_SYS(memfd_create),
		SCMP_SYS(mremap),
		SCMP_SYS(newfstatat),
		SCMP_SYS(readlink), /* what a lent descriptor is */
		SCMP_SYS(seccomp),  /* confine_sealed() */
		SCMP_SYS(socketpair),
		SCMP_SYS(timerfd_create),
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
struct form {
	int call;
	unsigned count;
	struct scmp_arg_cmp of[2];
};

/* Memory that is revoked stays mapped for who still reads there, as zeroes, in its own place. */
static const struct form lasting_forms[] = {
		{SCMP_SYS(socket), 1, {SCMP_A0(SCMP_CMP_EQ, AF_UNIX)}},
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
		{SCMP_SYS(prlimit64), 1, {SCMP_A2(SCMP_CMP_EQ, 0)}}, /* of files, and sets none */
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* --- a filter --------------------------------------------------------------------------------- */

/* These add to `*error`, which is 0 before, and count what is allowed. */
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
		/* What a filter takes of the process it has given up already. */
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
