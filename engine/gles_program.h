// SPDX-License-Identifier: MIT
/**
 * What the device does for each pixel. It computes with whole numbers, as pixman and
 * common/convert/ do, so that its pixels are theirs but for what blending rounds.
 */
#ifndef ENGINE_GLES_PROGRAM_H
#define ENGINE_GLES_PROGRAM_H

/* Programs are made of these parts, with KIND (enum gles_kind) and FILTER defined before the last.
 */
static const char gles_version_text[] = "#version 300 es\n";

static const char gles_vertex_text[] =
		"uniform vec2 target_size;\n"
		"layout(location = 0) in vec2 position;\n"
		"layout(location = 1) in vec2 delta;\n"
		"flat out highp ivec2 to_mask;\n"
		"void main() {\n"
		"	to_mask = ivec2(delta);\n"
		"	gl_Position = vec4(position / target_size * 2.0 - 1.0, 0.0, 1.0);\n"
		"}\n";

static const char gles_fragment_text[] =
		"precision highp float;\n"
		"precision highp int;\n"
		"precision highp sampler2D;\n"
		"uniform bool swapped;\n"
		"uniform ivec4 colour;\n" /* red, green, blue, alpha, multiplied by it */
		"uniform sampler2D plane_0, plane_1, plane_2;\n"
		"uniform ivec2 origin[3];\n" /* of the texture, in samples of the plane */
		"uniform ivec2 shift[3];\n"  /* from pixels to samples of the plane */
		"uniform ivec2 corner;\n"    /* of the layer on the target */
		"uniform ivec4 box;\n"	     /* first and last column and row of the source */
		"uniform ivec4 steps;\n"     /* pixman's matrix, in 1/65536 of a pixel */
		"uniform ivec2 start;\n"
		"uniform bool straight;\n"
		"uniform bool opaque;\n"
		"uniform ivec4 order;\n"  /* the bytes of red, green, blue and alpha */
		"uniform ivec4 bytes;\n"  /* of Y in even and odd columns, of U, of V */
		"uniform ivec4 matrix;\n" /* V to red, U and V to green, U to blue */
		"uniform ivec2 offset;\n" /* of Y, and its factor */
		"uniform int alpha;\n"
		"flat in ivec2 to_mask;\n"
		"out vec4 result;\n"
		"\n"
		"ivec4 sample_0(ivec2 at) {\n"
		"	return ivec4(texelFetch(plane_0, (at >> shift[0]) - origin[0], 0) * 255.0 + 0.5);\n"
		"}\n"
		"\n"
		"ivec4 times(ivec4 value, int by) {\n" /* as pixman rounds */
		"	ivec4 product = value * by + 128;\n"
		"	return (product + (product >> 8)) >> 8;\n"
		"}\n"
		"\n"
		"#if KIND == 3\n"
		"ivec4 pixel_at(ivec2 at) {\n"
		"	ivec4 first = sample_0(at);\n"
		"	ivec4 second = ivec4(texelFetch(plane_1, (at >> shift[1]) - origin[1], 0) * 255.0 + 0.5);\n"
		"	ivec4 third = ivec4(texelFetch(plane_2, (at >> shift[2]) - origin[2], 0) * 255.0 + 0.5);\n"
		"	int y = ((at.x & 1) == 0 ? first[bytes[0]] : first[bytes[1]]) * 256;\n"
		"	int u = (second[bytes[2]] - 128) * 256, v = (third[bytes[3]] - 128) * 256;\n"
		"	y = (y - offset.x) * offset.y + 524288;\n"
		"	ivec3 rgb = ivec3(y + matrix.x * v, y - matrix.y * u - matrix.z * v, y + matrix.w * u);\n"
		"	return ivec4(clamp(rgb >> 20, 0, 255), 255);\n"
		"}\n"
		"#elif KIND == 2\n"
		"ivec4 pixel_at(ivec2 at) {\n"
		"	vec4 bits = texelFetch(plane_0, at - origin[0], 0);\n"
		"	ivec3 part = ivec3(bits.rgb * vec3(31.0, 63.0, 31.0) + 0.5);\n"
		"	return ivec4((part << ivec3(3, 2, 3)) | (part >> ivec3(2, 4, 2)), 255);\n"
		"}\n"
		"#else\n"
		"ivec4 pixel_at(ivec2 at) {\n"
		"	ivec4 raw = sample_0(at);\n"
		"	ivec4 found = ivec4(raw[order.x], raw[order.y], raw[order.z], raw[order.w]);\n"
		"	found.a = opaque ? 255 : found.a;\n"
		"	if (straight) {\n"
		"		found.rgb = (found.rgb * found.a + 127) / 255;\n"
		"	}\n"
		"	return found;\n"
		"}\n"
		"#endif\n"
		"\n"
		"ivec4 pixel(ivec2 at) {\n"
		"	return pixel_at(clamp(at + box.xy, box.xy, box.zw));\n"
		"}\n"
		"\n"
		"ivec4 filtered(ivec2 at) {\n"
		"#if FILTER == 0\n"
		"	return pixel((at - 1) >> 16);\n"
		"#else\n"
		"	at -= 32768;\n"
		"	ivec2 first = at >> 16, part = ((at >> 9) & 127) << 1;\n"
		"	ivec2 rest = 256 - part;\n"
		"	ivec4 sum = pixel(first) * (rest.x * rest.y);\n"
		"	sum += pixel(first + ivec2(1, 0)) * (part.x * rest.y);\n"
		"	sum += pixel(first + ivec2(0, 1)) * (rest.x * part.y);\n"
		"	sum += pixel(first + ivec2(1, 1)) * (part.x * part.y);\n"
		"	return sum >> 16;\n"
		"#endif\n"
		"}\n"
		"\n"
		"void main() {\n"
		"	ivec2 at = ivec2(gl_FragCoord.xy);\n"
		"#if KIND == 0\n"
		"	ivec4 found = colour;\n"
		"#elif KIND == 4\n"
		"	ivec4 found = times(colour, sample_0(at + to_mask).r);\n"
		"#else\n"
		"	at -= corner;\n"
		"	ivec4 found = filtered(steps.xz * at.x + steps.yw * at.y + start);\n"
		"	found = times(found, alpha);\n"
		"#endif\n"
		"	vec4 colours = vec4(found) / 255.0;\n"
		"	result = swapped ? colours.bgra : colours;\n"
		"}\n";

#endif
