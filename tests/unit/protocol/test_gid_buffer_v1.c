// SPDX-License-Identifier: MIT
#include "gid-buffer-v1-client-protocol.h"
#include "gid-buffer-v1-protocol.h"
#include "protocol_messages.h"

int main(void) {
	check_interface(&gid_buffer_manager_v1_interface, "gid_buffer_manager_v1", 1,
			LIST("destroy()", "create_params(n)", "get_feedback(n)"), LIST(NULL));
	check_interface(&gid_buffer_params_v1_interface, "gid_buffer_params_v1", 1,
			LIST("destroy()", "add(uuuuuuu)", "create(iiu)", "create_immed(niiu)"),
			LIST("created(n)", "failed()", "revoked()"));
	check_interface(&gid_buffer_feedback_v1_interface, "gid_buffer_feedback_v1", 1,
			LIST("destroy()"), LIST("format(uuuu)", "domain(us)", "done()"));
	return failures ? 1 : 0;
}
