// SPDX-License-Identifier: MIT
/* gid-engine: draws for programs of other domains, into canvases that it lends to everybody. */
#include <errno.h>
#include <gid/gid.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-event.h>

#include "canvases.h"
#include "command_line.h"
#include "device_choice.h"
#include "gidway_version.h"
#include "journal.h"
#include "log_writer.h"
#include "standard_streams.h"

#define DEFAULT_CONFIG "/etc/gidway/engine.conf"

struct options {
	const char *config, *domain;
	bool check;
};

const char *argp_program_version = "gid-engine " GIDWAY_VERSION;

#define MEMBER(member) OPTION_MEMBER(struct options, member)

static const struct option_row rows[] = {
		{OPTION_TEXT, "config", 'c', "FILE",
				"Which canvases there are (default: " DEFAULT_CONFIG ")",
				MEMBER(config)},
		{OPTION_TEXT, "domain", 'd', "NAME", OPTION_DOMAIN_HELP, MEMBER(domain)},
		{OPTION_SWITCH, "check", 'n', NULL,
				"Read the configuration, say what is wrong with it, and end",
				MEMBER(check)},
};

static const struct command_line line = {
		COMMAND_LINE_ROWS(rows),
		.help = "The 2D engine: draws and composes for programs of other domains, by lists "
			"of commands that name pictures by their gids. The configuration is read "
			"again at SIGHUP."
			"\vExit status: 0 after SIGTERM or SIGINT, or when --check found nothing "
			"wrong; 1 otherwise. See gid-engine(8).",
};

struct engine {
	struct canvases canvases;
	const char *path; /* of the configuration */
};

static void notify_ready(const struct engine *engine) {
	sd_notifyf(0, "READY=1\nSTATUS=Serving %zu canvases", engine->canvases.config.canvas_count);
}

static void notify_reloading(void) {
	sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%" PRIu64, gid_clock_now() / 1000);
}

/* All of the file is taken over, or nothing. */
static void reload(struct engine *engine, FILE *log) {
	struct engine_config config;
	int ret = engine_config_read(&config, engine->path, log);
	ret = ret == 0 ? device_check(&config, log) : ret;
	if (ret < 0) {
		fprintf(log, "gid-engine: the configuration stays as it was: see above\n");
	} else {
		ret = canvases_apply(&engine->canvases, &config);
		fprintf(log, "gid-engine: configuration read again: %d canvases begin anew%s%s\n",
				ret < 0 ? 0 : ret, ret < 0 ? ": " : "",
				ret < 0 ? strerror(-ret) : "");
	}
	engine_config_finish(&config);
}

/* Nor does this thread wait for who reads the log: it ends the program, and feeds a watchdog. */
static void log_lines(const char *text) {
	for (size_t size; *text != '\0'; text += size) {
		size = strcspn(text, "\n");
		size += text[size] == '\n';
		log_write(text, size);
	}
}

static int handle_hangup(sd_event_source *source, const struct signalfd_siginfo *info, void *data) {
	struct engine *engine = data;
	char *text = NULL;
	size_t size;
	FILE *log = open_memstream(&text, &size);
	notify_reloading();
	if (log != NULL) {
		reload(engine, log);
		fclose(log);
	}
	log_lines(text != NULL ? text
			       : "gid-engine: the configuration stays as it was: no memory\n");
	free(text);
	notify_ready(engine);
	return 0;
}

static int init_event(sd_event **event, struct engine *engine) {
	sigset_t signals;
	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGHUP);
	sigprocmask(SIG_BLOCK, &signals, NULL); /* before there are threads, which inherit it */
	int ret = sd_event_new(event);
	if (ret >= 0) {
		ret = sd_event_add_signal(*event, NULL, SIGTERM, NULL, NULL);
	}
	if (ret >= 0) {
		ret = sd_event_add_signal(*event, NULL, SIGINT, NULL, NULL);
	}
	if (ret >= 0) {
		ret = sd_event_add_signal(*event, NULL, SIGHUP, handle_hangup, engine);
	}
	if (ret >= 0) {
		ret = sd_event_set_watchdog(*event, true);
	}
	return ret < 0 ? ret : 0;
}

static int run(struct engine *engine, struct engine_config *config) {
	sd_event *event = NULL;
	int ret = init_event(&event, engine);
	if (ret == 0) {
		ret = canvases_apply(&engine->canvases, config);
	}
	if (ret >= 0) {
		notify_ready(engine);
		ret = sd_event_loop(event);
		sd_notify(0, "STOPPING=1");
	}
	canvases_finish(&engine->canvases);
	if (ret < 0) {
		char text[128];
		snprintf(text, sizeof(text), "gid-engine: %s\n", strerror(-ret));
		log_lines(text);
	}
	sd_event_unref(event);
	return ret;
}

int main(int argc, char **argv) {
	struct options options = {.config = DEFAULT_CONFIG};
	struct engine_config config;
	standard_streams_init();
	command_line_parse(&line, argc, argv, &options);
	/* Mesa's cache of compiled programs is locked by whoever uses it: any program of the same
	 * user could make all canvases wait without end. Ours are few and short. */
	setenv("MESA_SHADER_CACHE_DISABLE", "true", 0);
	int ret = engine_config_read(&config, options.config, stderr);
	if (ret == -ENOENT) {
		fprintf(stderr,
				"gid-engine: write one, see gid-engine(8), or name another with "
				"--config\n");
	}
	if (ret == 0 && !options.check) {
		ret = device_check(&config, stderr);
	}
	if (ret == 0 && !options.check) {
		struct engine engine = {.path = options.config};
		canvases_init(&engine.canvases, options.domain);
		log_writer_start(journal_has_errors() ? SD_WARNING "gid-engine" : "gid-engine");
		ret = run(&engine, &config);
		log_writer_stop();
	}
	engine_config_finish(&config);
	return ret < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
