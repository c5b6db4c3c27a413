// SPDX-License-Identifier: MIT
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "colours.h"
#include "command_line.h"
#include "config_file.h"
#include "config_json.h"
#include "gidd.h"
#include "gidway_version.h"
#include "link.h"
#include "local.h"
#include "log.h"
#include "notify.h"
#include "reload.h"
#include "remote.h"
#include "seal.h"
#include "server.h"
#include "shm_files.h"
#include "shm_window.h"
#include "standard_streams.h"
#include "truncation.h"
#include "untaken.h"
#include "users.h"
#include "variable.h"

#define DEFAULT_CONFIG "/etc/gidway/gidway.conf"
#define DEFAULT_RUNTIME "/run/gidway"
#define NS_PER_US 1000u
#define LIFE_ACCURACY_US 10000u

struct options {
	const char *config, *domain;
	bool check, json, windows;
};

const char *argp_program_version = "gidd " GIDWAY_VERSION;

#define MEMBER(member) OPTION_MEMBER(struct options, member)

static const struct option_row rows[] = {
		{OPTION_TEXT, "config", 'c', "FILE",
				"The cockpit's configuration (default: " DEFAULT_CONFIG ")",
				MEMBER(config)},
		{OPTION_TEXT, "domain", 'd', "NAME",
				"The domain to serve (default: $GID_DOMAIN, else the only one)",
				MEMBER(domain)},
		{OPTION_SWITCH, "check", 'n', NULL,
				"Read the configuration, say what is wrong with it, or what each domain may have "
				"at most, and end",
				MEMBER(check)},
		{OPTION_SWITCH, "json", 'j', NULL,
				"With --check: write the domains and their machines as JSON, of a "
				"file with mistakes what is understood",
				MEMBER(json)},
		{OPTION_SWITCH, "windows", 'w', NULL,
				"List the windows that the host's gidd makes, one a line: owner, "
				"number, bytes, file, and readers; and end",
				MEMBER(windows)},
};

static void check_options(void *data, struct argp_state *state) {
	const struct options *options = data;
	if (options->json && !options->check) {
		argp_error(state, "--json needs --check");
	}
}

static const struct command_line line = {
		COMMAND_LINE_ROWS(rows),
		.help = "The daemon of one gidway domain: decides who may share which memory and "
			"streams with whom, by the cockpit's configuration, which it reads "
			"again at SIGHUP.\v"
			"Exit status: 0 after SIGTERM or SIGINT, or when --check found nothing "
			"wrong; 2 for a wrong option, or where --domain is missing; 1 otherwise. "
			"$GID_RUNTIME_DIR takes the place of the configured "
			"runtime folder. See gidd(8) and gidway.conf(5).",
		.check = check_options,
};

static const struct config_domain *choose_domain(
		const struct config *config, const char *path, const char *name) {
	const struct config_domain *only = TAILQ_FIRST(&config->domains), *domain;
	if (name != NULL) {
		domain = config_domain_find(config, name);
		if (domain != NULL) {
			return domain;
		}
		fprintf(stderr, "gidd: %s has no [domain %s]; it has:", path, name);
	} else if (TAILQ_NEXT(only, entry) == NULL) {
		return only;
	} else {
		fprintf(stderr, "gidd: which domain? Name it with --domain; %s has:", path);
	}
	TAILQ_FOREACH(domain, &config->domains, entry) {
		fprintf(stderr, " %s", domain->name);
	}
	fprintf(stderr, "\n");
	return NULL;
}

/* --- windows ---------------------------------------------------------------------------------- */

static void print_window(const struct config *config, const struct config_window *window) {
	char name[CONFIG_WINDOW_NAME];
	const struct config_domain *reader;
	config_window_put_name(window, name);
	printf("%s %u %llu %s %s", window->owner->name, window->number,
			(unsigned long long)window->size,
			config_window_has_pages(window->owner, window->size) ? "pages" : "device",
			name);
	TAILQ_FOREACH(reader, &config->domains, entry) {
		if (domain_set_has(&window->readers, reader->number)) {
			printf(" %s", reader->name);
		}
	}
	printf("\n");
}

