// SPDX-License-Identifier: MIT
/* What is missing on this machine, and what to do about it. */
#include "doctor.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <sched.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cores.h"
#include "gidctl_display.h"
#include "gidctl_table.h"
#include "large_pages.h"
#include "trusted_path.h"
#include "variable.h"

extern char **environ;

void doctor_find(struct doctor *doctor, enum verdict verdict, const char *what, const char *remedy,
		const char *format, ...) {
	static const struct {
		const char *word;
		enum style style;
	} verdicts[] = {
			[VERDICT_GOOD] = {"ok", STYLE_GOOD},
			[VERDICT_WARNING] = {"note", STYLE_WARNING},
			[VERDICT_BAD] = {"bad", STYLE_BAD},
			[VERDICT_ASK] = {"ask", STYLE_BOLD},
	};
	char found[512];
	va_list args;
	va_start(args, format);
	vsnprintf(found, sizeof(found), format, args);
	va_end(args);
	doctor->counts[verdict]++;
	if (doctor->options->json) {
		sd_json_variant *one = NULL;
		sd_json_buildo(&one, SD_JSON_BUILD_PAIR_STRING("verdict", verdicts[verdict].word),
				SD_JSON_BUILD_PAIR_STRING("what", what),
				SD_JSON_BUILD_PAIR_STRING("found", found),
				SD_JSON_BUILD_PAIR_STRING("remedy", remedy));
		sd_json_variant_append_array(&doctor->findings, one);
		sd_json_variant_unref(one);
		return;
	}
	printf("%s%-5s%s %s: %s\n", style_begin(verdicts[verdict].style), verdicts[verdict].word,
			style_end(verdicts[verdict].style), what, found);
	if (remedy[0] != '\0') {
		printf("      %s→ %s%s\n", style_begin(STYLE_BOLD), remedy, style_end(STYLE_BOLD));
	}
	fflush(stdout);
}

/* --- other programs --------------------------------------------------------------------------- */

