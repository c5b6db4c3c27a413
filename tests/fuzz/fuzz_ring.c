// SPDX-License-Identifier: MIT
/*
 * A ring from both ends. The input is a sequence of what either end does, and of words that a peer
 * which keeps to no rule writes into the memory that is its own. An honest end must stay within its
 * own memory and give nothing back that is not out; two honest ends must lose nothing, either.
 */
#include "ring_pair.h"

#include <errno.h>

#include "fuzz.h"

#define STEPS_MAX 4096

struct game {
	struct input input;
	struct ring_pair pair;
	bool producer_lies, consumer_lies;
	bool producer_out, consumer_out; /* found the other end out, and does nothing more */
	uint64_t time, received;
	uint8_t out[STEPS_MAX + 1]; /* by index: sent and not given back yet */
	uint8_t held[STEPS_MAX + 1];
	uint32_t out_count;
};

static uint64_t take_word(struct input *input) {
	uint64_t word = 0;
	for (int i = 0; i < 8; i++) {
		word = word << 8 | take(input, 256);
	}
	return word;
}

/* A number near what matters, or anything. */
static uint64_t take_lie(struct input *input, uint64_t near) {
	switch (take(input, 4)) {
	case 0:
		return near + take(input, 5) - 2;
	case 1:
		return near + take(input, 256) - 128;
	case 2:
		return UINT64_MAX - take(input, 256);
	default:
		return take_word(input);
	}
}

/* --- the producer ----------------------------------------------------------------------------- */

static void given_back(struct game *game, const struct gid_ring_sent *sent) {
	demand(sent->index < game->pair.producer.tail && game->out[sent->index] == 1);
	game->out[sent->index] = 0;
	game->out_count--;
}

/* Honest ends never find each other out. One that was lied to may mislead the liar in turn. */
static bool is_over(struct game *game, bool *out, int result) {
	bool lies = game->producer_lies || game->consumer_lies;
	demand(result >= 0 || (result == -EPROTO && lies));
	*out = result < 0;
	return *out;
}

static void check_producer(struct game *game) {
	const struct gid_ring_producer *end = &game->pair.producer;
	demand(end->in_flight == game->out_count && end->in_flight <= end->entries);
	demand(end->pictures <= end->credit && end->pictures <= end->in_flight);
	demand(gid_ring_room(end) <= end->credit && gid_ring_unread(end) <= end->in_flight);
	demand(end->floor <= end->tail && end->head <= end->tail);
	demand(gid_ring_last_words(end) <= end->tail);
	struct gid_shown shown;
	if (gid_ring_get_shown(end, &shown) &&
			gid_wire_shown_is_right(&shown, end->tail, game->time)) {
		demand(shown.sequence >= 1 && shown.sequence <= end->tail);
		demand(shown.refresh_ns <= 1000000000);
		demand(shown.window_ns <= shown.refresh_ns);
	}
	struct gid_showable showable[GID_SHOWABLE_MAX];
	int count = gid_ring_get_showable(end, showable);
	demand(count <= (int)GID_SHOWABLE_MAX);
	for (int i = 0; i < count; i++) {
		if (gid_wire_showable_is_right(&showable[i])) {
			demand(gid_format_find(showable[i].fourcc) != NULL);
			demand(showable[i].memory >= 1 && showable[i].memory <= 3);
		}
	}
	struct gid_ring_sent oldest;
	demand(gid_ring_oldest(&game->pair.producer, &oldest) == (end->in_flight > 0));
}

static bool put_one(struct game *game) {
	struct gid_ring_producer *end = &game->pair.producer;
	struct gid_wire_frame frame;
	bool picture = take(&game->input, 4) != 0;
	uint64_t before = end->tail;
	fill_frame(&frame, picture ? gid_make(1, 1, 1, 0) : GID_NONE, game->time++);
	bool has_room = picture ? gid_ring_room(end) > 0 : end->in_flight < end->entries;
	int sent = picture && game->time % 2 == 0
			? (int)gid_ring_put_lines(end, 1, make_line, &frame.sequence, game->time)
			: gid_ring_put(end, &frame, NULL, game->time);
	demand(sent == has_room);
	if (sent == 1) {
		/* Places that are held are left out: the tail may have gone over some. */
		demand(end->tail > before && end->tail <= before + end->entries);
		demand(end->tail - 1 <= STEPS_MAX);
		game->out[end->tail - 1] = 1;
		game->out_count++;
	}
	return sent == 1;
}

