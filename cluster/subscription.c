// SPDX-License-Identifier: MIT
#include "subscription.h"

#include "clock.h"
#include <errno.h>
#include <string.h>
#include <wlr/util/log.h>

#define CREDIT 4u
/* Frames whose pixels are looked at in one refresh: one that came in time, and one on its heels. */
#define LOOKS_MAX 2u
#define RETRY_NS 1000000000ull

/* --- memory ------------------------------------------------------------------------------------
 */

static void handle_imported(void *data, gid_id gid, int error, struct gid_slab *slab) {
	struct subscription *subscription = data;
	subscription->importing = false;
	watch_frame(subscription->watch, subscription->consumer, &subscription->waiting,
		error == 0 ? slab : NULL, clock_now());
}

/* Takes the frame. */
static void subscription_look(struct subscription *subscription, const struct gid_frame *frame) {
	if (subscription->importing) {
		/* The newest picture of the memory that we wait for. */
		const struct gid_frame *old = frame;
		struct gid_frame kept;
		if (gid_slab_key(subscription->waiting.gid) == gid_slab_key(frame->gid)) {
			kept = subscription->waiting;
			subscription->waiting = *frame;
			old = &kept;
		}
		gid_consumer_release(subscription->consumer, old);
		return;
	}
	subscription->looked++;
	struct gid_slab *slab = NULL;
	int ret = gid_slab_import_async(
		subscription->domain, frame->gid, handle_imported, subscription, &slab);
	if (ret == -EINPROGRESS) {
		subscription->importing = true;
		subscription->waiting = *frame;
		return;
	}
	watch_frame(subscription->watch, subscription->consumer, frame, ret == 0 ? slab : NULL,
		clock_now());
}

/* --- frames ------------------------------------------------------------------------------------
 */

static void subscription_note(struct subscription *subscription, const struct gid_frame *frame) {
	uint64_t now = clock_now();
	if (frame->flags & GID_FRAME_EOS) {
		role_lost(&subscription->watch->role, ROLE_REASON_ENDED, now);
	} else if (frame->flags & GID_FRAME_HIDDEN) {
		role_lost(&subscription->watch->role, ROLE_REASON_HIDDEN, now);
	}
}

/* Looks at the newest frame, and gives those before it back. */
static void subscription_receive(struct subscription *subscription) {
	struct gid_frame frame, newest;
	bool some = false;
	int ret = 1;
	for (unsigned i = 0; i < CREDIT && ret == 1; i++) {
		ret = gid_consumer_receive(subscription->consumer, &frame);
		if (ret != 1) {
			break;
		}
		if (some) {
			gid_consumer_release(subscription->consumer, &newest);
		}
		some = frame.gid != GID_NONE;
		if (some) {
			newest = frame;
		} else {
			subscription_note(subscription, &frame);
		}
	}
	if (some && (ret == 1 || ret == -EAGAIN)) {
		subscription_look(subscription, &newest);
	}
}

static int handle_readable(int fd, uint32_t mask, void *data) {
	struct subscription *subscription = data;
	if (subscription->looked < LOOKS_MAX) {
		subscription_receive(subscription);
	} else {
		wl_event_source_fd_update(subscription->source, 0); /* until the next tick */
	}
	return 0;
}

/* --- the stream comes and goes -----------------------------------------------------------------
 */

static enum role_reason reason_of(int reason) {
	switch (reason) {
	case 0:
		return ROLE_REASON_ENDED;
	case -EPROTO:
		return ROLE_REASON_PROTOCOL;
	default:
		return ROLE_REASON_DIED;
	}
}

static void handle_state(void *data, enum gid_consumer_state state, int reason) {
	struct subscription *subscription = data;
	if (state == GID_CONSUMER_LIVE) {
		return;
	}
	if (subscription->importing) {
		gid_slab_import_cancel(subscription->domain, subscription);
		subscription->importing = false;
	}
	watch_lost(subscription->watch, reason_of(reason), clock_now());
}

static void subscription_create(struct subscription *subscription) {
	const struct role_config *role = subscription->watch->config;
	struct gid_consumer_options options = {
		.size = sizeof(options),
		.credit = CREDIT,
		.drop_old = true,
		.reconnect = true,
		.state = handle_state,
		.data = subscription,
		.timeline = subscription->watch->timeline,
	};
	int ret = gid_consumer_create(subscription->domain, role->domain, role->stream, &options,
		&subscription->consumer);
	if (ret < 0) {
		if (subscription->refused == 0) {
			wlr_log(WLR_ERROR, "role %s: cannot subscribe to %s of domain %s: %s",
				role->name, role->stream, role->domain ? role->domain : "(our own)",
				gid_domain_error(subscription->domain));
		}
		subscription->consumer = NULL;
		subscription->refused = clock_now();
		return;
	}
	subscription->refused = 0;
	subscription->source = wl_event_loop_add_fd(subscription->loop,
		gid_consumer_get_fd(subscription->consumer), WL_EVENT_READABLE, handle_readable,
		subscription);
}

static void subscription_end(struct subscription *subscription) {
	if (subscription->importing) {
		gid_slab_import_cancel(subscription->domain, subscription);
		subscription->importing = false;
	}
	if (subscription->source != NULL) {
		wl_event_source_remove(subscription->source);
		subscription->source = NULL;
	}
	received_forget_consumer(&subscription->watch->held);
	gid_consumer_destroy(subscription->consumer);
	subscription->consumer = NULL;
}

void subscription_init(
	struct subscription *subscription, struct watch *watch, struct wl_event_loop *loop) {
	*subscription = (struct subscription){.watch = watch, .loop = loop};
}

void subscription_start(struct subscription *subscription, struct gid_domain *domain) {
	subscription->domain = domain;
	subscription->watch->domain = gid_domain_number(domain);
	subscription_create(subscription);
}

void subscription_stop(struct subscription *subscription) {
	if (subscription->consumer != NULL) {
		subscription_end(subscription);
		watch_lost(subscription->watch, ROLE_REASON_DIED, clock_now());
	}
	subscription->domain = NULL;
}

void subscription_tick(struct subscription *subscription) {
	subscription->looked = 0;
	if (subscription->domain == NULL) {
		return;
	}
	if (subscription->consumer != NULL) {
		if (gid_consumer_get_state(subscription->consumer) == GID_CONSUMER_ENDED) {
			subscription_end(
				subscription); /* it broke the protocol: a later one may not */
			subscription->refused = clock_now();
			return;
		}
		wl_event_source_fd_update(subscription->source, WL_EVENT_READABLE);
		/* The doorbell rings only for those who found nothing more, which we may not have.
		 */
		subscription_receive(subscription);
	} else if (clock_now() - subscription->refused > RETRY_NS) {
		subscription_create(subscription);
	}
}