static int print_windows(const struct config *config, const char *runtime) {
	struct config_windows windows;
	const struct config_window *window;
	config_windows_init(&windows);
	int error = shm_files_plan(&windows, config, runtime);
	TAILQ_FOREACH(window, &windows, entry) {
		if (error == 0 && window->size > 0) {
			print_window(config, window);
		}
	}
	config_windows_finish(&windows);
	return error;
}

/* --- limits ----------------------------------------------------------------------------------- */

/* The width of a column: at least eight digits. */
static int quota_width(enum quota quota) {
	int length = (int)strlen(quota_name(quota));
	return length > 8 ? length : 8;
}

static void print_quota(enum quota quota, uint64_t most) {
	char text[24];
	bool is_memory = quota == QUOTA_MEMORY;
	snprintf(text, sizeof(text), "%llu%s", (unsigned long long)most >> (is_memory ? 20 : 0),
			is_memory ? "M" : "");
	printf(" %*s", quota_width(quota), text);
}

/* All that gidd can grant is known in advance: a sealed domain has part of it, and gets no more. */
static void print_limits(const struct config *config) {
	const struct config_domain *domain;
	uint64_t sum = 0;
	printf("%-16s", "domain");
	for (enum quota quota = 0; quota < QUOTA_COUNT; quota++) {
		printf(" %*s", quota_width(quota), quota_name(quota));
	}
	printf("\n");
	TAILQ_FOREACH(domain, &config->domains, entry) {
		bool too_much = __builtin_add_overflow(sum, domain->quota[QUOTA_MEMORY], &sum);
		sum = too_much ? UINT64_MAX : sum;
		printf("%-16s", domain->name);
		for (enum quota quota = 0; quota < QUOTA_COUNT; quota++) {
			print_quota(quota, domain->quota[quota]);
		}
		printf("\n");
	}
	printf("all domains together share at most %lluM of memory\n",
			(unsigned long long)sum >> 20);
}

static const char *choose_runtime(const struct config *config) {
	const char *runtime = variable_get("GID_RUNTIME_DIR");
	return runtime != NULL			  ? runtime
			: config->runtime != NULL ? config->runtime
						  : DEFAULT_RUNTIME;
}

/* --- running ---------------------------------------------------------------------------------- */

