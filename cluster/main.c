// SPDX-License-Identifier: MIT
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include <wlr/util/log.h>

#include "closer.h"
#include "cluster_options.h"
#include "cluster_status.h"
#include "confine.h"
#include "cores.h"
#include "learn.h"
#include "log_writer.h"
#include "memory_bound.h"
#include "roles.h"
#include "sealed.h"
#include "slice.h"
#include "standard_streams.h"
#include "variable.h"
#include "way_bound.h"
#include "work_bound.h"

struct cluster {
	struct wl_event_loop *loop;
	struct display display;
	struct roles roles;
	struct cluster_status status;
	struct wl_event_source *signals[2];
	bool is_confined;
};

static const int signals[2] = {SIGINT, SIGTERM}; /* these end the process */

static void handle_log(enum wlr_log_importance importance, const char *format, va_list args) {
	static const char *const labels[] = {
			[WLR_SILENT] = "",
			[WLR_ERROR] = "[ERROR] ",
			[WLR_INFO] = "[INFO] ",
			[WLR_DEBUG] = "[DEBUG] ",
	};
	if (importance > wlr_log_get_verbosity()) {
		return;
	}
	char text[640], line[LOG_LINE_BYTES];
	struct timespec now;
	struct tm time;
	clock_gettime(CLOCK_REALTIME, &now);
	localtime_r(&now.tv_sec, &time);
	vsnprintf(text, sizeof(text), format, args);
	int size = snprintf(line, sizeof(line), "%02d:%02d:%02d.%03ld %s%s\n", time.tm_hour,
			time.tm_min, time.tm_sec, now.tv_nsec / 1000000, labels[importance], text);
	log_write(line, (size_t)size);
}

/* Frames need no page faults: heap and stack are allocated at the start, and stay. */
#define HEAP_BYTES ((size_t)16 << 20)
#define STACK_BYTES ((size_t)512 << 10)
/* The longest real-time run without a sleep; and until the kernel ends who does not hear of it. */
#define REALTIME_US 1000000
#define REALTIME_MOST_US 2000000

static void fill_heap(void) {
	mallopt(M_TRIM_THRESHOLD, INT_MAX);
	mallopt(M_MMAP_THRESHOLD, HEAP_BYTES);
	void *heap = malloc(HEAP_BYTES - 4096);
	if (heap != NULL) {
		memset(heap, 0xff, HEAP_BYTES - 4096);
		/* Keeps the compiler from removing the writes. */
		__asm__ volatile("" : : "r"(heap) : "memory");
	}
	free(heap);
}

__attribute__((noinline)) static void fill_stack(void) {
	char stack[STACK_BYTES];
	memset(stack, 0xff, sizeof(stack));
	__asm__ volatile("" : : "r"(stack) : "memory");
}

/*
 * Locks all mappings of now, code included, into memory. Later mappings are locked page by page
 * when they are first used.
 */
static int lock_memory(void) {
	fill_heap();
	fill_stack();
	return mlockall(MCL_CURRENT) < 0 || mlockall(MCL_FUTURE | MCL_ONFAULT) < 0 ? -errno : 0;
}

#define DESCRIPTORS_MAX 65536 /* used if the limit is higher */

/*
 * With several threads the kernel enlarges the table of descriptors only after a grace period
 * (RCU), which takes a refresh or two. A peer that sends many descriptors could make the display
 * wait for that, so the table has its full size from the start.
 */
static void make_room_for_descriptors(void) {
	struct rlimit limit;
	int last = DESCRIPTORS_MAX - 1;
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < DESCRIPTORS_MAX) {
		last = (int)limit.rlim_cur - 1;
	}
	int fd = eventfd(0, EFD_CLOEXEC);
	close(fcntl(fd, F_DUPFD_CLOEXEC, last));
	close(fd);
}

static int handle_signal(int number, void *data) {
	struct cluster *cluster = data;
	cluster->display.ends = true;
	return 0;
}

/* Signal handler. SIGKILL alone would look like the end of all memory. Waits for no reader. */
static void handle_overrun(int number) {
	static const char words[] =
			"gid-cluster: a thread ran for a second at real-time priority, and never "
			"slept: the machine is too slow for this configuration, or it hangs; "
			"ending, to be started again\n";
	struct pollfd room = {.fd = STDERR_FILENO, .events = POLLOUT};
	if (poll(&room, 1, 0) > 0 && (room.revents & POLLOUT) != 0) {
		(void)!write(STDERR_FILENO, words, sizeof(words) - 1);
	}
	_exit(EXIT_FAILURE);
}

