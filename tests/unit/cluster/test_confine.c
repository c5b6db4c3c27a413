// SPDX-License-Identifier: MIT
/*
 * What the kernel lets a confined thread do, and for what it ends the process. Each case is a
 * process of its own that shares its memory with this one.
 */
#include "cluster/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"

#define STACK_SIZE (1024u * 1024)
#define UNCONFINED 99
#define UNFAILED 98

enum confinement { GROWING, SEALED };

typedef int deed_function(void); /* returns what the process ends with */

static int growing_count, sealed_count;
static struct {
	enum confinement confinement;
	deed_function *deed;
} tried;

/* --- calls of libseccomp ---------------------------------------------------------------------- */

static int failing; /* the number of the call that fails, from 1; 0: none */
static int calls_left;

#define WRAPPED(type, name, ...)                                                                   \
	extern type __real_##name(__VA_ARGS__);                                                    \
	extern type __wrap_##name(__VA_ARGS__);                                                    \
	type __wrap_##name(__VA_ARGS__)

static bool fails(void) {
	return failing > 0 && --calls_left == 0;
}

WRAPPED(scmp_filter_ctx, seccomp_init, uint32_t action) {
	return fails() ? NULL : __real_seccomp_init(action);
}

WRAPPED(int, seccomp_rule_add_array, scmp_filter_ctx filter, uint32_t action, int call,
		unsigned count, const struct scmp_arg_cmp *arguments) {
	return fails() ? -ENOMEM
		       : __real_seccomp_rule_add_array(filter, action, call, count, arguments);
}

/* With one argument at the most, as confine.c has it. */
WRAPPED(int, seccomp_rule_add, scmp_filter_ctx filter, uint32_t action, int call, unsigned count,
		...) {
	struct scmp_arg_cmp argument = {0};
	va_list arguments;
	va_start(arguments, count);
	if (count > 0) {
		argument = va_arg(arguments, struct scmp_arg_cmp);
	}
	va_end(arguments);
	return fails() ? -ENOMEM
		       : __real_seccomp_rule_add_array(filter, action, call, count, &argument);
}

WRAPPED(int, seccomp_attr_set, scmp_filter_ctx filter, enum scmp_filter_attr attribute,
		uint32_t value) {
	return fails() ? -ENOMEM : __real_seccomp_attr_set(filter, attribute, value);
}

WRAPPED(int, seccomp_load, const scmp_filter_ctx filter) {
	return fails() ? -ENOMEM : __real_seccomp_load(filter);
}

/* --- processes -------------------------------------------------------------------------------- */

static int run(void *data) {
	growing_count = confine_thread();
	if (growing_count < 0) {
		_exit(UNCONFINED);
	}
	if (tried.confinement == SEALED) {
		sealed_count = confine_sealed();
		if (sealed_count < 0) {
			_exit(UNCONFINED);
		}
	}
	_exit(tried.deed());
}

/* Of a filter whose making fails at one call. Ends with 0 if that is told, and nothing is refused.
 */
static int fail(void *data) {
	calls_left = failing;
	int count = tried.confinement == SEALED ? confine_sealed() : confine_thread();
	if (calls_left > 0) {
		_exit(UNFAILED);
	}
	_exit(count == -ENOMEM && rmdir("/nowhere") < 0 && errno == ENOENT ? 0 : 1);
}

/* What wait() says of it. */
static int try_out(int (*function)(void *)) {
	int status = -1;
	char *stack = malloc(STACK_SIZE);
	pid_t pid = clone(function, stack + STACK_SIZE, CLONE_VM | CLONE_VFORK | SIGCHLD, NULL);
	if (pid < 0 || waitpid(pid, &status, 0) != pid) {
		status = -1;
	}
	free(stack);
	return status;
}

static void allowed(enum confinement confinement, deed_function *deed, const char *what) {
	tried.confinement = confinement;
	tried.deed = deed;
	int status = try_out(run);
	tap_ok(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%s%s: status %#x",
			confinement == SEALED ? "sealed: " : "", what, (unsigned)status);
}

static void ended(enum confinement confinement, deed_function *deed, const char *what) {
	tried.confinement = confinement;
	tried.deed = deed;
	int status = try_out(run);
	tap_ok(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS, "%sended for %s: status %#x",
			confinement == SEALED ? "sealed: " : "", what, (unsigned)status);
}

/* --- deeds ------------------------------------------------------------------------------------ */

static int is_not(bool well) {
	return well ? 0 : 1;
}

static int show(void) {
	char byte = 0;
	int ends[2];
	bool has_sockets = socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0;
	return is_not(has_sockets && write(ends[0], "x", 1) == 1 && read(ends[1], &byte, 1) == 1 &&
			byte == 'x' && close(ends[0]) == 0 && close(ends[1]) == 0);
}

static int look_for_gidd(void) {
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	return is_not(fd >= 0 && close(fd) == 0);
}

