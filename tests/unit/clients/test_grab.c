// SPDX-License-Identifier: MIT
/* Who has the pointer: the program whose picture it is, or the user. */
#include "grab.h"

#include "tap.h"

static char things[16];
static unsigned made;
static void (**lock_events)(void); /* `locked`, `unlocked`, once a lock was asked for */
static unsigned freed;

/* --- in the place of libwayland: each object that is asked for is there, and answers nothing ---
 */

struct wl_proxy *wl_proxy_marshal_flags(struct wl_proxy *proxy, uint32_t opcode,
		const struct wl_interface *interface, uint32_t version, uint32_t flags, ...) {
	return interface != NULL ? (struct wl_proxy *)&things[made++ % sizeof(things)] : NULL;
}

int wl_proxy_add_listener(struct wl_proxy *proxy, void (**implementation)(void), void *data) {
	lock_events = implementation; /* the lock's comes last */
	return 0;
}

uint32_t wl_proxy_get_version(struct wl_proxy *proxy) {
	return 1;
}

/* ---------------------------------------------------------------------------------------------- */

static struct wl_surface *surface = (struct wl_surface *)&things[0];
static struct wl_pointer *pointer = (struct wl_pointer *)&things[1];
static struct wl_seat *seat = (struct wl_seat *)&things[2];

static void handle_freed(void *data) {
	freed++;
}

static struct grab new_grab(void) {
	return (struct grab){.constraints = (void *)&things[3],
			.relative = (void *)&things[4],
			.freed = handle_freed};
}

/* The compositor's word on the lock. */
static void tell(struct grab *grab, bool locked) {
	void (*event)(void *data, void *lock) =
			(void (*)(void *, void *))lock_events[locked ? 0 : 1];
	event(grab, grab->lock);
}

static bool follows(struct grab *grab, bool wanted) {
	grab_follow(grab, wanted, surface, pointer);
	return grab->lock != NULL;
}

static void test_a_program(void) {
	struct grab grab = new_grab();
	tap_ok(!follows(&grab, false) && follows(&grab, true) && follows(&grab, true) &&
					!follows(&grab, false),
			"locked as long as the program wants it");
}

static void test_who_asks_again_and_again(void) {
	struct grab grab = new_grab();
	bool locked = follows(&grab, true);
	grab_refuse(&grab);
	tap_ok(locked && grab.lock == NULL, "the user lets go");
	for (int i = 0; i < 3; i++) {
		locked = follows(&grab, false) || follows(&grab, true);
		tap_ok(!locked, "it stays so, however often the program asks");
	}
	grab_permit(&grab);
	tap_ok(follows(&grab, true), "until the user does not mind");
}

static void test_a_user(void) {
	struct grab grab = new_grab();
	grab_take(&grab, surface, seat, pointer);
	tap_ok(grab.held && grab.lock != NULL && follows(&grab, false),
			"what the user wants, the program does not end");
	grab_refuse(&grab);
	tap_ok(!grab.held && !follows(&grab, true), "nor does it come back by itself");
	grab_take(&grab, surface, seat, pointer);
	grab_let_go(&grab);
	tap_ok(follows(&grab, true), "a user who took it minds no more");
}

/* Where the pointer is has to be told again, once. */
static void test_a_place(void) {
	struct grab grab = new_grab();
	follows(&grab, true);
	follows(&grab, false);
	tap_ok(freed == 0, "one that was asked for only never had it");
	follows(&grab, true);
	tell(&grab, true);
	follows(&grab, false);
	tap_ok(!grab.locked && freed == 1, "the program lets go");
	follows(&grab, true);
	tell(&grab, true);
	tell(&grab, false);
	tap_ok(!grab.locked && freed == 2, "the compositor does");
	grab_let_go(&grab);
	tap_ok(freed == 2, "that was told already");
}

int main(void) {
	test_a_program();
	test_who_asks_again_and_again();
	test_a_user();
	test_a_place();
	return tap_finish();
}
