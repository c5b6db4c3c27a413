// SPDX-License-Identifier: MIT
/*
 * The server of doorbell devices with two machines that come, go, read or not, say anything, ring
 * and are rung in any order. Whatever happens, each reads a beginning of the very sequence of
 * numbers that it is to be told, and when both are gone no connection of theirs is left.
 *
 * The input is a sequence of steps of a few bytes. Sockets are made once.
 */
#include <dirent.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "doorbell.h"
#include "fuzz.h"
#include "inside.h"
#include "ivshmem_server.h"
#include "socket.h"

#define MACHINES 2
#define STEPS_MAX 400
#define POOL (GID_BELLS_POOL / MACHINES) /* of each machine, for each of two others */
#define BELLS (1 + POOL)
#define NUMBERS (3 + 4 * BELLS)

static const char cockpit[] = "[domain open]\nnumber=1\nkind=guest\nwindow=1M\n"
			      "[domain cluster]\nnumber=2\nkind=guest\nwindow=1M\n"
			      "[domain host]\nnumber=3\nkind=host\nwindow=1M\n"
			      "[share open cluster]\nstreams=*\n"
			      "[share open host]\nstreams=*\n"
			      "[share cluster host]\nstreams=*\n";

/* Version, who it is, the memory, those that it can ring, its own vectors. */
static int64_t expect(int64_t self, uint32_t index) {
	if (index < 3) {
		return index == 0 ? 0 : index == 1 ? self : -1;
	}
	index = (index - 3) / BELLS;
	return index == 0 ? 3 - self : index == 1 ? 3 : self;
}

struct machine {
	const char *name;
	int fd; /* -1: not connected */
	uint32_t read;
	bool replaced; /* it may be cut off */
	int fds[NUMBERS];
};

static struct world {
	struct config config;
	struct gidd gidd;
	struct machine machines[MACHINES];
	int idle_fds;
} world;

/* But pipes: gidd has none, and libFuzzer has some as soon as it names a function. */
static int count_fds(void) {
	int count = 0;
	DIR *folder = opendir("/proc/self/fd");
	struct dirent *entry;
	while ((entry = readdir(folder)) != NULL) {
		char target[16] = "";
		(void)!readlinkat(dirfd(folder), entry->d_name, target, sizeof(target) - 1);
		count += strncmp(target, "pipe:", 5) != 0;
	}
	closedir(folder);
	return count;
}

static void heard(struct gidd *gidd, uint32_t domain) {
	demand(gidd == &world.gidd && domain >= 1 && domain <= MACHINES);
}

static void make_world(void) {
	struct gidd *gidd = &world.gidd;
	inside_init(gidd, &world.config, cockpit, "host");
	inside_make_runtime(gidd);
	demand(ivshmem_server_open(gidd, heard, &gidd->doorbell) == 0 && gidd->doorbell != NULL);
	inside_settle(gidd);
	for (int i = 0; i < MACHINES; i++) {
		world.machines[i] = (struct machine){.name = i == 0 ? "open" : "cluster", .fd = -1};
		memset(world.machines[i].fds, -1, sizeof(world.machines[i].fds));
	}
	world.idle_fds = count_fds();
}

static void hang_up(struct machine *machine) {
	gid_socket_close_fds(&machine->fd, 1);
	gid_socket_close_fds(machine->fds, NUMBERS);
	machine->read = 0;
	machine->replaced = false;
}

static int dial(const struct machine *machine) {
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/bell/%s.sock", world.gidd.runtime,
			machine->name);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	demand(fd >= 0);
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
		close(fd); /* too many wait for the server */
		return -1;
	}
	return fd;
}

/* One number, as QEMU reads it; or the end, for who said something or was replaced. */
static void read_number(struct machine *machine) {
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	int64_t number;
	struct iovec iov = {&number, sizeof(number)};
	struct msghdr message = {.msg_iov = &iov,
			.msg_iovlen = 1,
			.msg_control = &control,
			.msg_controllen = sizeof(control)};
	ssize_t got = machine->fd < 0
			? -1
			: recvmsg(machine->fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	if (got == 0) {
		demand(machine->replaced);
		hang_up(machine);
	}
	if (got <= 0) {
		return;
	}
	demand(got == sizeof(number) && machine->read < NUMBERS);
	demand(number == expect(1 + (machine - world.machines), machine->read));
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);
	demand((header != NULL) == (machine->read >= 2));
	if (header != NULL) {
		memcpy(&machine->fds[machine->read], CMSG_DATA(header), sizeof(int));
	}
	machine->read++;
}

/* One vector is taken, or given back; and one of the machine's own rung, of any number. */
static void try_pool(uint32_t domain, uint32_t index) {
	static struct doorbell_vector taken[POOL + 1];
	static uint32_t count;
	int fd;
	if (index % 2 == 0 && count > 0) {
		doorbell_give_back(&world.gidd, &taken[--count]);
	} else if (doorbell_take(&world.gidd, domain, index % 3, &taken[count]) == 0) {
		demand(taken[count].index >= 1 && taken[count].index <= POOL);
		count += count < POOL;
	}
	if (doorbell_open_ringer(&world.gidd, domain, index, 0, &fd) == 0) {
		demand(index >= 1 && index <= POOL);
		gid_doorbell_signal(fd);
		doorbell_close_ringer(&world.gidd, domain, index, fd);
	}
}

static void step(struct input *input) {
	uint32_t what = take(input, 16);
	struct machine *machine = &world.machines[take(input, MACHINES)];
	uint32_t which = take(input, NUMBERS);
	uint32_t vector = take(input, GID_BELLS_POOL + 2);
	if (what < 2) {
		hang_up(machine);
		machine->fd = dial(machine);
	} else if (what == 2) {
		hang_up(machine);
	} else if (what == 3 && machine->fd >= 0) {
		static const uint8_t bytes[1 + NUMBERS * 9];
		(void)!send(machine->fd, bytes, 1 + which * 9, MSG_NOSIGNAL | MSG_DONTWAIT);
		machine->replaced = true;
	} else if (what == 4) {
		gid_socket_close_fds(&(int){dial(machine)}, 1); /* takes its place, for a moment */
		machine->replaced = true;
	} else if (what < 11) {
		read_number(machine);
	} else if (what < 14 && which > 2 && machine->fds[which] >= 0) {
		(void)eventfd_write(machine->fds[which], 1 + take(input, 3));
	} else if (what == 14) {
		(void)doorbell_ring(&world.gidd, which);
	} else if (what == 15) {
		try_pool(1 + (uint32_t)(machine - world.machines), vector);
	}
	if (take(input, 4) != 0) {
		inside_settle(&world.gidd);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	if (world.gidd.event == NULL) {
		make_world();
	}
	struct input input = {data, size};
	for (int i = 0; i < STEPS_MAX && input.size > 0; i++) {
		step(&input);
	}
	for (int i = 0; i < MACHINES; i++) {
		hang_up(&world.machines[i]);
	}
	inside_settle(&world.gidd);
	demand(count_fds() == world.idle_fds);
	return 0;
}
