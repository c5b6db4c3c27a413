// SPDX-License-Identifier: MIT
/*
 * Reads a camera of PipeWire as browsers do, by WebRTC: webrtc-reader NODE FORMAT WIDTH HEIGHT
 * FILE. FORMAT is what PipeWire calls it. Writes each picture to the file, as it is.
 *
 * As they do, it asks for the highest rate that the camera has, and for rows without padding. It
 * maps a buffer from `mapoffset` on, and counts that once more from where it mapped. It knows of
 * one piece of memory for all planes, and does not look where in it a picture begins. So a camera
 * that gives other memory has it end by a signal, or write something else.
 *
 * With `any` behind FILE it reads as most other programs do: at any rate, and where PipeWire has
 * mapped a picture. With `files` it takes no dma-bufs besides.
 */
#include <err.h>
#include <errno.h>
#include <pipewire/pipewire.h>
#include <signal.h>
#include <spa/param/buffers.h>
#include <spa/param/video/format-utils.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define RATE 60

/* Those of WebRTC. */
static const struct format {
	const char *name;
	enum spa_video_format format;
	uint32_t bytes; /* of a pixel, in the first plane */
	bool planar;	/* with colours of two by two pixels behind it */
} formats[] = {
		{"I420", SPA_VIDEO_FORMAT_I420, 1, true},
		{"NV12", SPA_VIDEO_FORMAT_NV12, 1, true},
		{"YUY2", SPA_VIDEO_FORMAT_YUY2, 2, false},
		{"UYVY", SPA_VIDEO_FORMAT_UYVY, 2, false},
		{"RGB16", SPA_VIDEO_FORMAT_RGB16, 2, false},
		{"RGB", SPA_VIDEO_FORMAT_RGB, 3, false},
		{"BGR", SPA_VIDEO_FORMAT_BGR, 3, false},
		{"BGRA", SPA_VIDEO_FORMAT_BGRA, 4, false},
		{"RGBA", SPA_VIDEO_FORMAT_RGBA, 4, false},
		{"ARGB", SPA_VIDEO_FORMAT_ARGB, 4, false},
};

struct reader {
	struct pw_main_loop *loop;
	struct pw_stream *stream;
	const struct format *format;
	bool any, files;
	uint32_t width, height, size; /* of a picture, bytes */
	FILE *file;
};

static const struct format *find_format(const char *name) {
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		if (strcmp(formats[i].name, name) == 0) {
			return &formats[i];
		}
	}
	errx(EXIT_FAILURE, "browsers have no format %s", name);
}

/* Without padding. */
static uint32_t bytes_of_picture(const struct reader *reader) {
	uint32_t first = reader->width * reader->format->bytes * reader->height;
	uint32_t half = (reader->width + 1) / 2 * ((reader->height + 1) / 2);
	return reader->format->planar ? first + half * 2 : first;
}

static void write_picture(const struct reader *reader, const uint8_t *picture) {
	fwrite(picture, 1, reader->size, reader->file);
	fflush(reader->file);
}

static void take(const struct reader *reader, const struct spa_data *data) {
	if (data->chunk->size != reader->size) {
		errx(EXIT_FAILURE, "a picture has %u bytes, not %u", data->chunk->size,
				reader->size);
	}
	if (reader->files && data->type != SPA_DATA_MemFd && data->type != SPA_DATA_MemPtr) {
		errx(EXIT_FAILURE, "a picture is in memory of another kind");
	}
	if (reader->any) {
		write_picture(reader, (const uint8_t *)data->data + data->chunk->offset);
		return;
	}
	uint8_t *mapped = mmap(
			NULL, data->maxsize, PROT_READ, MAP_SHARED, (int)data->fd, data->mapoffset);
	if (mapped == MAP_FAILED) {
		err(EXIT_FAILURE, "a picture cannot be mapped");
	}
	write_picture(reader, mapped + data->mapoffset);
	munmap(mapped, data->maxsize);
}

static void handle_process(void *data) {
	struct reader *reader = data;
	struct pw_buffer *buffer;
	while ((buffer = pw_stream_dequeue_buffer(reader->stream)) != NULL) {
		const struct spa_meta_header *header = spa_buffer_find_meta_data(
				buffer->buffer, SPA_META_Header, sizeof(*header));
		if (header == NULL) {
			errx(EXIT_FAILURE, "a picture has no header");
		}
		take(reader, &buffer->buffer->datas[0]);
		pw_stream_queue_buffer(reader->stream, buffer);
	}
}

