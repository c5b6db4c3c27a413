// SPDX-License-Identifier: MIT
/*
 * gidctl doctor --assurance: what whoever builds a system must provide, as far as a program sees it
 * on this machine. What none can see is asked of people. The names are those of
 * assurance/assumptions.trlc.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "doctor.h"
#include "gidctl_display.h"
#include "variable.h"

#define SYSTEM "/sys/devices/system/"

/* The first line of a file of the kernel's; false: there is none. */
static bool read_line(const char *path, char *line, size_t size) {
	FILE *file = fopen(path, "re");
	bool read = file != NULL && fgets(line, (int)size, file) != NULL;
	if (file != NULL) {
		fclose(file);
	}
	line[read ? strcspn(line, "\n") : 0] = '\0';
	return read;
}

/* --- the domains that run here ---------------------------------------------------------------- */

/* `report`: of the domain's gidd. Returns whether there was anything to look at. */
typedef bool (*look_func)(struct doctor *doctor, const char *what, const char *domain,
		sd_json_variant *report);

static bool look_at(struct doctor *doctor, const char *what, const char *name, look_func look) {
	struct gid_domain *domain;
	sd_json_variant *report = NULL;
	if (gid_domain_connect(name, &domain) < 0) {
		return false;
	}
	bool looked = report_fetch(domain, &report) == 0 &&
			look(doctor, what, gid_domain_name(domain), report);
	sd_json_variant_unref(report);
	gid_domain_destroy(domain);
	return looked;
}

/* That which is asked, else each that runs here. */
static bool look_at_domains(struct doctor *doctor, const char *what, look_func look) {
	const char *one = doctor->options->domain;
	one = one == NULL ? variable_get("GID_DOMAIN") : one;
	if (one != NULL) {
		return look_at(doctor, what, one, look);
	}
	static char names[GID_DOMAIN_MAX][GID_NAME_MAX + 1];
	size_t count = report_find_domains(names, GID_DOMAIN_MAX);
	bool looked = false;
	for (size_t i = 0; i < count; i++) {
		looked = look_at(doctor, what, names[i], look) || looked;
	}
	return looked;
}

static void find_nothing(struct doctor *doctor, const char *what, const char *wanted) {
	doctor_find(doctor, VERDICT_WARNING, what,
			"start what is to run, and ask again as root or its user",
			"not looked at: no %s answers here", wanted);
}

static void find_elsewhere(struct doctor *doctor, const char *what, const char *domain) {
	doctor_find(doctor, VERDICT_WARNING, what, "ask again in the pid namespace that it has",
			"not looked at: gidd of domain %s is in another pid namespace", domain);
}

/* --- this kernel ------------------------------------------------------------------------------ */

#define VERSION(major, minor) ((major) * 1000u + (minor))

/* Whether machines share memory by files here. */
static bool has_windows(void) {
	char path[512];
	snprintf(path, sizeof(path), "%s/window", variable_runtime_folder());
	return access(path, F_OK) == 0;
}

static void check_kernel_version(struct doctor *doctor, const char *what) {
	struct utsname kernel;
	unsigned major = 0, minor = 0;
	bool read = uname(&kernel) == 0 && sscanf(kernel.release, "%u.%u", &major, &minor) == 2;
	bool windows = has_windows();
	unsigned wanted = windows ? VERSION(6, 2) : VERSION(5, 14);
	bool good = read && VERSION(major, minor) >= wanted;
	doctor_find(doctor, good ? VERDICT_GOOD : VERDICT_BAD, what,
			good			  ? ""
					: windows ? "machines share memory here: Linux 6.2 or later"
						  : "Linux 5.14 or later",
			"Linux %s", read ? kernel.release : "of an unknown version");
}

/* A file as a slab's is: sealed, with our own writable mapping. -1: it cannot be made. */
static int make_sealed(char **own) {
	const int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE;
	int fd = memfd_create("gidctl-doctor", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0) {
		return -1;
	}
	if (ftruncate(fd, 4096) < 0) {
		goto error_fd;
	}
	*own = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (*own == MAP_FAILED) {
		goto error_fd;
	}
	if (fcntl(fd, F_ADD_SEALS, seals) < 0) {
		goto error_own;
	}
	return fd;

error_own:
	munmap(*own, 4096);
error_fd:
	close(fd);
	return -1;
}

static bool can_be_mapped(int fd) {
	void *data = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (data != MAP_FAILED) {
		munmap(data, 4096);
	}
	return data != MAP_FAILED;
}

