// SPDX-License-Identifier: MIT
/* Slabs from one domain to another: made, brought, granted, imported. */
#include <errno.h>
#include <sys/mman.h>

#include "slab_object.h"
#include "slab_pair.h"

/* Many at once, each with its gid. */
static void test_take_burst(void) {
	struct gid_slab *slab = make(4);
	gid_id gids[8];
	gid_slab_take(slab);
	tap_ok(gid_slab_take_burst(slab, gids, 0) == -EINVAL, "none is no burst");
	bool good = gid_slab_take_burst(slab, gids, 2) == 2 && gids[0] == gid_slab_gid(slab, 1) &&
			gids[1] == gid_slab_gid(slab, 2);
	tap_ok(good, "as many slots are taken as are wanted");
	gid_slab_give(slab, 0);
	good = gid_slab_take_burst(slab, gids, 8) == 2 && gids[0] == gid_slab_gid(slab, 3) &&
			gids[1] == gid_slab_gid(slab, 0);
	tap_ok(good, "or as are free, in turn");
	tap_ok(gid_slab_take_burst(slab, gids, 8) == -EAGAIN && gid_slab_take(slab) == -EAGAIN,
			"then there is none");
	const gid_id given[] = {gid_slab_gid(slab, 2), gid_make(1, 1, 99, 0), gids[0]};
	gid_slab_give_burst(slab, given, 3);
	good = gid_slab_take_burst(slab, gids, 8) == 2 &&
			(1u << gid_slot_of(gids[0]) | 1u << gid_slot_of(gids[1])) == 12;
	tap_ok(good, "and those again that were given back");
	gid_slab_destroy(slab, false);
	struct gid_slab none = {0};
	gid_slab_give_burst(&none, given, 3);
	tap_ok(gid_slab_take_burst(&none, gids, 8) == -EAGAIN, "a slab without slots has none");
}

static void test_create(void) {
	struct gid_slab *slab = make(4);
	struct gid_slab_info info;
	gid_slab_get_info(slab, &info);
	tap_ok(gid_domain_of(info.gid) == 1 && info.slot_count == 4 && info.slot_size == 12288 &&
					info.memory == GID_MEMORY_MEMFD && info.offset == 0 &&
					!info.imported &&
					strcmp(info.description, "video/x-raw") == 0,
			"a slab is what was asked for");
	tap_ok(gid_slab_data(slab, 3) == (char *)gid_slab_data(slab, 0) + 3 * 12288 &&
					gid_slab_data(slab, 4) == NULL,
			"it has as many slots");
	uint64_t offset;
	tap_ok(gid_slab_get_dmabuf(slab, &offset) == -ENOTSUP, "a memfd is no dma-buf");
	tap_ok(gid_slab_open_dmabuf(slab, 3) == -ENOTSUP, "and none is made of it");
	tap_ok(gid_slab_open_dmabuf(slab, 4) == -EINVAL, "nor of a slot that it has not");
	tap_ok(gid_slot_of(gid_slab_gid(slab, 2)) == 2 && gid_slab_gid(slab, 4) == GID_NONE,
			"each slot has a gid");

	int slots[4], again;
	for (int i = 0; i < 4; i++) {
		slots[i] = gid_slab_take(slab);
	}
	tap_ok(slots[0] == 0 && slots[1] == 1 && slots[2] == 2 && slots[3] == 3 &&
					gid_slab_take(slab) == -EAGAIN,
			"each slot is taken once");
	gid_slab_give(slab, 2);
	gid_slab_give(slab, 99);
	again = gid_slab_take(slab);
	tap_ok(again == 2 && gid_slab_take(slab) == -EAGAIN, "and again when it was given back");
	gid_slab_destroy(slab, false);

	const struct {
		uint32_t slots;
		uint64_t slot_size;
		int error;
		const char *what;
	} bad[] = {
			{0, 0, -EINVAL, "no slots"},
			{GID_SLOTS_MAX + 1, 0, -EINVAL, "too many slots"},
			{2, UINT64_MAX, -EINVAL, "slots that overflow"},
			{4096, INT64_MAX, -EINVAL, "slots that overflow together"},
			{2, UINT64_C(1) << 62, -EINVAL, "slots that no program can address"},
			/* 2^64 - 4096 bytes, with pages of 4096. */
			{1613, UINT64_C(0xfffffffffffff) / 1613 * 4096, -EINVAL,
					"slots with no room for their generations"},
			{1, 128 << 20, -EDQUOT, "more than the domain's quota"},
	};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		int error = gid_slab_create(
				owner, &layout, bad[i].slot_size, bad[i].slots, NULL, &slab);
		tap_ok(error == bad[i].error, "%s: %d (%s)", bad[i].what, error,
				gid_domain_error(owner));
	}
	struct gid_layout tiled = layout;
	tiled.modifier = I915_FORMAT_MOD_X_TILED;
	tap_ok(gid_slab_create(owner, &tiled, 65536, 1, NULL, &slab) == -ENOTSUP,
			"plain memory is not tiled");
	struct gid_layout flat = layout;
	flat.height = 0;
	tap_ok(gid_slab_create(owner, &flat, 65536, 1, NULL, &slab) == -EINVAL,
			"a picture has rows");
	tap_ok(gid_slab_create_for_stream(owner, "two words", &layout, 0, 1, NULL, &slab) ==
							-EINVAL &&
					strstr(gid_domain_error(owner), "is not a stream's name") !=
							NULL,
			"what is no name is no stream's: %s", gid_domain_error(owner));
	char description[GID_DESCRIPTION_MAX + 2];
	memset(description, 'd', sizeof(description));
	description[sizeof(description) - 1] = '\0';
	tap_ok(gid_slab_create(owner, &layout, 0, 1, description, &slab) == -EINVAL &&
					gid_slab_create(owner, &layout, 0, 1, "a\nb", &slab) ==
							-EINVAL,
			"a description that is too long, or no text, is refused");
	description[GID_DESCRIPTION_MAX] = '\0';
	int error = gid_slab_create(owner, &layout, 0, 1, description, &slab);
	tap_ok(error == 0, "the longest description is carried");
	gid_slab_destroy(error == 0 ? slab : NULL, false);
}