static void handle_param_changed(void *data, uint32_t id, const struct spa_pod *param) {
	struct reader *reader = data;
	struct spa_video_info_raw video;
	if (id != SPA_PARAM_Format || param == NULL) {
		return;
	}
	if (spa_format_video_raw_parse(param, &video) < 0 ||
			video.format != reader->format->format) {
		errx(EXIT_FAILURE, "this is another format");
	}
	const int files = 1 << SPA_DATA_MemFd | 1 << SPA_DATA_MemPtr;
	const int dmabufs = 1 << SPA_DATA_DmaBuf;
	uint8_t bytes[1024];
	struct spa_pod_builder builder = SPA_POD_BUILDER_INIT(bytes, sizeof(bytes));
	const struct spa_pod *params[] = {
			spa_pod_builder_add_object(&builder, SPA_TYPE_OBJECT_ParamBuffers,
					SPA_PARAM_Buffers, SPA_PARAM_BUFFERS_stride,
					SPA_POD_Int((int32_t)(reader->width *
							reader->format->bytes)),
					SPA_PARAM_BUFFERS_buffers,
					SPA_POD_CHOICE_RANGE_Int(8, 1, 32),
					SPA_PARAM_BUFFERS_dataType,
					SPA_POD_CHOICE_FLAGS_Int(
							reader->files ? files : files | dmabufs)),
			spa_pod_builder_add_object(&builder, SPA_TYPE_OBJECT_ParamMeta,
					SPA_PARAM_Meta, SPA_PARAM_META_type,
					SPA_POD_Id(SPA_META_Header), SPA_PARAM_META_size,
					SPA_POD_Int((int32_t)sizeof(struct spa_meta_header))),
	};
	pw_stream_update_params(reader->stream, params, 2);
}

static void handle_state_changed(void *data, enum pw_stream_state old, enum pw_stream_state state,
		const char *error) {
	if (state == PW_STREAM_STATE_ERROR) {
		errx(EXIT_FAILURE, "%s", error);
	}
}

static const struct pw_stream_events events = {
		.version = PW_VERSION_STREAM_EVENTS,
		.state_changed = handle_state_changed,
		.param_changed = handle_param_changed,
		.process = handle_process,
};

static int connect_to(struct reader *reader, const char *node) {
	uint8_t bytes[1024];
	struct spa_pod_builder builder = SPA_POD_BUILDER_INIT(bytes, sizeof(bytes));
	struct spa_fraction rate = {reader->any ? 0 : RATE, 1};
	const struct spa_pod *format = spa_pod_builder_add_object(&builder, SPA_TYPE_OBJECT_Format,
			SPA_PARAM_EnumFormat, SPA_FORMAT_mediaType,
			SPA_POD_Id(SPA_MEDIA_TYPE_video), SPA_FORMAT_mediaSubtype,
			SPA_POD_Id(SPA_MEDIA_SUBTYPE_raw), SPA_FORMAT_VIDEO_format,
			SPA_POD_Id(reader->format->format), SPA_FORMAT_VIDEO_size,
			SPA_POD_Rectangle(&SPA_RECTANGLE(reader->width, reader->height)),
			SPA_FORMAT_VIDEO_framerate, SPA_POD_Fraction(&rate));
	struct pw_properties *properties = pw_properties_new(PW_KEY_MEDIA_TYPE, "Video",
			PW_KEY_MEDIA_CATEGORY, "Capture", PW_KEY_MEDIA_ROLE, "Camera",
			PW_KEY_TARGET_OBJECT, node, NULL);
	reader->stream = pw_stream_new_simple(pw_main_loop_get_loop(reader->loop), "webrtc-reader",
			properties, &events, reader);
	if (reader->stream == NULL) {
		return -errno;
	}
	return pw_stream_connect(reader->stream, PW_DIRECTION_INPUT, PW_ID_ANY,
			PW_STREAM_FLAG_AUTOCONNECT | PW_STREAM_FLAG_DONT_RECONNECT |
					PW_STREAM_FLAG_MAP_BUFFERS,
			&format, 1);
}

static void handle_signal(void *data, int number) {
	pw_main_loop_quit(data);
}

int main(int argc, char **argv) {
	bool files = argc == 7 && strcmp(argv[6], "files") == 0;
	bool any = argc == 7 && strcmp(argv[6], "any") == 0;
	if (argc != 6 && !any && !files) {
		errx(EXIT_FAILURE,
				"usage: webrtc-reader NODE FORMAT WIDTH HEIGHT FILE [any|files]");
	}
	struct reader reader = {
			.format = find_format(argv[2]),
			.width = (uint32_t)strtoul(argv[3], NULL, 10),
			.height = (uint32_t)strtoul(argv[4], NULL, 10),
			.file = fopen(argv[5], "w"),
			.any = any || files,
			.files = files,
	};
	if (reader.file == NULL) {
		err(EXIT_FAILURE, "%s", argv[5]);
	}
	reader.size = bytes_of_picture(&reader);
	pw_init(NULL, NULL);
	reader.loop = pw_main_loop_new(NULL);
	if (reader.loop == NULL || connect_to(&reader, argv[1]) < 0) {
		err(EXIT_FAILURE, "PipeWire");
	}
	pw_loop_add_signal(pw_main_loop_get_loop(reader.loop), SIGTERM, handle_signal, reader.loop);
	pw_main_loop_run(reader.loop);
	pw_stream_destroy(reader.stream);
	pw_main_loop_destroy(reader.loop);
	pw_deinit();
	fclose(reader.file);
	return EXIT_SUCCESS;
}