/* What a reader of the memory could do that it must not; NULL: nothing of what is tried. */
static const char *try_as_reader(int fd, char *own) {
	char path[32];
	const char *broken = NULL;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	int reader = open(path, O_RDONLY | O_CLOEXEC);
	char *seen = reader < 0 ? MAP_FAILED : mmap(NULL, 4096, PROT_READ, MAP_SHARED, reader, 0);
	if (seen == MAP_FAILED) {
		broken = "it cannot be mapped by a reader";
	} else if (can_be_mapped(reader) || mprotect(seen, 4096, PROT_READ | PROT_WRITE) == 0) {
		broken = "a reader's mapping can be made writable";
	} else {
		*own = 'w';
		broken = *(volatile char *)seen == 'w' ? NULL : "a reader does not see it";
	}
	if (seen != MAP_FAILED) {
		munmap(seen, 4096);
	}
	if (reader >= 0) {
		close(reader);
	}
	return broken;
}

static const char *try_sealed(int fd, char *own) {
	if (can_be_mapped(fd)) {
		return "it can be mapped writable behind its seal";
	}
	if (pwrite(fd, "x", 1, 0) > 0) {
		return "it can be written behind its seal";
	}
	if (ftruncate(fd, 0) == 0 || ftruncate(fd, 8192) == 0) {
		return "its size can be changed behind its seal";
	}
	return try_as_reader(fd, own);
}

static void check_sealed_memory(struct doctor *doctor, const char *what) {
	char *own = NULL;
	int fd = make_sealed(&own);
	const char *broken = fd < 0 ? "there is no sealed memory" : try_sealed(fd, own);
	doctor_find(doctor, broken == NULL ? VERDICT_GOOD : VERDICT_BAD, what,
			broken == NULL ? "" : "use a kernel that enforces them: a plain Linux does",
			"%s", broken == NULL ? "seals hold, and readers cannot write" : broken);
	if (fd >= 0) {
		munmap(own, 4096);
		close(fd);
	}
}

/* --- programs --------------------------------------------------------------------------------- */

static bool look_at_processors(struct doctor *doctor, const char *what, const char *domain,
		sd_json_variant *report) {
	return doctor_check_processors(doctor, domain, what, VERDICT_BAD);
}

static void check_processors(struct doctor *doctor, const char *what) {
	if (!look_at_domains(doctor, what, look_at_processors)) {
		find_nothing(doctor, what, "gid-cluster");
	}
}

static bool look_at_users(struct doctor *doctor, const char *what, const char *domain,
		sd_json_variant *report) {
	int found = doctor_check_users(doctor, report, what, VERDICT_BAD);
	if (found < 0) {
		find_elsewhere(doctor, what, domain);
	} else if (found == 0) {
		doctor_find(doctor, VERDICT_GOOD, what, "",
				"no program in domain %s runs as gidd's user", domain);
	}
	return true;
}

static void check_users(struct doctor *doctor, const char *what) {
	if (!look_at_domains(doctor, what, look_at_users)) {
		find_nothing(doctor, what, "gidd");
	}
}

/*
 * What a supervisor says to whom it watches is in the program's environment. Returns how often it
 * wants a sign of life, in us, 0: it does not, or -errno.
 */
static int64_t read_watchdog(uint64_t pid) {
	char path[48];
	snprintf(path, sizeof(path), "/proc/%llu/environ", (unsigned long long)pid);
	FILE *file = fopen(path, "re");
	if (file == NULL) {
		return -errno;
	}
	char *entry = NULL;
	size_t size = 0;
	uint64_t every = 0, whom = pid;
	bool is_told = false;
	while (getdelim(&entry, &size, '\0', file) > 0) {
		static const char key[] = "WATCHDOG_USEC=", of[] = "WATCHDOG_PID=",
				  place[] = "NOTIFY_SOCKET=";
		if (strncmp(entry, key, sizeof(key) - 1) == 0) {
			every = strtoull(entry + sizeof(key) - 1, NULL, 10);
		} else if (strncmp(entry, of, sizeof(of) - 1) == 0) {
			whom = strtoull(entry + sizeof(of) - 1, NULL, 10);
		} else if (strncmp(entry, place, sizeof(place) - 1) == 0) {
			is_told = true;
		}
	}
	free(entry);
	fclose(file);
	return is_told && whom == pid && every <= INT64_MAX ? (int64_t)every : 0;
}

