// SPDX-License-Identifier: MIT
/* gidctl doctor: looks at the machine, or at the assumptions of use, and sums up what was found. */
#include <stdio.h>
#include <stdlib.h>

#include "doctor.h"

int command_doctor(const struct options *options) {
	struct doctor doctor = {.options = options};
	if (options->assurance) {
		doctor_check_assumptions(&doctor);
	} else {
		doctor_check_machine(&doctor);
	}
	for (unsigned i = 0; i < doctor.file_count; i++) {
		free(doctor.files[i]);
	}
	if (options->json) {
		sd_json_variant_dump(doctor.findings,
				SD_JSON_FORMAT_PRETTY | SD_JSON_FORMAT_NEWLINE, stdout, NULL);
		sd_json_variant_unref(doctor.findings);
	} else {
		printf("\n%u ok, %u to note, %u bad", doctor.counts[VERDICT_GOOD],
				doctor.counts[VERDICT_WARNING], doctor.counts[VERDICT_BAD]);
		if (options->assurance) {
			printf(", %u to ask people", doctor.counts[VERDICT_ASK]);
		}
		printf("\n");
	}
	return doctor.counts[VERDICT_BAD] == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
