// SPDX-License-Identifier: MIT
/*
 * One ring for all readers of a stream, as it is planned: what its ends do to shared memory, and
 * nothing else. libgid has a ring for each reader still. Part of shim.c, behind ring.c, whose loads
 * and stores it uses.
 *
 * The producer writes an entry once, and `tail` once, which is also the one word that all who sleep
 * in its kernel wait for. What is a reader's own matter lies in a gate that nobody else maps: its
 * floor, as in ring.h, and which entries were not sent to it, for want of credit. It changes only
 * where a reader is behind, so that a frame that all of them get costs no store for each.
 *
 * A word that all sleep over is for readers that trust each other, as those of one domain do. Who
 * may only read it can wake the others by it for nothing. Or it waits there by so many threads that
 * one wake for each reader wakes none of them, and one for all takes the producer's time. A reader
 * of another domain needs a word of its own, beside its gate, which is stored to only while it
 * sleeps.
 *
 * A place is used again once no reader holds its entry (the producer has a bit for each): so a ring
 * has as many places as all its readers have credit, and some more. A reader that was not sent the
 * entry may be looking at it just then, and sees the gate of the next one: it looks at the index
 * again, behind the gate.
 */
#define ONE_READERS 2u
#define ONE_PLACES 2u

static struct {
	/* The producer's, for all readers. */
	struct {
		uint64_t tail;
		struct {
			uint64_t index; /* + 1; 0: none yet */
			uint64_t gid;
		} entries[ONE_PLACES];
	} ring;
	/* The producer's, for one reader: nobody else can see it. */
	struct {
		uint64_t floor;
		uint64_t denied; /* bit p: the entry at place p was not sent to this reader */
	} gates[ONE_READERS];
	/* A reader's. */
	struct {
		uint64_t head, release_tail, releases[8];
	} pages[ONE_READERS];
	/* What each side alone knows. */
	struct {
		uint64_t tail, floor[ONE_READERS], denied[ONE_READERS], released[ONE_READERS];
		struct {
			uint64_t index, gid;
			uint32_t holders; /* a bit for each reader */
		} sent[ONE_PLACES];
	} producer;
	struct {
		uint64_t head, release_tail;
	} readers[ONE_READERS];
} one;

static uint64_t *one_word(uint32_t number) {
	uint64_t *words[] = {
			&one.ring.tail,
			&one.ring.entries[0].index,
			&one.ring.entries[0].gid,
			&one.ring.entries[1].index,
			&one.ring.entries[1].gid,
			&one.gates[1].floor,
			&one.gates[1].denied,
			&one.pages[1].head,
			&one.pages[1].release_tail,
			&one.pages[1].releases[0],
			&one.pages[1].releases[1],
			&one.pages[1].releases[2],
			&one.pages[1].releases[3],
	};
	return number < sizeof(words) / sizeof(words[0]) ? words[number] : NULL;
}

/* --- the producer ----------------------------------------------------------------------------- */

static void one_deny(uint32_t reader, uint64_t place, bool denied) {
	uint64_t bit = UINT64_C(1) << place, old = one.producer.denied[reader];
	uint64_t new = denied ? old | bit : old & ~bit;
	if (new != old) {
		one.producer.denied[reader] = new;
		__atomic_store_n(&one.gates[reader].denied, new, __ATOMIC_RELEASE);
	}
}

static bool one_send(uint64_t gid, uint32_t readers) {
	uint64_t index = one.producer.tail;
	while (one.producer.sent[index % ONE_PLACES].holders != 0) {
		if (++index == one.producer.tail + ONE_PLACES) {
			return false;
		}
	}
	uint64_t place = index % ONE_PLACES;
	/* First: who sees that it is not denied any more sees that this is another entry. */
	__atomic_store_n(&one.ring.entries[place].index, index + 1, __ATOMIC_RELEASE);
	for (uint32_t reader = 0; reader < ONE_READERS; reader++) {
		one_deny(reader, place, (readers >> reader & 1) == 0);
	}
	__atomic_store_n(&one.ring.entries[place].gid, gid, __ATOMIC_RELEASE);
	one.producer.sent[place].index = index;
	one.producer.sent[place].gid = gid;
	one.producer.sent[place].holders = readers;
	one.producer.tail = index + 1;
	ring_store(&one.ring.tail, one.producer.tail);
	return true;
}