int doctor_run(char *const arguments[], char *output, size_t size) {
	int ends[2];
	posix_spawn_file_actions_t actions;
	pid_t pid;
	if (pipe2(ends, O_CLOEXEC) < 0) {
		return -errno;
	}
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
	int error = posix_spawnp(&pid, arguments[0], &actions, NULL, arguments, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(ends[1]);
	size_t used = 0;
	ssize_t got;
	char rest[4096];
	while (error == 0 && (got = read(ends[0], rest, sizeof(rest))) > 0) {
		size_t keep = (size_t)got < size - 1 - used ? (size_t)got : size - 1 - used;
		memcpy(output + used, rest, keep);
		used += keep;
	}
	output[used] = '\0';
	close(ends[0]);
	int status;
	if (error != 0 || waitpid(pid, &status, 0) < 0) {
		return error != 0 ? -error : -errno;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

static void first_line(char *text) {
	text[strcspn(text, "\n")] = '\0';
}

/* --- this machine ----------------------------------------------------------------------------- */

static void check_memory(struct doctor *doctor) {
	int fd = memfd_create("gidctl-doctor", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	void *data = MAP_FAILED;
	bool good = fd >= 0 && ftruncate(fd, 4096) == 0 &&
			fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0;
	if (good) {
		data = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	}
	good = good && data != MAP_FAILED && madvise(data, 4096, MADV_POPULATE_WRITE) == 0 &&
			fcntl(fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE) == 0;
	if (good) {
		doctor_find(doctor, VERDICT_GOOD, "kernel", "",
				"memfds can be sealed, and their pages allocated");
	} else {
		doctor_find(doctor, VERDICT_BAD, "kernel", "gidway needs Linux 5.14 or later",
				"no sealed memfd: %s", strerror(errno));
	}
	if (data != MAP_FAILED) {
		munmap(data, 4096);
	}
	if (fd >= 0) {
		close(fd);
	}
}

/* As for slabs. */
static void check_large_pages(struct doctor *doctor) {
	const size_t large = gid_large_page_size();
	int fd = memfd_create("gidctl-doctor", MFD_CLOEXEC);
	void *data = MAP_FAILED;
	if (fd >= 0 && ftruncate(fd, (off_t)large) == 0) {
		data = gid_large_map(large, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	}
	if (data != MAP_FAILED && gid_large_make(data, large) == large) {
		doctor_find(doctor, VERDICT_GOOD, "large pages", "",
				"the kernel gives them: slabs are made of pages of %zu KiB",
				large >> 10);
	} else {
		doctor_find(doctor, VERDICT_WARNING, "large pages",
				"Linux 6.1 or later, and not `deny` in "
				"/sys/kernel/mm/transparent_hugepage/shmem_enabled",
				"the kernel gives none, so slabs take longer to make and to map: %s",
				strerror(errno));
	}
	if (data != MAP_FAILED) {
		munmap(data, large);
	}
	if (fd >= 0) {
		close(fd);
	}
}

static void check_limits(struct doctor *doctor) {
	struct rlimit files;
	if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < 256) {
		doctor_find(doctor, VERDICT_WARNING, "limits",
				"ulimit -n 1024, or LimitNOFILE= of the unit",
				"a process may have %llu descriptors; each slab takes one",
				(unsigned long long)files.rlim_cur);
	} else {
		doctor_find(doctor, VERDICT_GOOD, "limits", "",
				"a process may have %llu descriptors",
				(unsigned long long)files.rlim_cur);
	}
	struct rlimit memory;
	if (getrlimit(RLIMIT_AS, &memory) == 0 && memory.rlim_cur != RLIM_INFINITY) {
		doctor_find(doctor, VERDICT_WARNING, "limits", "ulimit -v unlimited",
				"a process may map %llu MiB only; imported slabs count",
				(unsigned long long)memory.rlim_cur >> 20);
	}
}

static void check_dmabuf(struct doctor *doctor) {
	if (access("/dev/udmabuf", R_OK | W_OK) == 0) {
		doctor_find(doctor, VERDICT_GOOD, "dma-buf", "", "/dev/udmabuf can be used");
	} else {
		doctor_find(doctor, VERDICT_WARNING, "dma-buf",
				"only needed to make dma-bufs of memfds: modprobe udmabuf, and "
				"permission to open it",
				"/dev/udmabuf: %s", strerror(errno));
	}
}

/* --- gidway's own parts ----------------------------------------------------------------------- */

static void check_file(struct doctor *doctor, const char *what, const char *file) {
	char output[1024];
	char *const arguments[] = {"gidd", "--check", "--config", (char *)file, NULL};
	if (access(file, R_OK) < 0) {
		doctor_find(doctor, VERDICT_BAD, what,
				"write one, see gidway.conf(5), or name another with --config",
				"%s: %s", file, strerror(errno));
		return;
	}
	int status = doctor_run(arguments, output, sizeof(output));
	if (status == 0) {
		doctor_find(doctor, VERDICT_GOOD, what, "", "%s", file);
	} else if (status < 0) {
		doctor_find(doctor, VERDICT_BAD, what, "install gidd, or add it to PATH",
				"gidd cannot be started: %s", strerror(-status));
	} else {
		first_line(output);
		doctor_find(doctor, VERDICT_BAD, what,
				"gidd --check --config FILE lists all mistakes", "%s", output);
	}
}

/*
 * A gidd may have been taken over, and say what it likes to a doctor that root calls: a pipe, a
 * device, or what becomes one while we look.
 */
bool doctor_resolve_file(
		struct doctor *doctor, const char *what, const char *said, char file[PATH_MAX]) {
	char part[PATH_MAX];
	struct stat status;
	if (realpath(said, file) == NULL || lstat(file, &status) < 0) {
		snprintf(file, PATH_MAX, "%s", said);
		return true;
	}
	if (S_ISREG(status.st_mode) &&
			(geteuid() != 0 || path_is_trusted(file, part, sizeof(part)))) {
		return true;
	}
	doctor_find(doctor, VERDICT_WARNING, what, "name it with --config, if it is the right one",
			"%s is not looked at: it is no file, or others than root can change it",
			said);
	return false;
}

void doctor_check_files(struct doctor *doctor, const char *what) {
	if (doctor->options->config != NULL) {
		check_file(doctor, what, doctor->options->config);
		return;
	}
	if (doctor->file_count == 0) {
		check_file(doctor, what, DOCTOR_DEFAULT_CONFIG);
	}
	for (unsigned i = 0; i < doctor->file_count; i++) {
		char file[PATH_MAX];
		if (doctor_resolve_file(doctor, what, doctor->files[i], file)) {
			check_file(doctor, what, file);
		}
	}
}

void doctor_note_file(struct doctor *doctor, sd_json_variant *report) {
	const char *file = report_text(report_field(report, "configuration"), "file");
	for (unsigned i = 0; i < doctor->file_count; i++) {
		if (strcmp(doctor->files[i], file) == 0) {
			return;
		}
	}
	char *copy = file[0] != '\0' && doctor->file_count < DOCTOR_FILES_MAX ? strdup(file) : NULL;
	if (copy != NULL) {
		doctor->files[doctor->file_count++] = copy;
	}
}

/* A word of a command that people type as they see it: another one's may do what it likes. */
static const char *word(const char *said, const char *instead) {
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "/-_.,:+@%";
	bool is_plain = said[0] != '\0' && said[0] != '-' && strspn(said, plain) == strlen(said);
	return is_plain ? said : instead;
}

/* An edit does nothing before it is read. */
void doctor_check_age(struct doctor *doctor, sd_json_variant *report, const char *what) {
	sd_json_variant *configuration = report_field(report, "configuration");
	sd_json_variant *newer = report_field(configuration, "is_newer");
	char remedy[512];
	if (newer == NULL || !sd_json_variant_boolean(newer)) {
		return;
	}
	const char *file = report_text(configuration, "file");
	snprintf(remedy, sizeof(remedy), "gid-cockpit --config %s reload", word(file, "FILE"));
	doctor_find(doctor, VERDICT_WARNING, what, remedy, "%s is newer than what gidd read", file);
}

/* It knows us by our own pid only where it is in our pid namespace. */
uint64_t doctor_find_gidd(sd_json_variant *report) {
	sd_json_variant *client;
	REPORT_FOREACH(client, report, "clients") {
		if (report_number(client, "pid") == (uint64_t)getpid()) {
			return report_number(report, "pid");
		}
	}
	return 0;
}

/*
 * A gidd knows the one at the other end of a local link by its user alone: a program of that user
 * may take its place.
 */
int doctor_check_users(struct doctor *doctor, sd_json_variant *report, const char *what,
		enum verdict verdict) {
	char path[32];
	struct stat gidd;
	sd_json_variant *link, *client;
	bool is_local = false;
	REPORT_FOREACH(link, report, "links") {
		is_local = is_local || strcmp(report_text(link, "kind"), "local") == 0;
	}
	if (!is_local) {
		return 0;
	}
	snprintf(path, sizeof(path), "/proc/%llu", (unsigned long long)doctor_find_gidd(report));
	if (stat(path, &gidd) < 0) {
		return -errno;
	}
	REPORT_FOREACH(client, report, "clients") {
		if (report_number(client, "uid") == gidd.st_uid &&
				report_number(client, "pid") != (uint64_t)getpid()) {
			doctor_find(doctor, verdict, what,
					"run gidd as a user of its own, and its programs as others",
					"%s runs as gidd's own user (uid %u): such programs may "
					"take a link over",
					report_text(client, "program"), (unsigned)gidd.st_uid);
			return 1;
		}
	}
	return 0;
}

/* Where programs of several users are there, who may read what others type? root may anyway. */
static void check_input(struct doctor *doctor, sd_json_variant *report, const char *name) {
	sd_json_variant *open = sd_json_variant_by_key(report, "input_is_open"), *client;
	uint64_t first = 0;
	bool several = false;
	REPORT_FOREACH(client, report, "clients") {
		uint64_t user = report_number(client, "uid");
		if (user != 0 && report_number(client, "pid") != (uint64_t)getpid()) {
			several = several || (first != 0 && user != first);
			first = user;
		}
	}
	if (several && open != NULL && sd_json_variant_is_boolean(open) &&
			sd_json_variant_boolean(open)) {
		doctor_find(doctor, VERDICT_WARNING, name,
				"say by read= of [client DOMAIN *] what any user may read, and who "
				"may more in sections of their own",
				"programs of any user may read what others type and copy: streams "
				"input/* and clipboard/*");
	}
}

static void check_links(struct doctor *doctor, struct gid_domain *domain, const char *name) {
	sd_json_variant *report, *link;
	if (report_fetch(domain, &report) < 0) {
		doctor_find(doctor, VERDICT_BAD, name, "look at gidd's log",
				"gidd gives no report");
		return;
	}
	REPORT_FOREACH(link, report, "links") {
		const char *other = report_text(link, "domain");
		char remedy[256];
		if (strcmp(report_text(link, "state"), "up") == 0) {
			doctor_find(doctor, VERDICT_GOOD, name, "", "the link to %s is up", other);
			continue;
		}
		snprintf(remedy, sizeof(remedy),
				"start its gidd: gid-cockpit --config %s up %s, or gidd --config "
				"FILE --domain %s",
				word(report_text(report_field(report, "configuration"), "file"),
						"FILE"),
				word(other, "DOMAIN"), word(other, "DOMAIN"));
		doctor_find(doctor, VERDICT_WARNING, name, remedy, "the link to %s is down: %s",
				other, report_text(link, "why"));
	}
	if (sd_json_variant_is_boolean(sd_json_variant_by_key(report, "safety_is_open")) &&
			sd_json_variant_boolean(sd_json_variant_by_key(report, "safety_is_open"))) {
		doctor_find(doctor, VERDICT_WARNING, name,
				"allow it by publish= of a [client DOMAIN USER], and not by that "
				"of [client DOMAIN *]",
				"any program of the domain may publish streams safety/*");
	}
	check_input(doctor, report, name);
	doctor_note_file(doctor, report);
	doctor_check_age(doctor, report, name);
	doctor_check_users(doctor, report, name, VERDICT_WARNING);
	sd_json_variant_unref(report);
}

bool doctor_check_processors(
		struct doctor *doctor, const char *domain, const char *what, enum verdict verdict) {
	struct sched_param param = {0};
	struct cores cores;
	char text[320];
	pid_t pid = display_pid(domain);
	if (pid == 0 || sched_getparam(pid, &param) < 0 ||
			cores_scan(pid, param.sched_priority, &cores) < 0) {
		return false;
	}
	cores_describe(&cores, text, sizeof(text));
	bool good = cores.programs.count == 0 && cores.before.count == 0;
	doctor_find(doctor, good ? VERDICT_GOOD : verdict, what, good ? "" : CORES_REMEDY,
			"gid-cluster runs on %s", text);
	return true;
}

static void check_domain(struct doctor *doctor, const char *name) {
	struct gid_domain *domain;
	int error = gid_domain_connect(name, &domain);
	char what[96], remedy[256] = "";
	snprintf(what, sizeof(what), "domain %s", name);
	if (error == 0) {
		doctor_find(doctor, VERDICT_GOOD, what, "", "gidd answers, number %u",
				gid_domain_number(domain));
		check_links(doctor, domain, what);
		doctor_check_processors(doctor, gid_domain_name(domain), what, VERDICT_WARNING);
		gid_domain_destroy(domain);
		return;
	}
	if (error == -EACCES || error == -EPERM) {
		snprintf(remedy, sizeof(remedy),
				"set group= of the domain in the configuration, and join that group");
	} else if (error == -ECONNREFUSED || error == -ENOENT) {
		snprintf(remedy, sizeof(remedy),
				"gid-cockpit --config FILE up %s, systemctl start gidd@%s, or gidd "
				"--config FILE --domain %s",
				name, name, name);
	}
	doctor_find(doctor, VERDICT_BAD, what, remedy, "%s", gid_domain_connect_error());
}

/* Windows are files in it: on a disk, each page that is written to them is written there, too. */
static void check_runtime(struct doctor *doctor, const char *runtime) {
	struct statfs status;
	char windows[512];
	snprintf(windows, sizeof(windows), "%s/window", runtime);
	bool has_windows = access(windows, F_OK) == 0;
	if (statfs(runtime, &status) < 0) {
		return;
	}
	const unsigned int type = (unsigned int)status.f_type;
	if (type == TMPFS_MAGIC || type == RAMFS_MAGIC) {
		doctor_find(doctor, VERDICT_GOOD, "runtime folder", "", "%s is in memory", runtime);
	} else if (has_windows) {
		doctor_find(doctor, VERDICT_WARNING, "runtime folder",
				"choose one in memory, such as runtime=/run/gidway",
				"%s is on a disk, so all memory that machines share is written to it",
				runtime);
	}
}

/* Each folder of the runtime folder in which a gidd has been. */
static unsigned check_all_domains(struct doctor *doctor, DIR *folder, const char *runtime) {
	struct dirent *entry;
	unsigned count = 0;
	while ((entry = readdir(folder)) != NULL) {
		char path[512];
		snprintf(path, sizeof(path), "%s/%s/link/gidd.lock", runtime, entry->d_name);
		if (gid_name_is_valid(entry->d_name) && access(path, F_OK) == 0) {
			check_domain(doctor, entry->d_name);
			count++;
		}
	}
	return count;
}

static void check_domains(struct doctor *doctor) {
	const char *runtime = variable_runtime_folder(),
		   *start = "start them: gid-cockpit --config FILE up";
	const char *name = doctor->options->domain;
	bool is_set = variable_get("GID_RUNTIME_DIR") != NULL;
	const char *unset = is_set ? "" : ", and GID_RUNTIME_DIR is not set";
	name = name == NULL ? variable_get("GID_DOMAIN") : name;
	if (name != NULL) {
		check_domain(doctor, name);
		return;
	}
	DIR *folder = opendir(runtime);
	if (folder == NULL && errno == ENOENT) {
		doctor_find(doctor, VERDICT_BAD, "domains", start,
				"none runs here: there is no %s%s", runtime, unset);
		return;
	}
	if (folder == NULL) {
		doctor_find(doctor, VERDICT_BAD, "runtime folder",
				"get permission to read it, or set GID_RUNTIME_DIR to another",
				"%s: %s%s", runtime, strerror(errno), unset);
		return;
	}
	check_runtime(doctor, runtime);
	if (check_all_domains(doctor, folder, runtime) == 0) {
		doctor_find(doctor, VERDICT_BAD, "domains", start, "none has run in %s%s", runtime,
				unset);
	}
	closedir(folder);
}

/* --- what gidway plugs into ------------------------------------------------------------------- */

static void check_gstreamer(struct doctor *doctor) {
	static const char *const elements[] = {"gidsink", "gidsrc"};
	for (size_t i = 0; i < 2; i++) {
		char output[256];
		char *const arguments[] = {
				"gst-inspect-1.0", "--exists", (char *)elements[i], NULL};
		int status = doctor_run(arguments, output, sizeof(output));
		if (status == 0) {
			doctor_find(doctor, VERDICT_GOOD, "GStreamer", "", "%s is found",
					elements[i]);
		} else if (status < 0) {
			doctor_find(doctor, VERDICT_WARNING, "GStreamer",
					"only needed for gidsink and gidsrc: install "
					"gstreamer1.0-tools",
					"gst-inspect-1.0: %s", strerror(-status));
			return;
		} else {
			doctor_find(doctor, VERDICT_WARNING, "GStreamer",
					"set GST_PLUGIN_PATH to the folder of libgstgid.so",
					"%s is not found", elements[i]);
		}
	}
}

/* Weston looks into its own module folder, after WESTON_MODULE_MAP=name=path;… */
static void check_weston(struct doctor *doctor) {
	const char *map = getenv("WESTON_MODULE_MAP"), *key = "gid-buffer.so=";
	const char *at = map == NULL ? NULL : strstr(map, key);
	char path[512] = WESTON_MODULE_DIR "/gid-buffer.so";
	if (at != NULL) {
		at += strlen(key);
		snprintf(path, sizeof(path), "%.*s", (int)strcspn(at, ";"), at);
	}
	if (access(path, R_OK) == 0) {
		doctor_find(doctor, VERDICT_GOOD, "Weston", "", "%s", path);
	} else {
		doctor_find(doctor, VERDICT_WARNING, "Weston",
				"only needed for Weston: set WESTON_MODULE_MAP=gid-buffer.so=PATH, "
				"or build with the prefix that Weston has",
				"%s: %s", path, strerror(errno));
	}
}

void doctor_check_machine(struct doctor *doctor) {
	check_memory(doctor);
	check_large_pages(doctor);
	check_limits(doctor);
	check_domains(doctor);
	doctor_check_files(doctor, "configuration");
	check_gstreamer(doctor);
	check_weston(doctor);
	check_dmabuf(doctor);
}