/* What a reader can do with what it got, and what not. */
static void test_import(void) {
	struct gid_slab *slab = make(2), *got = NULL, *second = NULL;
	strcpy(gid_slab_data(slab, 1), "picture");
	gid_id gid = gid_slab_gid(slab, 1);
	tap_ok(gid_slab_grant(slab, 2) == 0, "open grants its slab to cluster");
	tap_ok(gid_slab_import(reader, gid, &got) == 0, "cluster imports it: %s",
			gid_domain_error(reader));
	struct gid_slab_info info;
	gid_slab_get_info(got, &info);
	tap_ok(info.imported && gid_slab_key(info.gid) == gid_slab_key(gid) &&
					info.slot_count == 2 && info.slot_size == 12288 &&
					memcmp(&info.layout, &layout, sizeof(layout)) == 0 &&
					strcmp(info.description, "video/x-raw") == 0,
			"it is the slab that was exported");
	const char *view = gid_slab_view(got, 1);
	tap_ok(strcmp(view, "picture") == 0, "with its pixels");
	strcpy(gid_slab_data(slab, 1), "changed");
	tap_ok(strcmp(view, "changed") == 0, "which are the owner's very memory");
	tap_ok(gid_slab_view(got, 2) == NULL && gid_slab_data(got, 0) == NULL,
			"there is no other slot, and nothing to write");
	tap_ok(mprotect((void *)((uintptr_t)view & ~4095ul), 4096, PROT_READ | PROT_WRITE) < 0 &&
					mmap(NULL, 4096, PROT_WRITE, MAP_SHARED, info.fd, 0) ==
							MAP_FAILED &&
					ftruncate(info.fd, 0) < 0,
			"the reader cannot write it");
	tap_ok(gid_slab_import(reader, gid_slab_gid(slab, 0), &second) == 0 && second == got,
			"the next import of the slab gives the same");
	tap_ok(gid_slab_import(reader, gid_make(1, gid_slab_of(gid), 2, 0), &second) == -ENOENT,
			"a slot that it does not have is unknown");
	tap_ok(gid_slab_is_current(got, gid) && !gid_slab_is_current(got, gid + 1) &&
					!gid_slab_is_current(got, gid + (1ull << 16)) &&
					!gid_slab_is_current(got, gid + (1ull << 32)),
			"the gid is current, others are not");
	gid_slab_unref(got);
	gid_slab_unref(got);
	tap_ok(gid_slab_import(reader, gid, &second) == 0 && second == got &&
					gid_slab_view(second, 1) == view,
			"a slab at rest is used again, with its mapping");
	gid_slab_unref(second);
	gid_slab_destroy(slab, false);
}