static void send_some(struct game *game, uint32_t count) {
	struct gid_ring_producer *end = &game->pair.producer;
	bool sent = true;
	while (count-- > 0 && sent && end->tail + GID_RING_ENTRIES < STEPS_MAX) {
		sent = put_one(game);
	}
	gid_ring_publish(end);
}

static void play_producer(struct game *game) {
	struct gid_ring_producer *end = &game->pair.producer;
	struct gid_ring_sent sent;
	uint64_t below;
	int result = 0;
	switch (take(&game->input, 8)) {
	case 0:
		send_some(game, 1);
		break;
	case 1:
		send_some(game, take(&game->input, 2 * GID_BURST_MAX));
		break;
	case 2:
		result = gid_ring_collect(end, &sent);
		if (result == 1) {
			given_back(game, &sent);
		}
		break;
	case 3:
		below = end->tail - (end->tail > 0 ? take(&game->input, 70) % end->tail : 0);
		while ((result = gid_ring_take_back(end, below, &sent)) == 1) {
			demand(sent.index < below);
			given_back(game, &sent);
		}
		break;
	case 4:
		below = end->tail > 0 ? end->tail - 1 - take(&game->input, 70) % end->tail : 0;
		/* What was not claimed is not taken by force: the floor would go over others. */
		result = gid_ring_poll_claims(end);
		if (result == 0 && below < end->head && gid_ring_take_by_force(end, below, &sent)) {
			demand(sent.index == below);
			given_back(game, &sent);
		}
		break;
	case 5:
		result = gid_ring_oldest_unread(end, &sent);
		demand(result != 1 || (game->out[sent.index] == 1 && sent.gid != GID_NONE));
		break;
	case 6:
		gid_ring_producer_sleep(end);
		gid_ring_should_wake_consumer(end);
		demand(!gid_ring_should_wake_consumer(end)); /* once for each sleep */
		break;
	default:
		gid_ring_producer_wake(end);
		break;
	}
	if (!is_over(game, &game->producer_out, result)) {
		check_producer(game);
	}
}

/* --- the consumer ----------------------------------------------------------------------------- */

static void demand_whole(const struct gid_wire_frame *frame) {
	struct gid_wire_frame whole;
	fill_frame(&whole, frame->gid, frame->sequence);
	if (frame->more == 0) { /* it was put as a line alone */
		struct gid_wire_entry line = make_line(&frame->sequence, 0);
		memset(&whole, 0, sizeof(whole));
		memcpy(&whole, &line, sizeof(line));
		demand(frame->sequence % 2 != 0);
	}
	whole.index = frame->index;
	demand(memcmp(frame, &whole, sizeof(whole)) == 0);
}

static int receive_some(struct game *game, uint32_t most) {
	struct gid_wire_frame frames[GID_BURST_MAX];
	int count = gid_ring_receive_burst(&game->pair.consumer, frames, most);
	demand(count <= (int)most && count <= (int)GID_BURST_MAX);
	for (int i = 0; i < count; i++) {
		demand(frames[i].index >= game->received);
		game->received = frames[i].index + 1;
		if (!game->producer_lies) {
			demand_whole(&frames[i]);
			game->held[frames[i].index] = 1;
		}
	}
	return count;
}

static void play_consumer(struct game *game) {
	struct gid_ring_consumer *end = &game->pair.consumer;
	uint64_t index;
	int result = 0;
	switch (take(&game->input, 4)) {
	case 0:
		result = receive_some(game, 1);
		break;
	case 1:
		result = receive_some(game, 1 + take(&game->input, 2 * GID_BURST_MAX));
		break;
	case 2:
		index = take_lie(&game->input, end->head);
		if (!game->producer_lies) {
			index = index % (end->head + 1);
		}
		if (gid_ring_release(end, index) == 0) {
			demand(index < end->head);
			demand(game->producer_lies || game->held[index] == 1);
			if (!game->producer_lies) {
				game->held[index] = 0;
			}
			demand(gid_ring_release(end, index) == -EINVAL);
		}
		break;
	default:
		if (take(&game->input, 2) == 0) {
			bool is_readable = gid_ring_is_readable(end);
			demand(gid_ring_consumer_sleep(end) == is_readable);
		} else {
			gid_ring_consumer_wake(end);
		}
		gid_ring_should_wake_producer(end);
		demand(!gid_ring_should_wake_producer(end));
		break;
	}
	demand(end->held <= end->entries);
	is_over(game, &game->consumer_out, result);
}