static void find_supervisor(struct doctor *doctor, const char *what, const char *domain,
		const char *program, uint64_t pid) {
	int64_t every = read_watchdog(pid);
	if (every > 0) {
		doctor_find(doctor, VERDICT_GOOD, what, "",
				"%s of domain %s is watched: a sign of life within %.1f s", program,
				domain, (double)every / 1e6);
	} else if (every == 0) {
		doctor_find(doctor, VERDICT_BAD, what,
				"run it as a service, such as gidd@.service and "
				"gid-cluster@.service, with WatchdogSec= and Restart=",
				"nobody watches %s of domain %s", program, domain);
	} else {
		doctor_find(doctor, VERDICT_WARNING, what, "ask again as root or its user",
				"not looked at: %s of domain %s: %s", program, domain,
				strerror((int)-every));
	}
}

static bool look_at_supervisor(struct doctor *doctor, const char *what, const char *domain,
		sd_json_variant *report) {
	pid_t display = display_pid(domain);
	uint64_t gidd = doctor_find_gidd(report);
	if (gidd == 0) {
		find_elsewhere(doctor, what, domain);
	} else {
		find_supervisor(doctor, what, domain, "gidd", gidd);
	}
	if (display != 0) {
		find_supervisor(doctor, what, domain, "gid-cluster", (uint64_t)display);
	}
	return true;
}

static void check_supervisor(struct doctor *doctor, const char *what) {
	if (!look_at_domains(doctor, what, look_at_supervisor)) {
		find_nothing(doctor, what, "gidd");
	}
}

/* --- the configuration ------------------------------------------------------------------------ */

static bool look_at_age(struct doctor *doctor, const char *what, const char *domain,
		sd_json_variant *report) {
	doctor_note_file(doctor, report);
	doctor_check_age(doctor, report, what);
	return true;
}

static void check_configuration(struct doctor *doctor, const char *what) {
	look_at_domains(doctor, what, look_at_age);
	doctor_check_files(doctor, what);
}

/* Writes the names of guests without a disk, with commas, and returns how many guests there are. */
static unsigned list_guests(sd_json_variant *config, char *names, size_t size) {
	sd_json_variant *domain;
	unsigned guests = 0;
	names[0] = '\0';
	REPORT_FOREACH(domain, config, "domains") {
		size_t used = strlen(names);
		if (strcmp(report_text(domain, "kind"), "guest") != 0) {
			continue;
		}
		guests++;
		if (report_text(report_field(domain, "machine"), "disk")[0] == '\0') {
			snprintf(names + used, size - used, "%s%s", used > 0 ? ", " : "",
					report_text(domain, "name"));
		}
	}
	return guests;
}

static void check_disks_of(struct doctor *doctor, const char *what, const char *file) {
	static char text[1 << 20];
	char *const arguments[] = {"gidd", "--check", "--json", "--config", (char *)file, NULL};
	char names[320];
	sd_json_variant *config = NULL;
	if (doctor_run(arguments, text, sizeof(text)) != 0 ||
			sd_json_parse(text, 0, &config, NULL, NULL) < 0) {
		doctor_find(doctor, VERDICT_WARNING, what, "mend the configuration, and ask again",
				"not looked at: %s cannot be read", file);
		return;
	}
	unsigned guests = list_guests(config, names, sizeof(names));
	sd_json_variant_unref(config);
	if (names[0] == '\0') {
		doctor_find(doctor, VERDICT_GOOD, what, "", "%s: %u guests, all with a disk", file,
				guests);
		return;
	}
	doctor_find(doctor, VERDICT_WARNING, what,
			"give each guest that must be separated a vm-disk= of its own",
			"%s: these guests read folders of the host: %s", file, names);
}

/* Of the files that the one before looked at. */
static void check_disks(struct doctor *doctor, const char *what) {
	const char *file = doctor->options->config;
	if (file != NULL || doctor->file_count == 0) {
		check_disks_of(doctor, what, file != NULL ? file : DOCTOR_DEFAULT_CONFIG);
		return;
	}
	for (unsigned i = 0; i < doctor->file_count; i++) {
		char path[PATH_MAX];
		if (doctor_resolve_file(doctor, what, doctor->files[i], path)) {
			check_disks_of(doctor, what, path);
		}
	}
}

/* --- hardware --------------------------------------------------------------------------------- */

/* How many errors the controllers could not correct; `count`: how many controllers there are. */
static uint64_t read_uncorrected(unsigned *count) {
	DIR *folder = opendir(SYSTEM "edac/mc");
	struct dirent *entry;
	uint64_t errors = 0;
	*count = 0;
	while (folder != NULL && (entry = readdir(folder)) != NULL) {
		char path[512], line[32];
		snprintf(path, sizeof(path), SYSTEM "edac/mc/%s/ue_count", entry->d_name);
		if (strncmp(entry->d_name, "mc", 2) == 0 && read_line(path, line, sizeof(line))) {
			errors += strtoull(line, NULL, 10);
			++*count;
		}
	}
	if (folder != NULL) {
		closedir(folder);
	}
	return errors;
}

