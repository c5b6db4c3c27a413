// SPDX-License-Identifier: MIT
/* Who goes before ordinary programs to read pictures, for how long, and before whom. */
#include "cluster/workers/work_bound.h"

#include "tap.h"

#define REFRESH_NS 16000000u
#define MS 1000000u

int main(void) {
	/* One that is too dear for all, one that may be sent what is dear, a stranger, small ones.
	 */
	const struct examiner_cost costs[] = {
			{.least = 100 * MS, .most = 900 * MS},
			{.least = 2 * MS, .most = 30 * MS},
			{0},
			{.least = MS / 2, .most = MS / 2},
			{.least = MS, .most = MS},
	};
	struct work_grant grants[5];
	tap_ok(work_bound_grant(costs, 5, REFRESH_NS, 10, grants) == 0, "granted");
	tap_ok(grants[0].ns == 0 && grants[0].priority == 0, "nothing for what is too dear");
	tap_ok(grants[1].ns == 4 * MS && grants[3].ns == MS && grants[4].ns == 2 * MS,
			"twice what the cheapest pictures take");
	tap_ok(grants[2].ns == 0, "nothing for who may have nothing");
	tap_ok(grants[3].priority > grants[4].priority && grants[4].priority > grants[1].priority &&
					grants[1].priority >= 1 && grants[3].priority < 10,
			"who takes less goes before who takes more: %d, %d, %d", grants[3].priority,
			grants[4].priority, grants[1].priority);
	work_bound_grant(costs, 5, REFRESH_NS / 2, 10, grants);
	tap_ok(grants[1].ns == 0 && grants[3].ns == MS && grants[4].ns == 2 * MS,
			"where there is less, those that take least get it");
	work_bound_grant(costs, 5, REFRESH_NS, 3, grants);
	tap_ok(grants[3].priority == 2 && grants[4].priority == 2 && grants[1].priority == 1,
			"with few priorities below the display's, they share them");
	work_bound_grant(costs, 5, REFRESH_NS, 1, grants);
	tap_ok(grants[1].ns == 0 && grants[3].ns == 0, "without any they get nothing");
	work_bound_grant(costs, 5, REFRESH_NS, 0, grants);
	tap_ok(grants[1].ns == 0 && grants[3].ns == 0, "nor where the display is as others");
	return tap_finish();
}