/* One reader holds the entry no more. Returns the slot, where nobody does. */
static uint64_t one_let_go(uint32_t reader, uint64_t index) {
	uint64_t place = index % ONE_PLACES;
	uint32_t bit = 1u << reader, *holders = &one.producer.sent[place].holders;
	if (one.producer.sent[place].index != index || (*holders & bit) == 0) {
		return 0; /* it was not sent to it, or is taken back already */
	}
	*holders &= ~bit;
	return *holders == 0 ? one.producer.sent[place].gid : 0;
}

/* The slot that is free by that, or 0. */
static uint64_t one_take_back(uint32_t reader, uint64_t index) {
	if (index < one.producer.floor[reader]) {
		return 0;
	}
	one.producer.floor[reader] = index + 1;
	ring_store(&one.gates[reader].floor, index + 1);
	uint64_t head = ring_load(&one.pages[reader].head);
	return head <= index ? one_let_go(reader, index) : 0;
}

static uint64_t one_collect(uint32_t reader) {
	uint64_t free = 0;
	while (free == 0 &&
			one.producer.released[reader] <
					ring_load(&one.pages[reader].release_tail)) {
		uint64_t at = one.producer.released[reader]++ % 8;
		uint64_t index = __atomic_load_n(&one.pages[reader].releases[at], __ATOMIC_RELAXED);
		free = one_let_go(reader, index);
	}
	return free;
}

/* --- a reader --------------------------------------------------------------------------------- */

static void one_release(uint32_t reader, uint64_t index) {
	uint64_t at = one.readers[reader].release_tail++ % 8;
	__atomic_store_n(&one.pages[reader].releases[at], index, __ATOMIC_RELAXED);
	ring_store(&one.pages[reader].release_tail, one.readers[reader].release_tail);
}

/* Whether the entry was sent to this reader, and is whole in the copy of its gid. */
static bool one_is_ours(uint32_t reader, uint64_t index, uint64_t *gid) {
	uint64_t place = index % ONE_PLACES;
	uint64_t named = __atomic_load_n(&one.ring.entries[place].index, __ATOMIC_ACQUIRE);
	*gid = __atomic_load_n(&one.ring.entries[place].gid, __ATOMIC_ACQUIRE);
	uint64_t denied = __atomic_load_n(&one.gates[reader].denied, __ATOMIC_ACQUIRE);
	uint64_t again = __atomic_load_n(&one.ring.entries[place].index, __ATOMIC_ACQUIRE);
	return named == index + 1 && again == named && (denied >> place & 1) == 0;
}

static bool one_receive(uint32_t reader, uint64_t *gid, uint64_t *index) {
	for (uint32_t i = 0; i < 2 * ONE_PLACES; i++) {
		uint64_t head = one.readers[reader].head;
		uint64_t floor = ring_load(&one.gates[reader].floor);
		uint64_t first = floor > head ? floor : head;
		if (first >= ring_load(&one.ring.tail)) {
			return false;
		}
		one.readers[reader].head = first + 1;
		ring_store(&one.pages[reader].head, first + 1);
		if (first > head) {
			/* The producer may have taken this for a claim of it. */
			one_release(reader, first - 1);
		}
		bool ours = one_is_ours(reader, first, gid);
		if (ring_load(&one.gates[reader].floor) > first) {
			one_release(reader, first);
		} else if (ours) {
			*index = first;
			return true;
		}
	}
	return false;
}
