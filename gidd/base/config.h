// SPDX-License-Identifier: MIT
/**
 * The cockpit's configuration: one INI file that describes all domains, gidway.conf(5).
 *
 * Constant but for config_update(). Pure: reads text, touches nothing else.
 */
#ifndef GIDD_CONFIG_H
#define GIDD_CONFIG_H

#include <gid/gid.h>
#include <stdio.h>
#include <sys/queue.h>
#include <sys/types.h>

#include "key_table.h"

/* What a domain, and each client in it, may have at most. */
enum quota {
	QUOTA_MEMORY, /* bytes of slabs exported */
	QUOTA_PIECES, /* of windows: a request for memory walks over all of them */
	QUOTA_SLABS,
	QUOTA_STREAMS,
	QUOTA_SUBSCRIPTIONS,
	QUOTA_HELD, /* frames: the credit of all subscriptions together */
	QUOTA_CLIENTS,
	QUOTA_COUNT,
};

/* The key of a quota in the file, "memory"; that of each client's is "client-memory". */
const char *quota_name(enum quota quota);

#define CONFIG_USER_MAX 255u /* bytes of a user's name, as of those that systems know */
#define CONFIG_GLOB_MAX 255u /* bytes of one glob: longer ones are mistakes of the file */

/* A space-separated list of globs for stream names, in the order of the file. */
struct config_globs {
	char *text;
};

/* Where a domain runs. */
enum config_kind {
	KIND_LOCAL,	/* beside the host's programs, on one kernel with them */
	KIND_CONTAINER, /* the same, but that its programs are in a container; gidd is not */
	KIND_HOST,	/* the host itself: its gidd is the hub of the guests */
	KIND_GUEST,	/* a machine of its own */
};

/* How a guest sees its own windows in which streams can lie. Readers see them as PCI devices. */
enum config_window_kind {
	WINDOW_IVSHMEM, /* a PCI device, whose memory has no pages in the guest's kernel */
	WINDOW_DAX,	/* an NVDIMM, whose has: devices capture into it */
	WINDOW_AUTO,	/* an NVDIMM where that can be */
};

/* How QEMU runs a guest. */
enum config_accel {
	ACCEL_AUTO, /* by KVM if that works */
	ACCEL_KVM,
	ACCEL_TCG,
};

/* Whose programs a guest runs, by Debian's names of its kernels. */
enum config_arch {
	ARCH_OWN, /* the host's */
	ARCH_ARM64,
	ARCH_ARM64_16K, /* with pages of 16 KiB */
};

/*
 * The machine of a guest, for the program that starts it: gidd does not use it. Texts may be NULL.
 */
struct config_machine {
	uint64_t memory; /* bytes */
	uint32_t cpus;
	enum config_accel accel;
	enum config_arch arch;
	uint32_t width, height; /* of its screen in pixels, 0: it has none */
	char *disk, *kernel, *initrd, *append, *options;
};

/* How a container is started, likewise for the program that starts it. Texts may be NULL. */
struct config_container {
	char *image, *command, *options;
};

struct config_domain {
	TAILQ_ENTRY(config_domain) entry, of_name;
	char name[GID_NAME_MAX + 1];
	uint32_t number;
	uint64_t quota[QUOTA_COUNT];	    /* of the whole domain */
	uint64_t client_quota[QUOTA_COUNT]; /* of each of its clients */
	struct config_globs local; /* streams that may be published for the domain itself */
	uint32_t seal_s; /* seconds after its gidd's start the domain is sealed, 0: by command */
	char *user;	 /* whose gidd may come in as this domain, NULL: the same user, or root */
	enum config_kind kind;
	uint64_t window; /* bytes of the memory that it shares with other machines */
	enum config_window_kind window_kind;
	bool doorbell; /* whether a guest has a doorbell device */
	bool direct;   /* whether its programs use that device directly, past their gidd */
	/* The device of its window on this system; NULL: found automatically. */
	char *window_device;
	char *control; /* the guest's way to the hub, NULL: the usual place */
	struct config_machine machine;
	struct config_container container;
	char *group; /* who may connect to the domain's gidd, NULL: its user alone */
	unsigned line;
	unsigned number_line; /* of number=, also of one that is none; 0: there is no such line */
	unsigned machine_line, container_line; /* of the first key vm-, container-; 0: none */
};

/* `reader` may read owner's memory and these of its streams. */
struct config_share {
	TAILQ_ENTRY(config_share) entry, of_owner;
	char owner_name[GID_NAME_MAX + 1], reader_name[GID_NAME_MAX + 1];
	const struct config_domain *owner, *reader;
	struct config_globs streams;
	uint64_t held; /* frames that the reader may hold, over all streams of the share */
	unsigned line;
};

#define CONFIG_NOBODY ((uid_t) - 1)

/* What the programs of one user may do in a domain, or those of all users that have no section. */
struct config_client {
	TAILQ_ENTRY(config_client) entry;
	char domain_name[GID_NAME_MAX + 1];
	char user[CONFIG_USER_MAX + 1]; /* a name or a number; "*": all others */
	uid_t uid; /* as users.h found it; CONFIG_NOBODY: there is none, or of all others */
	const struct config_domain *domain;
	struct config_globs publish; /* of what the domain may publish; no text: all of it */
	struct config_globs read;    /* of what the domain may read; likewise */
	bool import;		     /* slabs and streams of other domains */
	bool status;		     /* the report of all that gidd knows */
	uint64_t quota[QUOTA_COUNT]; /* of all programs of a user together */
	unsigned line;
};