/*
 * A real-time thread that never sleeps takes its processor from all others. A frame takes a few ms.
 * The limit ends the process; its service manager restarts it.
 */
static void limit_realtime(void) {
	const struct rlimit limit = {REALTIME_US, REALTIME_MOST_US};
	const struct sigaction action = {.sa_handler = handle_overrun};
	sigaction(SIGXCPU, &action, NULL);
	if (setrlimit(RLIMIT_RTTIME, &limit) < 0) {
		wlr_log(WLR_ERROR, "no limit of real time: %s", strerror(errno));
	}
}

/*
 * Real-time priority and locked memory for a display that must not stutter. Where they are not
 * permitted it runs without. Returns whether the priority is set.
 */
static bool become_realtime(int priority) {
	make_room_for_descriptors();
	int ret = lock_memory();
	if (ret < 0) {
		wlr_log(WLR_ERROR, "memory is not locked: %s", strerror(-ret));
	}
	limit_realtime();
	struct sched_param param = {.sched_priority = priority};
	if (sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &param) < 0) {
		wlr_log(WLR_ERROR, "no real-time priority: %s", strerror(errno));
		return false;
	}
	return true;
}

/* Measures first: that takes longer than a real-time thread may run. */
static void start_realtime(struct roles *roles, int priority) {
	roles_measure(roles, priority);
	if (become_realtime(priority)) {
		roles_grant_realtime(roles);
	}
}

/* The display works without confinement, too. Returns whether it is confined. */
static bool become_confined(int (*confine)(void)) {
	int ret = confine();
	if (ret < 0) {
		wlr_log(WLR_ERROR, "not confined: %s", strerror(-ret));
		return false;
	}
	wlr_log(WLR_INFO, "the display's thread is confined to %d system calls", ret);
	return true;
}

/*
 * Follows gidd's seal. The kernel does not lift a filter again: after `gidctl unseal` only a new
 * gid-cluster can start anything new.
 */
static void follow_seal(struct cluster *cluster) {
	const struct gid_domain *domain = gidd_connection_get_domain(cluster->roles.connection);
	bool on = domain != NULL && gid_domain_sealed_since(domain) != 0;
	if (on == sealed_is_on()) {
		return;
	}
	sealed_set(on);
	gid_closer_settle(on); /* our own copy of the closer; libgid has settled its own */
	wlr_log(WLR_INFO, "the domain is %s", on ? "sealed: nothing new is begun" : "unsealed");
	if (on && cluster->is_confined) {
		fill_heap(); /* libraries still allocate from it, and it cannot grow any more */
		become_confined(confine_sealed);
	} else if (cluster->is_confined) {
		wlr_log(WLR_ERROR, "confined for good: ending, to be started again");
		cluster->display.failed = cluster->display.ends = true;
	}
}

static char *status_path(const struct cluster_options *options) {
	char *path = NULL;
	if (options->status != NULL) {
		return strdup(options->status);
	}
	if (options->domain == NULL ||
			asprintf(&path, "%s/%s/cluster.sock", variable_runtime_folder(),
					options->domain) < 0) {
		return NULL;
	}
	return path;
}

static void take_status(struct status_socket *place, const struct cluster_options *options) {
	char *path = status_path(options);
	if (path == NULL) {
		bool is_named = options->status != NULL || options->domain != NULL;
		wlr_log(is_named ? WLR_ERROR : WLR_INFO, "no socket for the status: %s",
				is_named ? strerror(ENOMEM)
					 : "name the domain by --domain, or the socket by "
					   "--status");
		return;
	}
	int ret = status_socket_open(place, path);
	if (ret < 0) {
		wlr_log(WLR_ERROR, "no socket for the status: %s: %s", path, strerror(-ret));
	}
	free(path);
}

/*
 * The file with the roles' state: beside the status socket if that is ours, so that it is not the
 * state of another display. NULL: none.
 */
