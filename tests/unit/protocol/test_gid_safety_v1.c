// SPDX-License-Identifier: MIT
#include "gid-safety-v1-client-protocol.h"
#include "gid-safety-v1-protocol.h"
#include "protocol_messages.h"

int main(void) {
	check_interface(&gid_safety_manager_v1_interface, "gid_safety_manager_v1", 1,
			LIST("destroy()", "get_safety_surface(nos)"), LIST("role(sii)", "done()"));
	check_interface(&gid_safety_surface_v1_interface, "gid_safety_surface_v1", 1,
			LIST("destroy()"), LIST("shown(uuuuu)", "lost(u)"));
	return failures ? 1 : 0;
}