/* Each slab and each waiting subscription holds a descriptor. Quotas bound them, not this limit. */
static void raise_descriptor_limit(void) {
	struct rlimit limit;
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

/* A guest's window is a PCI device: nobody can truncate it. */
static void protect_windows(const struct gidd *gidd) {
	int error = truncation_forbid();
	if (error < 0 && gidd->self->kind != KIND_GUEST &&
			config_has_window(gidd->config, gidd->self)) {
		log_warning("a client of this domain can shrink the domain's window, which ends "
			    "the machines that have it: Landlock, of Linux 6.2 or later, forbids "
			    "it, but: %s",
				strerror(-error));
	}
}

/* Without /proc, as in some sandboxes, gidd still runs with fewer features. */
static void check_proc(void) {
	if (access("/proc/self/fd", X_OK) < 0) {
		log_warning("there is no /proc here, or it is not that of this process: dma-bufs "
			    "are refused, clients that have no /proc either, too, and doorbells "
			    "that ring without end stay unnoticed: mount it, as by "
			    "`mount -t proc proc /proc`");
	}
}

/*
 * Tells the service manager that gidd is alive. sd-event's own watchdog opens a socket each time.
 */
struct life {
	struct notify notify;
	sd_event_source *timer; /* NULL: no watchdog */
};

static int handle_life(sd_event_source *source, uint64_t now, void *data) {
	struct life *life = data;
	notify_alive(&life->notify, gid_clock_now());
	/* Half of the interval, as a timer can be a little late. */
	sd_event_source_set_time_relative(source, life->notify.interval_ns / NS_PER_US / 2);
	return sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

static int life_begin(struct life *life, sd_event *event) {
	*life = (struct life){0};
	notify_init(&life->notify);
	return life->notify.interval_ns == 0
			? 0
			: sd_event_add_time_relative(event, &life->timer, CLOCK_MONOTONIC, 0,
					  LIFE_ACCURACY_US, handle_life, life);
}

static void life_end(struct life *life) {
	sd_event_source_disable_unref(life->timer);
	notify_finish(&life->notify);
}

static int init_event(struct gidd *gidd) {
	sigset_t signals;
	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGHUP);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	signal(SIGPIPE, SIG_IGN); /* a closed connection to the hub gives EPIPE */
	int error = sd_event_new(&gidd->event);
	if (error >= 0) {
		error = sd_event_add_signal(gidd->event, NULL, SIGTERM, NULL, NULL);
	}
	if (error >= 0) {
		error = sd_event_add_signal(gidd->event, NULL, SIGINT, NULL, NULL);
	}
	return error < 0 ? error : 0;
}

static int run(struct gidd *gidd, struct config *config, const char *path) {
	struct server server;
	struct reload reload;
	struct life life;
	int error = init_event(gidd);
	if (error == 0) {
		error = life_begin(&life, gidd->event);
	}
	if (error < 0) {
		log_error("no event loop: %s", strerror(-error));
		goto error_event;
	}
	error = reload_init(&reload, gidd, config, path);
	if (error < 0) {
		log_error("cannot listen for SIGHUP: %s", strerror(-error));
		goto error_reload;
	}
	error = server_init(&server, gidd);
	if (error < 0) {
		goto error_reload;
	}
	error = remote_open(gidd);
	if (error == 0) {
		error = seal_init(gidd);
	}
	if (error == 0) {
		log_info("serving in %s", server.folder);
		sd_notifyf(0, "READY=1\nSTATUS=Serving domain %s", gidd->self->name);
		error = sd_event_loop(gidd->event);
		if (error < 0) {
			log_error("the event loop ends: %s", strerror(-error));
		}
		sd_notify(0, "STOPPING=1");
	}
	remote_close(gidd);
	local_close(gidd);
	shm_window_forget_all(gidd);
	server_finish(&server);
	untaken_finish();
error_reload:
	reload_finish(&reload);
	life_end(&life);
error_event:
	sd_event_unref(gidd->event);
	return error;
}

int main(int argc, char **argv) {
	struct options options = {.config = DEFAULT_CONFIG, .domain = variable_get("GID_DOMAIN")};
	standard_streams_init();
	command_line_parse(&line, argc, argv, &options);
	struct config config;
	int error = config_file_read(&config, options.config, link_kind_keys, stderr);
	if (error < 0 && error != -EINVAL) {
		if (error == -ENOENT && !options.check) {
			fprintf(stderr,
					"gidd: write one, see gidway.conf(5), or name "
					"another with --config\n");
		}
		return EXIT_FAILURE;
	}
	if (options.json) {
		config_json_write(&config, stdout);
	}
	struct gidd gidd = {.config = &config};
	if (error == 0 && options.check && !options.json && !options.windows) {
		print_limits(&config);
	}
	if (error == 0 && options.windows) {
		error = print_windows(&config, choose_runtime(&config));
	}
	bool serve = !options.check && !options.windows;
	if (error == 0 && serve) {
		gidd.self = choose_domain(&config, options.config, options.domain);
		if (gidd.self == NULL) {
			config_finish(&config);
			return options.domain == NULL ? EXIT_USAGE : EXIT_FAILURE;
		}
	}
	if (error == 0 && serve) {
		/* Each file and folder is created with the exact mode that other users need. */
		umask(S_IWGRP | S_IWOTH);
		gidd.runtime = choose_runtime(&config);
		char name[80];
		snprintf(name, sizeof(name), "gidd[%s]", gidd.self->name);
		log_init(name, LOG_LEVEL_INFO, colours_are_for(STDERR_FILENO));
		log_start_writer();
		users_find(&config, NULL, gidd.self);
		local_init(&gidd);
		remote_init(&gidd);
		raise_descriptor_limit();
		protect_windows(&gidd);
		check_proc();
		error = run(&gidd, &config, options.config);
		log_stop_writer();
	}
	config_finish(&config);
	return error < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