/* --- lies ------------------------------------------------------------------------------------- */

static void lie_in_page(struct game *game) {
	struct gid_wire_page *page = game->pair.page;
	const struct gid_ring_producer *end = &game->pair.producer;
	struct input *input = &game->input;
	struct gid_wire_showable *showable = &page->showable[take(input, GID_SHOWABLE_MAX)];
	switch (take(input, 6)) {
	case 0:
		page->head = take_lie(input, end->tail);
		break;
	case 1:
		page->release_tail = take_lie(input, end->release_tail);
		break;
	case 2:
		page->releases[take(input, GID_RING_RELEASES)] = take_lie(input, end->tail);
		break;
	case 3:
		page->shown_count = take(input, 4);
		page->shown_sequence = take_lie(input, end->tail);
		page->shown_time = take_lie(input, game->time);
		page->shown_refresh_ns = take_lie(input, 16666667);
		page->shown_window_ns = take_lie(input, 8333333);
		break;
	case 4:
		page->showable_count = take(input, 4);
		page->showable_number = take_lie(input, GID_SHOWABLE_MAX);
		showable->format = take_lie(input, 0x34325258); /* XR24, in no memory */
		showable->modifier = take_word(input);
		break;
	default:
		page->asleep = take_lie(input, page->asleep);
		break;
	}
}

static void lie_in_ring(struct game *game) {
	struct gid_wire_ring *ring = game->pair.ring;
	const struct gid_ring_consumer *end = &game->pair.consumer;
	struct input *input = &game->input;
	switch (take(input, 5)) {
	case 0:
		ring->tail = take_lie(input, end->head);
		break;
	case 1:
		ring->floor = take_lie(input, end->head);
		break;
	case 2:
		ring->asleep = take_lie(input, ring->asleep);
		break;
	case 3:
		ring->frames_ring[take(input, GID_RING_ENTRIES)].index = take_lie(input, end->head);
		break;
	default:
		((uint64_t *)ring)[take_word(input) % (sizeof(*ring) / 8)] = take_word(input);
		break;
	}
}

/* Whether all that two honest ends sent came back. */
static void conclude(struct game *game) {
	struct gid_ring_producer *end = &game->pair.producer;
	struct gid_ring_sent sent;
	struct gid_wire_frame frame;
	while (gid_ring_receive(&game->pair.consumer, &frame) == 1) {
		demand_whole(&frame);
		game->held[frame.index] = 1;
	}
	for (uint64_t index = 0; index < end->tail; index++) {
		gid_ring_release(&game->pair.consumer, index);
		while (gid_ring_collect(end, &sent) == 1) {
			given_back(game, &sent);
		}
	}
	demand(game->out_count == 0 && end->in_flight == 0 && end->pictures == 0);
	gid_ring_close(end);
	demand(game->pair.ring->closed == 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	struct game *game = calloc(1, sizeof(*game));
	game->input = (struct input){.data = data, .size = size};
	uint32_t kind = take(&game->input, 4);
	game->producer_lies = kind == 1;
	game->consumer_lies = kind == 2;
	ring_pair_init(&game->pair, 1 + take(&game->input, GID_RING_ENTRIES));
	for (int step = 0; step < STEPS_MAX && game->input.size > 0; step++) {
		uint32_t who = take(&game->input, 4);
		if (who == 3 && game->consumer_lies) {
			lie_in_page(game);
		} else if (who == 3 && game->producer_lies) {
			lie_in_ring(game);
		} else if (who % 2 == 0 && !game->producer_out) {
			play_producer(game);
		} else if (who % 2 == 1 && !game->consumer_out) {
			play_consumer(game);
		}
	}
	if (!game->producer_lies && !game->consumer_lies) {
		conclude(game);
	}
	ring_pair_finish(&game->pair);
	free(game);
	return 0;
}
