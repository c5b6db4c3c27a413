// SPDX-License-Identifier: MIT
#include "node_params.h"

#include <spa/param/buffers.h>
#include <spa/param/video/format-utils.h>
#include <spa/pod/builder.h>

#include "video_formats.h"

/*
 * A picture that stands still is shown again to new readers while earlier readers still have it: a
 * GStreamer sink keeps its last buffer. So each slot has several buffers.
 */
#define BUFFERS_A_SLOT 2
/* The least that GStreamer's pipewiresrc asked for, until PipeWire 1.6. */
#define BUFFERS_LEAST 8

struct pw_properties *node_properties(const struct pipewire_options *options, const char *owner) {
	struct pw_properties *properties = pw_properties_new(PW_KEY_MEDIA_TYPE, "Video",
			PW_KEY_MEDIA_CLASS, "Video/Source", PW_KEY_MEDIA_ROLE, "Camera", NULL);
	if (properties == NULL) {
		return NULL;
	}
	if (options->name != NULL) {
		pw_properties_set(properties, PW_KEY_NODE_NAME, options->name);
	} else {
		pw_properties_setf(
				properties, PW_KEY_NODE_NAME, "gid.%s.%s", owner, options->stream);
	}
	if (options->description != NULL) {
		pw_properties_set(properties, PW_KEY_NODE_DESCRIPTION, options->description);
	} else {
		pw_properties_setf(properties, PW_KEY_NODE_DESCRIPTION, "%s (%s)", options->stream,
				owner);
	}
	return properties;
}

/*
 * Frames come when they come. Browsers want to hear a rate: they take the highest. They must not
 * get slots that are not packed, which they would read at a wrong place, and beyond their end.
 */
static void add_rate(struct spa_pod_builder *builder, bool packed) {
	const struct spa_fraction any = {0, 1}, usual = {30, 1}, high = {60, 1};
	if (packed) {
		spa_pod_builder_add(builder, SPA_FORMAT_VIDEO_framerate,
				SPA_POD_CHOICE_ENUM_Fraction(4, &usual, &usual, &high, &any), 0);
	} else {
		spa_pod_builder_add(builder, SPA_FORMAT_VIDEO_framerate, SPA_POD_Fraction(&any), 0);
	}
}

void node_params_format(struct node_params *params, const struct slots *slots, uint32_t width,
		uint32_t height) {
	struct spa_pod_builder builder = SPA_POD_BUILDER_INIT(params->bytes, sizeof(params->bytes));
	const struct gid_layout *layout = &slots->own_layout;
	enum spa_video_color_range range = video_range_of(&layout->colours);
	enum spa_video_color_matrix matrix = video_matrix_of(&layout->colours);
	struct spa_pod_frame frame;
	spa_pod_builder_push_object(&builder, &frame, SPA_TYPE_OBJECT_Format, SPA_PARAM_EnumFormat);
	spa_pod_builder_add(&builder, SPA_FORMAT_mediaType, SPA_POD_Id(SPA_MEDIA_TYPE_video),
			SPA_FORMAT_mediaSubtype, SPA_POD_Id(SPA_MEDIA_SUBTYPE_raw),
			SPA_FORMAT_VIDEO_format, SPA_POD_Id(video_format_of(layout->fourcc)),
			SPA_FORMAT_VIDEO_size, SPA_POD_Rectangle(&SPA_RECTANGLE(width, height)), 0);
	add_rate(&builder, slots->packed);
	if (range != SPA_VIDEO_COLOR_RANGE_UNKNOWN) {
		spa_pod_builder_add(&builder, SPA_FORMAT_VIDEO_colorRange, SPA_POD_Id(range), 0);
	}
	if (matrix != SPA_VIDEO_COLOR_MATRIX_UNKNOWN) {
		spa_pod_builder_add(&builder, SPA_FORMAT_VIDEO_colorMatrix, SPA_POD_Id(matrix), 0);
	}
	params->params[0] = spa_pod_builder_pop(&builder, &frame);
	params->count = 1;
}

static int32_t count_buffers(int32_t slots) {
	int32_t count = slots * BUFFERS_A_SLOT;
	while (count < BUFFERS_LEAST) {
		count += slots;
	}
	return count < (int32_t)SLOTS_MAX ? count : (int32_t)SLOTS_MAX;
}

void node_params_buffers(struct node_params *params, const struct slots *slots) {
	struct spa_pod_builder builder = SPA_POD_BUILDER_INIT(params->bytes, sizeof(params->bytes));
	const struct gid_layout *layout = &slots->own_layout;
	int32_t least = (int32_t)slots_count(slots);
	int32_t blocks = slots->packed ? 1 : (int32_t)layout->plane_count;
	int32_t types = 1 << SPA_DATA_MemFd;
	for (int32_t slot = 0; slot < least; slot++) {
		if (slots_place(slots, (uint32_t)slot).dmabuf) {
			types |= 1 << SPA_DATA_DmaBuf;
		}
	}
	params->params[0] = spa_pod_builder_add_object(&builder, SPA_TYPE_OBJECT_ParamBuffers,
			SPA_PARAM_Buffers, SPA_PARAM_BUFFERS_buffers,
			SPA_POD_CHOICE_RANGE_Int(count_buffers(least), least, (int32_t)SLOTS_MAX),
			SPA_PARAM_BUFFERS_blocks, SPA_POD_Int(blocks), SPA_PARAM_BUFFERS_size,
			SPA_POD_Int((int32_t)slots->size), SPA_PARAM_BUFFERS_stride,
			SPA_POD_Int((int32_t)layout->planes[0].stride), SPA_PARAM_BUFFERS_dataType,
			SPA_POD_CHOICE_FLAGS_Int(types));
	params->params[1] = spa_pod_builder_add_object(&builder, SPA_TYPE_OBJECT_ParamMeta,
			SPA_PARAM_Meta, SPA_PARAM_META_type, SPA_POD_Id(SPA_META_Header),
			SPA_PARAM_META_size, SPA_POD_Int((int32_t)sizeof(struct spa_meta_header)));
	params->params[2] = spa_pod_builder_add_object(&builder, SPA_TYPE_OBJECT_ParamMeta,
			SPA_PARAM_Meta, SPA_PARAM_META_type, SPA_POD_Id(SPA_META_VideoTransform),
			SPA_PARAM_META_size,
			SPA_POD_Int((int32_t)sizeof(struct spa_meta_videotransform)));
	params->count = NODE_PARAMS_MAX;
}