static char *state_path(const struct status_socket *place, const struct cluster_options *options) {
	char *path = NULL;
	if (options->state != NULL) {
		return strdup(options->state);
	}
	if (place->path == NULL || asprintf(&path, "%s.state", place->path) < 0) {
		return NULL;
	}
	return path;
}

static int cluster_init(struct cluster *cluster, const struct cluster_config *config,
		const struct cluster_options *options) {
	take_status(&cluster->status.place, options);
	char *state = state_path(&cluster->status.place, options);
	for (int i = 0; i < 2; i++) {
		cluster->signals[i] = wl_event_loop_add_signal(
				cluster->loop, signals[i], handle_signal, cluster);
	}
	int ret = display_init(&cluster->display, cluster->loop, options->headless, config,
			&roles_hooks, &cluster->roles);
	if (ret == 0) {
		ret = roles_init(
				&cluster->roles, config, &cluster->display, options->domain, state);
	}
	free(state);
	for (size_t i = 0; i < cluster->display.screen_count && ret == 0; i++) {
		ret = screen_publish(&cluster->display.screens[i], cluster->loop, options->domain);
	}
	if (ret == 0) {
		ret = display_start(&cluster->display);
	}
	if (ret == 0 && cluster->status.place.fd >= 0) {
		ret = cluster_status_start(&cluster->status, &cluster->roles);
	}
	if (ret == 0) {
		notify_ready(&cluster->roles.notify);
		wlr_log(WLR_INFO, "ready, with %zu role%s", config->role_count,
				config->role_count == 1 ? "" : "s");
	}
	return ret;
}

static int run(const struct cluster_config *config, const struct cluster_options *options) {
	struct cluster cluster = {.roles = {.timer = -1, .notify.fd = -1}};
	cluster_status_init(&cluster.status);
	cluster.loop = wl_event_loop_create();
	if (cluster.loop == NULL) {
		return -ENOMEM;
	}
	log_writer_start("gid-cluster");
	int ret = cluster_init(&cluster, config, options);
	if (ret == 0) {
		(void)slice_ask(SLICE_SHORTEST_NS);
		if (options->realtime > 0) {
			start_realtime(&cluster.roles, options->realtime);
		}
		cluster.is_confined = options->confine && become_confined(confine_thread);
		while (!cluster.display.ends) {
			wl_event_loop_dispatch(cluster.loop, -1);
			follow_seal(&cluster);
		}
		ret = cluster.display.failed ? -EIO : 0;
	} else {
		wlr_log(WLR_ERROR, "cannot start: %s",
				ret == -E2BIG ? "a frame can take too long" : strerror(-ret));
	}
	cluster_status_finish(&cluster.status);
	bool finished = roles_finish(&cluster.roles);
	display_finish(&cluster.display);
	for (int i = 0; i < 2; i++) {
		if (cluster.signals[i] != NULL) {
			wl_event_source_remove(cluster.signals[i]);
		}
	}
	wl_event_loop_destroy(cluster.loop);
	log_writer_stop();
	if (!finished) {
		_exit(ret == 0 ? EXIT_SUCCESS : EXIT_FAILURE);
	}
	return ret;
}

static const struct role_config *find_role(
		const struct cluster_config *config, const char *path, const char *name) {
	for (size_t i = 0; i < config->role_count; i++) {
		if (strcmp(config->roles[i].name, name) == 0) {
			return &config->roles[i];
		}
	}
	fprintf(stderr, "gid-cluster: %s has no [role %s]; it has:", path, name);
	for (size_t i = 0; i < config->role_count; i++) {
		fprintf(stderr, " %s", config->roles[i].name);
	}
	fprintf(stderr, "\n");
	return NULL;
}

static int run_learn(const struct cluster_config *config, const struct cluster_options *options) {
	const struct role_config *role = find_role(config, options->config, options->learn);
	char *path = NULL;
	if (role == NULL ||
			(options->output == NULL &&
					asprintf(&path, "%s.hashes", options->learn) < 0)) {
		return EXIT_FAILURE;
	}
	const struct learn_options learned = {
			.path = path != NULL ? path : options->output,
			.seconds = options->seconds,
			.like = options->like,
			.tolerance = options->tolerance,
	};
	int status = learn(role, options->domain, &learned);
	free(path);
	return status;
}

