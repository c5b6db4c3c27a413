// SPDX-License-Identifier: MIT
/*
 * An EIS server: `eis-peer SOCKET WAY`, which says on its stdout what its client does.
 *
 *   plain    a keyboard, a mouse, a pointer with two regions, and a touch panel
 *   keymap   its keymap is of 1 GB
 *   refuse   it takes nobody
 *   many     it has 17 keyboards
 *   vast     its pointer has a region without bounds, as gamescope's, and its panel none
 *   flood    it has 100 at once, of which libeis itself may not get rid
 *
 * Lines on its stdin: `swap` all devices for others, `end` the connection. It answers each once its
 * client has heard of it.
 */
#include <err.h>
#include <libeis.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MANY 17
#define FLOOD 100
#define KEYMAP_SIZE (1l << 30)

static const char *way;
static struct eis_client *client;
static struct eis_seat *seat;
static struct eis_device *devices[FLOOD];
static size_t count;
static struct eis_ping *ping;

static const struct {
	const char *name;
	enum eis_device_capability capabilities[3]; // the first says whether it is wanted
} kinds[] = {
		{"keyboard", {EIS_DEVICE_CAP_KEYBOARD}},
		{"mouse", {EIS_DEVICE_CAP_POINTER, EIS_DEVICE_CAP_BUTTON, EIS_DEVICE_CAP_SCROLL}},
		{"pointer", {EIS_DEVICE_CAP_POINTER_ABSOLUTE}},
		{"touch", {EIS_DEVICE_CAP_TOUCH}},
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static void add_region(struct eis_device *device, uint32_t x, uint32_t width, uint32_t height) {
	struct eis_region *region = eis_device_new_region(device);
	eis_region_set_offset(region, x, 0);
	eis_region_set_size(region, width, height);
	eis_region_add(region);
	eis_region_unref(region);
}

static void add_keymap(struct eis_device *device) {
	int fd = memfd_create("keymap", MFD_CLOEXEC);
	if (fd < 0 || ftruncate(fd, KEYMAP_SIZE) < 0) {
		err(EXIT_FAILURE, "keymap");
	}
	struct eis_keymap *keymap =
			eis_device_new_keymap(device, EIS_KEYMAP_TYPE_XKB, fd, KEYMAP_SIZE);
	eis_keymap_add(keymap);
	eis_keymap_unref(keymap);
	close(fd);
}

static void add_device(size_t kind) {
	struct eis_device *device = eis_seat_new_device(seat);
	eis_device_configure_name(device, kinds[kind].name);
	for (size_t i = 0; i < 3 && kinds[kind].capabilities[i] != 0; i++) {
		eis_device_configure_capability(device, kinds[kind].capabilities[i]);
	}
	if (kinds[kind].capabilities[0] == EIS_DEVICE_CAP_KEYBOARD && strcmp(way, "keymap") == 0) {
		add_keymap(device);
	} else if (strcmp(way, "vast") == 0 && kind == 2) {
		add_region(device, 0, INT32_MAX, INT32_MAX);
	} else if (strcmp(way, "vast") != 0 && kind >= 2) {
		add_region(device, 0, 800, 600);
		add_region(device, 800, 400, 600);
	}
	eis_device_add(device);
	eis_device_resume(device);
	devices[count++] = device;
	printf("device %s\n", kinds[kind].name);
}

static void add_devices(struct eis_event *event) {
	static bool has[KINDS];
	const size_t least = strcmp(way, "many") == 0 ? MANY
			: strcmp(way, "flood") == 0   ? FLOOD
						      : 0;
	for (size_t kind = 0; kind < KINDS; kind++) {
		if (has[kind] ||
				!eis_event_seat_has_capability(
						event, kinds[kind].capabilities[0])) {
			continue;
		}
		has[kind] = true;
		do {
			add_device(kind);
		} while (count < least);
	}
}

static void swap_devices(void) {
	size_t before = count;
	count = 0;
	for (size_t i = 0; i < before; i++) {
		for (size_t kind = 0; kind < KINDS; kind++) {
			if (eis_device_has_capability(devices[i], kinds[kind].capabilities[0])) {
				eis_device_remove(devices[i]);
				eis_device_unref(devices[i]);
				add_device(kind);
				break;
			}
		}
	}
}

static void add_client(struct eis_client *added) {
	if (strcmp(way, "refuse") == 0) {
		eis_client_disconnect(added);
		return;
	}
	client = eis_client_ref(added);
	printf("client %s\n", eis_client_get_name(client));
	eis_client_connect(client);
	seat = eis_client_new_seat(client, "seat");
	for (size_t kind = 0; kind < KINDS; kind++) {
		for (size_t i = 0; i < 3 && kinds[kind].capabilities[i] != 0; i++) {
			eis_seat_configure_capability(seat, kinds[kind].capabilities[i]);
		}
	}
	eis_seat_add(seat);
}

static void tell(struct eis_event *event) {
	switch (eis_event_get_type(event)) {
	case EIS_EVENT_CLIENT_CONNECT:
		add_client(eis_event_get_client(event));
		break;
	case EIS_EVENT_CLIENT_DISCONNECT:
		printf("gone\n");
		break;
	case EIS_EVENT_PONG:
		ping = eis_ping_unref(ping);
		printf("done\n");
		break;
	case EIS_EVENT_SEAT_BIND:
		add_devices(event);
		break;
	case EIS_EVENT_KEYBOARD_KEY:
		printf("key %u %d\n", eis_event_keyboard_get_key(event),
				eis_event_keyboard_get_key_is_press(event));
		break;
	case EIS_EVENT_BUTTON_BUTTON:
		printf("button %u %d\n", eis_event_button_get_button(event),
				eis_event_button_get_is_press(event));
		break;
	case EIS_EVENT_POINTER_MOTION:
		printf("relative %g %g\n", eis_event_pointer_get_dx(event),
				eis_event_pointer_get_dy(event));
		break;
	case EIS_EVENT_POINTER_MOTION_ABSOLUTE:
		printf("motion %g %g\n", eis_event_pointer_get_absolute_x(event),
				eis_event_pointer_get_absolute_y(event));
		break;
	case EIS_EVENT_SCROLL_DISCRETE:
		printf("wheel %d %d\n", eis_event_scroll_get_discrete_dx(event),
				eis_event_scroll_get_discrete_dy(event));
		break;
	case EIS_EVENT_SCROLL_DELTA:
		printf("scroll %g %g\n", eis_event_scroll_get_dx(event),
				eis_event_scroll_get_dy(event));
		break;
	case EIS_EVENT_SCROLL_STOP:
		printf("stop %d %d\n", eis_event_scroll_get_stop_x(event),
				eis_event_scroll_get_stop_y(event));
		break;
	case EIS_EVENT_TOUCH_DOWN:
	case EIS_EVENT_TOUCH_MOTION:
		printf("%s %g %g\n",
				eis_event_get_type(event) == EIS_EVENT_TOUCH_DOWN ? "down" : "move",
				eis_event_touch_get_x(event), eis_event_touch_get_y(event));
		break;
	case EIS_EVENT_TOUCH_UP:
		printf("up\n");
		break;
	case EIS_EVENT_FRAME:
		printf("frame\n");
		break;
	default:
		break;
	}
}

static void obey(const char *line) {
	if (strcmp(line, "swap\n") == 0) {
		swap_devices();
	} else if (strcmp(line, "end\n") == 0) {
		eis_client_disconnect(client);
		return;
	} else {
		errx(EXIT_FAILURE, "no command: %s", line);
	}
	ping = eis_client_new_ping(client);
	eis_ping(ping);
}

int main(int argc, char **argv) {
	struct eis *eis = eis_new(NULL);
	char line[32];
	if (argc != 3 || eis == NULL || eis_setup_backend_socket(eis, argv[1]) != 0) {
		errx(EXIT_FAILURE, "usage: eis-peer SOCKET WAY");
	}
	way = argv[2];
	setlinebuf(stdout);
	setbuf(stdin, NULL);
	printf("ready\n");
	struct pollfd fds[] = {{STDIN_FILENO, POLLIN, 0}, {eis_get_fd(eis), POLLIN, 0}};
	while (poll(fds, 2, -1) > 0) {
		if (fds[0].revents != 0) {
			if (fgets(line, sizeof(line), stdin) == NULL) {
				return EXIT_SUCCESS;
			}
			obey(line);
		}
		eis_dispatch(eis);
		struct eis_event *event;
		while ((event = eis_get_event(eis)) != NULL) {
			tell(event);
			eis_event_unref(event);
		}
	}
}