/* The same gid through its life: what is said must not tell why it cannot be had. */
static void test_refusals(void) {
	struct gid_slab *slab = make(1), *got = NULL;
	gid_id gid = gid_slab_gid(slab, 0);
	char ungranted[320], revoked[320], destroyed[320], local[320];
	tap_ok(gid_slab_import(reader, gid, &got) == -ENOENT, "an ungranted slab is refused");
	strcpy(ungranted, gid_domain_error(reader));
	tap_ok(gid_slab_import(owner, gid, &got) == 0, "within the domain it needs no grant");
	gid_slab_unref(got);
	gid_slab_grant(slab, 2);
	gid_slab_revoke(slab, 2);
	tap_ok(gid_slab_import(reader, gid, &got) == -ENOENT, "a revoked grant is refused");
	strcpy(revoked, gid_domain_error(reader));
	gid_slab_grant(slab, 2);
	gid_slab_destroy(slab, false);
	tap_ok(gid_slab_import(reader, gid, &got) == -ENOENT, "a slab that is gone is refused");
	strcpy(destroyed, gid_domain_error(reader));
	gid_domain_dispatch(owner);
	tap_ok(gid_slab_import(owner, gid, &got) == -ENOENT, "in its own domain, too");
	strcpy(local, gid_domain_error(owner));
	tap_ok(strcmp(ungranted, revoked) == 0 && strcmp(ungranted, destroyed) == 0 &&
					strcmp(ungranted, local) == 0,
			"all with the same sentence: %s", ungranted);
	const gid_id bad[] = {GID_NONE, UINT64_MAX, gid_make(1, 77, 0, 0), gid_make(3, 1, 0, 0),
			gid_make(2, 1, 0, 0), (gid_id)1 << 56};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char text[GID_TEXT_MAX], sentence[320];
		snprintf(sentence, sizeof(sentence), "gid %s%s", gid_format(bad[i], text),
				strchr(strchr(ungranted, '#'), ':'));
		int error = gid_slab_import(reader, bad[i], &got);
		tap_ok(error == -ENOENT && strcmp(gid_domain_error(reader), sentence) == 0,
				"%s is unknown, in the same words", text);
	}
	slab = make(1);
	tap_ok(gid_slab_grant(slab, 9) == -EPERM, "a domain that may not read gets no grant: %s",
			gid_domain_error(owner));
	tap_ok(gid_slab_grant(slab, 0) == -EINVAL && gid_slab_grant(slab, 255) == -EINVAL,
			"nor does one that cannot be");
	gid_slab_destroy(slab, false);
}