/* Whether the PNG can be shown. If not, reports it like any error of the configuration. */
static bool check_png(const char *config, unsigned line, const char *key, const char *png) {
	int error = png != NULL ? own_picture_check_png(png) : 0;
	if (error < 0) {
		fprintf(stderr, "%s:%u: %s=%s: %s\n", config, line, key, png,
				error == -EINVAL ? "no PNG that can be read" : strerror(-error));
	}
	return error == 0;
}

/* Whether all configured pictures can be shown. */
static bool check_pictures(const struct cluster_config *config, const char *path) {
	bool good = true;
	for (size_t i = 0; i < config->output_count; i++) {
		const struct output_config *output = &config->outputs[i];
		good = check_png(path, output->line, "background", output->background) && good;
	}
	for (size_t i = 0; i < config->role_count; i++) {
		const struct role_config *role = &config->roles[i];
		good = check_png(path, role->line, "fallback", role->picture) && good;
	}
	for (size_t i = 0; i < config->layer_count; i++) {
		const struct layer_config *layer = &config->layers[i];
		good = check_png(path, layer->line, "fallback", layer->picture) && good;
	}
	return good;
}

/* For a display that is started as this process is. */
static void print_cores(int priority) {
	struct cores cores;
	char text[320];
	if (cores_scan(getpid(), priority, &cores) == 0) {
		cores_describe(&cores, text, sizeof(text));
		printf("it runs on %s\n", text);
		if (cores.programs.count > 0) {
			printf("streams that are read as others run are late there: %s\n",
					CORES_REMEDY);
		}
	}
}

/* Size and rate that are not configured are known when the output is connected. */
static bool is_checked(const struct role_config *role, const struct output_config *output) {
	return output->width > 0 && output->height > 0 &&
			(output->refresh_mhz > 0 || role->limits.min_rate == 0);
}

static void print_unchecked(const struct cluster_config *config) {
	for (size_t i = 0; i < config->role_count; i++) {
		const struct role_config *role = &config->roles[i];
		const struct output_config *output = &config->outputs[role->output];
		if (!is_checked(role, output)) {
			printf("role %s: whether it is on its output, and can keep its min-rate=, is "
			       "checked where that has width=, height= and refresh=\n",
					role->name);
		}
	}
}

static int run_check(const struct cluster_config *config, int priority) {
	size_t streams = config->role_count + config->layer_count;
	struct examiner_cost *costs = calloc(streams + 1, sizeof(*costs));
	uint64_t frame_ns = 0;
	int error = costs == NULL ? -ENOMEM : work_bound_print(config, priority, costs, stdout);
	if (error == 0) {
		error = frame_bound_print(config, &frame_ns, stdout);
	}
	if (error == 0) {
		way_bound_print(config, frame_ns, costs, stdout);
		memory_bound_print(config, HEAP_BYTES + STACK_BYTES, stdout);
		print_unchecked(config);
		print_cores(priority);
	}
	if (error < 0 && error != -E2BIG) { /* the table shows that one */
		fprintf(stderr, "gid-cluster: %s\n", strerror(-error));
	}
	free(costs);
	return error == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv) {
	struct cluster_options options;
	standard_streams_init();
	cluster_options_parse(&options, argc, argv);
	/* The check reads back what is composed: that is fast from main memory. */
	setenv("WLR_RENDERER", "pixman", 0);
	wlr_log_init(options.verbose ? WLR_DEBUG : WLR_INFO, handle_log);
	struct cluster_config config;
	int status = EXIT_FAILURE;
	int error = cluster_config_read(&config, options.config, stderr);
	if (error == -ENOENT) {
		fprintf(stderr,
				"gid-cluster: write one, see gid-cluster(1), or name "
				"another with --config\n");
	}
	if (error == -ENOMEM) {
		fprintf(stderr, "gid-cluster: %s: %s\n", options.config, strerror(ENOMEM));
	}
	/* Also if there are other errors, so that all are reported at once. */
	bool has_pictures = !options.check || error == -ENOMEM ||
			check_pictures(&config, options.config);
	if (error == 0 && has_pictures) {
		if (options.check) {
			status = run_check(&config, options.realtime);
		} else if (options.learn != NULL) {
			status = run_learn(&config, &options);
		} else {
			status = run(&config, &options) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
		}
	}
	cluster_config_finish(&config);
	return status;
}
