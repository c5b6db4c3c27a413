// SPDX-License-Identifier: MIT
/**
 * Access control, by the configuration: the one place that decides it. docs/security.md has a table
 * of all answers for one cockpit, with which a test compares them.
 *
 * A domain may publish a stream that it shares with another one, or has for itself (local=).
 * Another domain may read the streams that are shared with it. It may get memory if anything is
 * shared with it: which memory, the owner's program decides by a grant. What `gidctl revoke` took
 * away is not shared. A program may do what its domain may, as far as its user's section allows it.
 *
 * Pure: reads the configuration, touches nothing else.
 */
#ifndef GIDD_ACCESS_H
#define GIDD_ACCESS_H

#include "config.h"
#include "domain_set.h"

/* Whether the domain may publish the stream: for itself, or for any other. */
bool access_may_publish(
		const struct config *config, const struct config_domain *owner, const char *stream);

/* Whether `reader` may read the stream of `owner`: its own, or a shared one that it still has. */
bool access_may_read_stream(const struct config *config, const struct config_domain *owner,
		const struct config_domain *reader, const char *stream);

/*
 * Whether `owner` may grant memory to `reader`, which may import it then. Its streams may be taken
 * from it all the same: then gidd has taken the memory, too, and a program can grant other memory.
 */
bool access_may_import(const struct config *config, const struct config_domain *owner,
		const struct config_domain *reader);

/* The other domains that may read the stream of `owner`; NULL: any of its streams. */
struct domain_set access_readers_of(
		const struct config *config, const struct config_domain *owner, const char *stream);

/* Those domains that could read it by an earlier reading of the file, and cannot by this one. */
struct domain_set access_lost_by(const struct config *config, const struct config *older,
		const struct config_domain *owner, const char *stream);

/* Whether the stream was taken from the reader; NULL: whether all streams were. */
bool access_is_withdrawn(const struct config *config, const struct config_domain *owner,
		const struct config_domain *reader, const char *stream);

/*
 * The same for programs: `client` is the section of their user in the domain, NULL: there is none,
 * and they may do all that the domain may.
 */
bool access_client_may_publish(const struct config_client *client, const char *stream);
bool access_client_may_read(const struct config_client *client, const char *stream);
bool access_client_may_import(const struct config_client *client);
bool access_client_may_ask_for_status(const struct config_client *client);

/*
 * Whether it may read all streams, so that no memory is closed to it either. Others get the memory
 * of the streams that they read, and what programs of their own user have exported: see
 * slab_may_go_to().
 */
bool access_client_may_read_all(const struct config_client *client);

/* Whether some of its users may not read all. */
bool access_some_read_a_part(const struct config *config, const struct config_domain *domain);

/*
 * Whether some user could read the stream of that name by an older reading of the file, and cannot
 * by this one. Both have the domain by its name.
 */
bool access_is_narrower(const struct config *config, const struct config *older,
		const struct config_domain *domain, const char *stream);

/*
 * Whether the domain may publish safety streams, and users whom no section names may, too: any
 * program could take the place of a telltale.
 */
bool access_safety_is_open(const struct config *config, const struct config_domain *domain);

/*
 * Whether users whom no section names may read what others type and copy: streams of input and
 * clipboards, of the domain or of others that share some with it.
 */
bool access_input_is_open(const struct config *config, const struct config_domain *domain);

#endif