static int open_to_read(void) {
	int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
	return is_not(fd >= 0 && close(fd) == 0);
}

static int open_to_write(void) {
	bool refused = open("/dev/null", O_WRONLY | O_CLOEXEC) < 0 && errno == EACCES;
	return is_not(refused && open("/dev/null", O_RDWR | O_CLOEXEC) < 0 && errno == EACCES);
}

static int map(int protection) {
	void *memory = mmap(NULL, 4096, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return is_not(memory != MAP_FAILED && munmap(memory, 4096) == 0);
}

static int map_memory(void) {
	return map(PROT_READ | PROT_WRITE);
}

static int map_nothing(void) {
	return map(PROT_NONE);
}

static int map_code(void) {
	return map(PROT_READ | PROT_EXEC);
}

static int make_code(void) {
	void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return is_not(mprotect(memory, 4096, PROT_READ | PROT_EXEC) == 0);
}

static int share_memory(void) {
	int fd = memfd_create("picture", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	return is_not(fd >= 0 && ftruncate(fd, 4096) == 0 && close(fd) == 0);
}

static int call_out(void) {
	return is_not(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0) >= 0);
}

static int run_program(void) {
	/*
	 * One that is not there: any other one would end for what it maps. Not by libc's call:
	 * where lines are counted, that would write the counts.
	 */
	char *const arguments[] = {"nowhere", NULL};
	return is_not(syscall(SYS_execve, "/nowhere", arguments, NULL) == 0);
}

static int begin_process(void) {
	return is_not(syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL) >= 0);
}

static int confine_again(void) {
	return is_not(confine_thread() > 0);
}

static int delete_directory(void) {
	return is_not(rmdir("/nowhere") == 0);
}

/* As libc does it where the kernel has no unlink(), as for ARM64. */
static int delete_at(int flags) {
	return is_not(syscall(SYS_unlinkat, AT_FDCWD, "/nowhere", flags) < 0 && errno == ENOENT);
}

static int delete_file_at(void) {
	return delete_at(0);
}

static int delete_directory_at(void) {
	return delete_at(AT_REMOVEDIR);
}

static int read_link_at(void) {
	char name[64];
	return is_not(syscall(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", name, sizeof(name)) > 0);
}

/* --- all -------------------------------------------------------------------------------------- */

static void test_confined(void) {
	allowed(GROWING, show, "what is sent is received");
	allowed(GROWING, look_for_gidd, "a gidd can be looked for");
	allowed(GROWING, open_to_read, "files are read");
	allowed(GROWING, open_to_write, "files are not written, and that is told");
	allowed(GROWING, map_memory, "there is more memory");
	allowed(GROWING, share_memory, "and such as can be lent");
	allowed(GROWING, read_link_at, "a link is read by its newer call");
	allowed(GROWING, delete_file_at, "a file is deleted by its newer call");
	ended(GROWING, map_code, "code that is mapped");
	ended(GROWING, make_code, "memory that becomes code");
	ended(GROWING, call_out, "a socket of the network");
	ended(GROWING, run_program, "another program");
	ended(GROWING, begin_process, "another process");
	ended(GROWING, delete_directory, "what showing does not need");
	ended(GROWING, delete_directory_at, "a directory that is deleted by a file's call");
}

static void test_sealed(void) {
	allowed(SEALED, look_for_gidd, "a gidd can be looked for");
	allowed(SEALED, map_nothing, "memory can be taken out of use");
	allowed(SEALED, delete_file_at, "a file is deleted by its newer call");
	tap_ok(sealed_count > 0 && sealed_count < growing_count, "%d calls are left of %d",
			sealed_count, growing_count);
	ended(SEALED, open_to_read, "a file");
	ended(SEALED, map_memory, "more memory");
	ended(SEALED, share_memory, "memory to lend");
	ended(SEALED, map_code, "code that is mapped");
	ended(SEALED, confine_again, "another filter");
	ended(SEALED, call_out, "a socket of the network");
}

/* A filter that is not whole is not loaded: whichever call of its making fails, that is told. */
static void test_errors(enum confinement confinement) {
	int status, calls = 0;
	tried.confinement = confinement;
	do {
		failing = ++calls;
		status = try_out(fail);
	} while (WIFEXITED(status) && WEXITSTATUS(status) == 0 && calls < 1000);
	failing = 0;
	tap_ok(WIFEXITED(status) && WEXITSTATUS(status) == UNFAILED && calls > 40,
			"%sof %d calls none fails without a word: status %#x",
			confinement == SEALED ? "sealed: " : "", calls - 1, (unsigned)status);
}

int main(void) {
	/* Older kernels end all that share the memory of what they write a core file of. */
	prctl(PR_SET_DUMPABLE, 0);
	test_confined();
	test_sealed();
	test_errors(GROWING);
	test_errors(SEALED);
	return tap_finish();
}