static void check_ecc(struct doctor *doctor, const char *what) {
	unsigned controllers;
	uint64_t errors = read_uncorrected(&controllers);
	if (controllers == 0) {
		doctor_find(doctor, VERDICT_WARNING, what,
				"look at the machine, or protect each role: protection= of "
				"gid-cluster(1)",
				"this kernel knows of no memory with error correction");
	} else if (errors > 0) {
		doctor_find(doctor, VERDICT_BAD, what, "replace the memory",
				"%llu errors were not corrected", (unsigned long long)errors);
	} else {
		doctor_find(doctor, VERDICT_GOOD, what, "",
				"%u memory controllers correct errors, and none was left",
				controllers);
	}
}

static void check_clock(struct doctor *doctor, const char *what) {
	char source[64];
	bool read = read_line(SYSTEM "clocksource/clocksource0/current_clocksource", source,
			sizeof(source));
	bool good = read && strstr(source, "jiffies") == NULL;
	doctor_find(doctor, good ? VERDICT_GOOD : VERDICT_BAD, what,
			good ? "" : "find out why the kernel gave its other clocks up: dmesg",
			"the clock of all deadlines is %s",
			read ? source : "none that the kernel names");
}

/* Faults of the processor that this kernel knows and does not keep others from. */
static void list_vulnerable(char *names, size_t size) {
	DIR *folder = opendir(SYSTEM "cpu/vulnerabilities");
	struct dirent *entry;
	names[0] = '\0';
	while (folder != NULL && (entry = readdir(folder)) != NULL) {
		char path[512], line[256];
		size_t used = strlen(names);
		snprintf(path, sizeof(path), SYSTEM "cpu/vulnerabilities/%s", entry->d_name);
		if (entry->d_name[0] != '.' && read_line(path, line, sizeof(line)) &&
				strncmp(line, "Vulnerable", 10) == 0) {
			snprintf(names + used, size - used, "%s%s", used > 0 ? ", " : "",
					entry->d_name);
		}
	}
	if (folder != NULL) {
		closedir(folder);
	}
}

static void check_side_channels(struct doctor *doctor, const char *what) {
	char names[320], smt[8];
	list_vulnerable(names, sizeof(names));
	if (names[0] != '\0') {
		doctor_find(doctor, VERDICT_BAD, what,
				"do not switch the kernel's mitigations off; update the processor's "
				"microcode",
				"the processor leaks, and this kernel does not prevent it: %s",
				names);
	} else {
		doctor_find(doctor, VERDICT_GOOD, what, "",
				"this kernel knows of no leak of the processor that it leaves open");
	}
	if (read_line(SYSTEM "cpu/smt/active", smt, sizeof(smt)) && smt[0] == '1') {
		doctor_find(doctor, VERDICT_WARNING, what,
				"switch it off (nosmt), or give no two domains one core",
				"two threads share each core and its caches");
	}
}

/* --- all of them ------------------------------------------------------------------------------ */

static const struct {
	const char *name;
	void (*check)(struct doctor *doctor, const char *what); /* NULL: no program can */
	const char *ask; /* what people have to look at; NULL: nothing more */
} assumptions[] = {
		{"Kernel_Version", check_kernel_version, NULL},
		{"Sealed_Memory_Works", check_sealed_memory, NULL},
		{"Own_Processors", check_processors, NULL},
		{"Users_Apart", check_users, NULL},
		{"Supervisor", check_supervisor, NULL},
		{"Reviewed_Configuration", check_configuration,
				"is it meant who shares what, and each deadline and picture?"},
		{"Guests_With_Disks", check_disks, NULL},
		{"Memory_With_Ecc", check_ecc, NULL},
		{"Power_And_Clock", check_clock,
				"who watches power, temperature and the clock's own quartz?"},
		{"Side_Channels", check_side_channels,
				"which secrets must not leak, and which domains share a cache?"},
		{"Trusted_Host", NULL, "does nobody but trusted programs run on the host?"},
		{"Eyes_On_The_Glass", NULL,
				"who sees it if the display shows something else than its memory?"},
};

void doctor_check_assumptions(struct doctor *doctor) {
	for (size_t i = 0; i < sizeof(assumptions) / sizeof(assumptions[0]); i++) {
		if (assumptions[i].check != NULL) {
			assumptions[i].check(doctor, assumptions[i].name);
		}
		if (assumptions[i].ask != NULL) {
			doctor_find(doctor, VERDICT_ASK, assumptions[i].name,
					"whoever builds the system has to judge that", "%s",
					assumptions[i].ask);
		}
	}
}