/* A line of a link's section, for the link's kind. */
struct config_setting {
	TAILQ_ENTRY(config_setting) entry;
	char *key, *value;
	unsigned line;
};

/* What the section of a link of some kind may have, besides the pair of domains. */
struct config_link_keys {
	struct ini_key_table table; /* begins with CONFIG_LINK_KIND */
	size_t size;		    /* of the structure that its rows fill, all zero before */
};

/* The row of what chooses the table. */
#define CONFIG_LINK_KIND {.name = "kind"}

/* NULL: there is no such kind. */
typedef const struct config_link_keys *(*config_link_keys_func)(const char *kind);

/* How two domains are joined. A pair of domains that share something without one: kind local. */
struct config_link {
	TAILQ_ENTRY(config_link) entry;
	char names[2][GID_NAME_MAX + 1];
	const struct config_domain *ends[2];
	char *kind; /* of link */
	TAILQ_HEAD(, config_setting) lines;
	void *settings; /* what they say, as config_link_keys has it; NULL: they say nothing */
	unsigned line;
};

/* Streams that were revoked from a reader at run time, until the file is read again. */
struct config_withdrawal {
	TAILQ_ENTRY(config_withdrawal) entry;
	const struct config_domain *owner, *reader; /* NULL: all others */
	char streams[GID_NAME_MAX + 1];		    /* a name, or a pattern */
};

/* Identifies a version of a file; all 0 if it was not read from a path. */
struct config_file_mark {
	uint64_t device, inode, size, changed_ns;
};

/* A list for each remainder of a hash of the names. */
#define CONFIG_NAME_LISTS 256u

TAILQ_HEAD(config_domains, config_domain);
TAILQ_HEAD(config_shares, config_share);

struct config {
	const char *path; /* lives as long; NULL: it was not read from one */
	struct config_file_mark mark;
	char *runtime; /* folder of the sockets, NULL: not configured */
	unsigned runtime_line;
	struct config_domains domains;
	struct config_domains names[CONFIG_NAME_LISTS]; /* the same */
	struct config_shares shares;
	/*
	 * The same by their owner's number, but for those that are mistakes. All shares are as many
	 * as there are pairs: who asks for each would walk that many, squared.
	 */
	struct config_shares lent[GID_DOMAIN_MAX + 1];
	TAILQ_HEAD(config_links, config_link) links;
	TAILQ_HEAD(config_clients, config_client) clients;
	TAILQ_HEAD(config_withdrawals, config_withdrawal) withdrawals;
};

void config_init(struct config *config);
void config_finish(struct config *config);

/* For the reader of the file: adds to the indexes by name and by owner. */
void config_add_domain(struct config *config, struct config_domain *domain);
void config_remove_domain(struct config *config, struct config_domain *domain);
void config_add_lent(struct config *config, struct config_share *share);
/* Empties the index of shares; the shares themselves stay. */
void config_forget_lent(struct config *config);

/*
 * Takes shares, clients, quotas, `local` and new domains over from a later reading of the file, all
 * or nothing: domains stay where they are, shares don't. Returns 0, or -EINVAL with a line in
 * `errors` for each thing that cannot change; then `config` is as it was. What was withdrawn is
 * forgotten: the file alone says who may read what. `fresh` is to be finished
 * in either case, and good for nothing else.
 */
int config_update(struct config *config, struct config *fresh, const char *name, FILE *errors);

const struct config_domain *config_domain_by_name(const struct config *config, const char *name);
/* By its name, or else by its number in decimal. */
const struct config_domain *config_domain_find(const struct config *config, const char *word);
const struct config_domain *config_domain_by_number(const struct config *config, uint32_t number);

/* The share by which `reader` may read of `owner`, or NULL. */
const struct config_share *config_share_find(const struct config *config,
		const struct config_domain *owner, const struct config_domain *reader);

/* Revokes streams of `owner` from `reader`; NULL: from all others. 0 or -ENOMEM. */
int config_withdraw(struct config *config, const struct config_domain *owner,
		const struct config_domain *reader, const char *streams);

/* Whether they share something, in either direction. */
bool config_is_pair(const struct config *config, const struct config_domain *one,
		const struct config_domain *other);

/* Whether the two are joined by the hub: they share something, and one of them is a guest. */
bool config_is_remote(const struct config *config, const struct config_domain *one,
		const struct config_domain *other);

/* Whether a window of the domain of that size is one that its machine can have with pages. */
bool config_window_has_pages(const struct config_domain *domain, uint64_t size);

/* Whether the domain's memory must lie in a window: it is joined to another by the hub. */
bool config_has_window(const struct config *config, const struct config_domain *domain);

/* Whether the domain hears doorbells by a device: a guest, or the host that serves those. */
bool config_has_doorbell(const struct config *config, const struct config_domain *domain);

/* Whether the host's gidd is a hub: guests share something, be it only among themselves. */
bool config_has_hub(const struct config *config);

/* The host, or NULL. */
const struct config_domain *config_host(const struct config *config);

/* The section about the pair's link, or NULL. */
const struct config_link *config_link_find(const struct config *config,
		const struct config_domain *one, const struct config_domain *other);

/* The section of this name in the domain, else that of all others, or NULL. */
const struct config_client *config_client_find(
		const struct config *config, const struct config_domain *domain, const char *user);

#endif