static void test_export(void) {
	struct gid_slab *slab = NULL, *got = NULL;
	struct gid_slab_info info;
	int fd = memfd_create("camera", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	const uint64_t offset = 4096 + 100, size = 64 * 48 * 4;
	char *data = ftruncate(fd, (off_t)(offset + size)) == 0
			? mmap(NULL, offset + size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
			: MAP_FAILED;
	strcpy(data + offset, "camera");
	tap_ok(gid_slab_export(owner, fd, offset, &layout, NULL, &slab) == -EPERM,
			"an unsealed memfd is refused: %s", gid_domain_error(owner));
	fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK);
	tap_ok(gid_slab_export(owner, fd, offset, &layout, NULL, &slab) == -EPERM,
			"so is one that its readers could open for writing");
	fcntl(fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE);
	tap_ok(gid_slab_export(owner, fd, offset + 1, &layout, NULL, &slab) == -ERANGE,
			"so is a picture that does not fit: %s", gid_domain_error(owner));
	tap_ok(gid_slab_export(owner, fd, UINT64_MAX, &layout, NULL, &slab) == -ERANGE &&
					gid_slab_export(owner, fd, offset + size, &layout, NULL,
							&slab) == -ERANGE,
			"or begins beyond the end");
	tap_ok(gid_slab_export(owner, STDIN_FILENO, 0, &layout, NULL, &slab) == -EBADF &&
					gid_slab_export(owner, -1, 0, &layout, NULL, &slab) ==
							-EBADF,
			"or is no memory at all: %s", gid_domain_error(owner));
	int error = gid_slab_export(owner, fd, offset, &layout, "caps", &slab);
	if (!tap_ok(error == 0, "a sealed memfd is exported (%d)", error)) {
		return;
	}
	tap_ok(gid_slab_data(slab, 0) == NULL && strcmp(gid_slab_view(slab, 0), "camera") == 0,
			"its owner writes through its own mapping, and can look");
	gid_slab_grant(slab, 2);
	gid_id gid = gid_slab_gid(slab, 0);
	error = gid_slab_import(reader, gid, &got);
	gid_slab_get_info(got, &info);
	tap_ok(error == 0 && info.offset == offset && info.slot_size == size &&
					strcmp(gid_slab_view(got, 0), "camera") == 0,
			"it is imported, from inside a page");
	tap_ok((fcntl(info.fd, F_GETFL) & O_ACCMODE) == O_RDONLY,
			"and its descriptor is read-only");
	tap_ok(gid_slab_is_current(got, gid), "its gid is current");
	gid_slab_destroy(slab, true);
	memset(data + offset, 0, size);
	tap_ok(strcmp(gid_slab_view(got, 0), "") == 0, "whoever can write it can still wipe it");
	gid_slab_unref(got);
	munmap(data, offset + size);
	close(fd);
}

static void test_leaks(void) {
	/* Once before counting, for what stays at rest. */
	for (int round = 0; round < 2; round++) {
		int fds = cockpit_count_settled("/proc/self/fd"),
		    maps = cockpit_count("/proc/self/maps");
		int failed = 0;
		for (int i = 0; i < 1000; i++) {
			struct gid_slab *slab = make(2), *got = NULL;
			failed += gid_slab_grant(slab, 2) != 0;
			failed += gid_slab_import(reader, gid_slab_gid(slab, 1), &got) != 0;
			gid_slab_unref(got);
			gid_slab_destroy(slab, false);
			gid_domain_dispatch(reader);
		}
		cockpit_pass_on(owner, reader);
		gid_domain_dispatch(reader);
		if (round == 1) {
			tap_ok(failed == 0, "1000 slabs come and go");
			tap_ok(cockpit_count_settled("/proc/self/fd") == fds,
					"no descriptor stays");
			tap_ok(cockpit_count("/proc/self/maps") <= maps, "nor a mapping (%d, %d)",
					cockpit_count("/proc/self/maps"), maps);
		}
	}
	/* A reader that never dispatches does not hear of the ends, and is bounded all the same. */
	int maps = cockpit_count("/proc/self/maps");
	for (int i = 0; i < 300; i++) {
		struct gid_slab *slab = make(1), *got = NULL;
		gid_slab_grant(slab, 2);
		gid_slab_import(reader, gid_slab_gid(slab, 0), &got);
		gid_slab_unref(got);
		gid_slab_destroy(slab, false);
	}
	tap_ok(cockpit_count("/proc/self/maps") - maps < 200, "slabs at rest are bounded (%d)",
			cockpit_count("/proc/self/maps") - maps);
}

static void test_late(void) {
	struct gid_domain *domain;
	struct gid_slab *own = NULL, *got = NULL, *slab = make(1);
	gid_slab_grant(slab, 2);
	gid_domain_connect("cluster", &domain);
	gid_slab_import(domain, gid_slab_gid(slab, 0), &got);
	gid_slab_create(domain, &layout, 0, 1, NULL, &own);
	gid_domain_destroy(domain);
	struct gid_slab_info info;
	gid_slab_get_info(got, &info);
	tap_ok(info.revoked && info.fd == -1 && gid_slab_view(got, 0) == NULL &&
					gid_slab_data(own, 0) == NULL &&
					gid_slab_take(own) == -EAGAIN,
			"slabs outlive their domain without memory");
	gid_slab_unref(got);
	gid_slab_destroy(own, true);
	gid_slab_destroy(slab, false);
	gid_slab_destroy(NULL, true);
	gid_slab_unref(NULL);
}

/* gidd empties memory in which a killed program's slab was, before its readers have heard of it. */
static void test_emptied_memory(void) {
	struct gid_slab *slab = make(2), *got = NULL;
	gid_slab_grant(slab, 2);
	gid_id gid = gid_slab_gid(slab, 1);
	gid_slab_import(reader, gid, &got);
	bool before = gid_slab_is_current(got, gid);
	memset(slab->own.data, 0, slab->own.size);
	tap_ok(before && !gid_slab_is_current(got, gid) &&
					!gid_slab_is_current(got, gid_slab_gid(got, 1)),
			"nothing that lay in emptied memory is current");
	tap_ok(gid_slab_is_current(slab, gid_slab_gid(slab, 1)),
			"but for its owner, who has not heard of that");
	gid_slab_unref(got);
	gid_slab_destroy(slab, false);
}

/* A frame is sent by the gid that its slot has got meanwhile, and by none that it had long ago. */
static void test_present_gid(void) {
	struct gid_slab *slab = make(2);
	const gid_id before = gid_slab_gid(slab, 0);
	const uint32_t since = owner->renamed;
	bool same = gid_slab_present_gid(owner, before, since) == before;
	gid_slab_advance(slab, 0);
	const gid_id now = gid_slab_gid(slab, 0);
	tap_ok(same && now != before && gid_slab_present_gid(owner, before, since) == now &&
					gid_slab_present_gid(owner, now, since) == now,
			"a slot that was taken back since then has another gid");
	tap_ok(gid_slab_present_gid(owner, before, owner->renamed) == before,
			"one that was taken back before is out of date");
	gid_slab_destroy(slab, false);
	tap_ok(gid_slab_present_gid(owner, now, since) == now, "and so is one that is gone");
}

/* Another one in the same place is not taken for it. */
static void test_generations_begin(void) {
	uint32_t different = 0;
	for (int i = 0; i < 8; i++) {
		struct gid_slab *slab = make(2), *other = make(2);
		different += gid_generation_of(gid_slab_gid(slab, 0)) !=
				gid_generation_of(gid_slab_gid(other, 0));
		gid_slab_destroy(slab, false);
		gid_slab_destroy(other, false);
	}
	tap_ok(different >= 7, "each slab's generations begin elsewhere");
}

/*
 * A gid has 16 bits of a slot's generation, of which it uses all but 0: the memory of the one that
 * was taken back by force 65535 times ago is told from none since but the present one.
 */
static void test_generations_wrap(void) {
	struct gid_slab *slab = make(2), *got = NULL;
	gid_slab_grant(slab, 2);
	gid_slab_import(reader, gid_slab_gid(slab, 0), &got);
	uint32_t *table = (uint32_t *)slab->generations;
	static const uint32_t before[] = {UINT16_MAX - 1, UINT32_MAX - 1};
	const gid_id untouched = gid_slab_gid(slab, 1);
	for (size_t i = 0; i < sizeof(before) / sizeof(before[0]); i++) {
		__atomic_store_n(&table[0], before[i], __ATOMIC_SEQ_CST);
		bool exact = true;
		for (uint32_t step = 0; step < 4; step++) {
			gid_id gid = gid_slab_gid(slab, 0);
			exact &= gid_generation_of(gid) ==
							(step < 2 ? UINT16_MAX - 1 + step
								  : step - 1) &&
					gid_slot_of(gid) == 0 && gid_slab_is_current(got, gid) &&
					gid_slab_gid(got, 0) == gid;
			gid_slab_advance(slab, 0);
			exact &= !gid_slab_is_current(got, gid) && !gid_slab_is_current(slab, gid);
		}
		tap_ok(exact && gid_slab_gid(slab, 1) == untouched,
				"after generation %u the next ones follow, and no other slot changes",
				before[i]);
	}
	gid_slab_unref(got);
	gid_slab_destroy(slab, false);
}

int main(void) {
	if (slab_pair_init()) {
		test_generations_wrap();
		test_emptied_memory();
		test_present_gid();
		test_generations_begin();
		test_create();
		test_take_burst();
		test_import();
		test_refusals();
		test_export();
		test_leaks();
		test_late();
	}
	return slab_pair_finish();
}
