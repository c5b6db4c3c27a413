// SPDX-License-Identifier: MIT
/*
 * Does not use sd-json, which only takes UTF-8: file names can be any bytes. They are written as
 * they are in the file.
 */
#include "config_json.h"

/* The reader of the file refuses control characters other than tabs. */
static void write_text(FILE *out, const char *text) {
	if (text == NULL) {
		fputs("null", out);
		return;
	}
	fputc('"', out);
	for (; *text != '\0'; text++) {
		if (*text == '"' || *text == '\\') {
			fputc('\\', out);
		}
		if ((unsigned char)*text < ' ') {
			fprintf(out, "\\u%04x", (unsigned)*text);
		} else {
			fputc(*text, out);
		}
	}
	fputc('"', out);
}

static void write_member(FILE *out, const char *name, const char *text) {
	fprintf(out, ", \"%s\": ", name);
	write_text(out, text);
}

static void write_machine(const struct config_machine *machine, FILE *out) {
	static const char *const accels[] = {
			[ACCEL_AUTO] = "auto", [ACCEL_KVM] = "kvm", [ACCEL_TCG] = "tcg"};
	static const char *const archs[] = {
			[ARCH_OWN] = "own", [ARCH_ARM64] = "arm64", [ARCH_ARM64_16K] = "arm64-16k"};
	fprintf(out, ", \"machine\": {\"memory\": %llu, \"cpus\": %u, \"width\": %u, \"height\": %u",
			(unsigned long long)machine->memory, machine->cpus, machine->width,
			machine->height);
	write_member(out, "accel", accels[machine->accel]);
	write_member(out, "arch", archs[machine->arch]);
	write_member(out, "disk", machine->disk);
	write_member(out, "kernel", machine->kernel);
	write_member(out, "initrd", machine->initrd);
	write_member(out, "append", machine->append);
	write_member(out, "options", machine->options);
	fputc('}', out);
}

static void write_container(const struct config_container *container, FILE *out) {
	fputs(", \"container\": {\"image\": ", out);
	write_text(out, container->image);
	write_member(out, "command", container->command);
	write_member(out, "options", container->options);
	fputc('}', out);
}

static void write_domain(
		const struct config *config, const struct config_domain *domain, FILE *out) {
	static const char *const kinds[] = {[KIND_LOCAL] = "local",
			[KIND_CONTAINER] = "container",
			[KIND_HOST] = "host",
			[KIND_GUEST] = "guest"};
	static const char *const window_kinds[] = {
			[WINDOW_IVSHMEM] = "ivshmem", [WINDOW_DAX] = "dax", [WINDOW_AUTO] = "auto"};
	const struct config_domain *other;
	const char *between = "";
	fprintf(out, "{\"number\": %u, \"doorbell\": %s", domain->number,
			domain->doorbell ? "true" : "false");
	write_member(out, "name", domain->name);
	write_member(out, "user", domain->user);
	write_member(out, "kind", kinds[domain->kind]);
	write_member(out, "window-kind", window_kinds[domain->window_kind]);
	fputs(", \"joined\": [", out);
	TAILQ_FOREACH(other, &config->domains, entry) {
		if (config_is_pair(config, domain, other)) {
			fputs(between, out);
			write_text(out, other->name);
			between = ", ";
		}
	}
	fputc(']', out);
	write_machine(&domain->machine, out);
	write_container(&domain->container, out);
	fputc('}', out);
}

void config_json_write(const struct config *config, FILE *out) {
	const struct config_domain *domain;
	const char *between = "";
	fputs("{\"domains\": [", out);
	TAILQ_FOREACH(domain, &config->domains, entry) {
		fputs(between, out);
		write_domain(config, domain, out);
		between = ", ";
	}
	fputc(']', out);
	write_member(out, "runtime", config->runtime);
	fputs("}\n", out);
}
