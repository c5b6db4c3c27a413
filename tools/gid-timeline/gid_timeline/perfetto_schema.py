# SPDX-License-Identifier: MIT
"""What of Perfetto's own trace format is read: its messages with the numbers of their fields.

The numbers are public and stay; what is not named here is skipped.
"""

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

# A type with * is of a field that comes several times; one that is no type of the library's is one
# of these messages.
_MESSAGES = {
    "Packet": {
        "trusted_uid": (3, "int32"),
        "clock_snapshot": (6, "ClockSnapshot"),
        "timestamp": (8, "uint64"),
        "trusted_packet_sequence_id": (10, "uint32"),
        "track_event": (11, "TrackEvent"),
        "interned_data": (12, "InternedData"),
        "sequence_flags": (13, "uint32"),
        "incremental_state_cleared": (41, "bool"),
        "previous_packet_dropped": (42, "bool"),
        "compressed_packets": (50, "bytes"),
        "timestamp_clock_id": (58, "uint32"),
        "trace_packet_defaults": (59, "PacketDefaults"),
        "track_descriptor": (60, "TrackDescriptor"),
        "trusted_pid": (79, "int32"),
    },
    "PacketDefaults": {
        "track_event_defaults": (11, "TrackEventDefaults"),
        "timestamp_clock_id": (58, "uint32"),
    },
    "TrackEventDefaults": {"track_uuid": (11, "uint64")},
    "ClockSnapshot": {"clocks": (1, "*Clock")},
    "Clock": {
        "clock_id": (1, "uint32"),
        "timestamp": (2, "uint64"),
        "is_incremental": (3, "bool"),
        "unit_multiplier_ns": (4, "uint64"),
    },
    "InternedData": {
        "event_names": (2, "*Name"),
        "debug_annotation_names": (3, "*Name"),
        "debug_annotation_string_values": (29, "*Name"),
    },
    "Name": {"iid": (1, "uint64"), "name": (2, "bytes")},
    "TrackDescriptor": {
        "uuid": (1, "uint64"),
        "name": (2, "bytes"),
        "process": (3, "Process"),
        "thread": (4, "Thread"),
        "parent_uuid": (5, "uint64"),
        "counter": (8, "Counter"),
        "static_name": (10, "bytes"),
    },
    "Process": {"pid": (1, "int32"), "cmdline": (2, "*bytes"), "process_name": (6, "bytes")},
    "Thread": {"pid": (1, "int32"), "tid": (2, "int64"), "thread_name": (5, "bytes")},
    "Counter": {"unit_multiplier": (4, "int64"), "is_incremental": (5, "bool")},
    "TrackEvent": {
        "debug_annotations": (4, "*Annotation"),
        "type": (9, "int32"),
        "name_iid": (10, "uint64"),
        "track_uuid": (11, "uint64"),
        "name": (23, "bytes"),
        "counter_value": (30, "int64"),
        "double_counter_value": (44, "double"),
        "flow_ids": (47, "*fixed64"),
        "terminating_flow_ids": (48, "*fixed64"),
    },
    "Annotation": {
        "name_iid": (1, "uint64"),
        "bool_value": (2, "bool"),
        "uint_value": (3, "uint64"),
        "int_value": (4, "int64"),
        "double_value": (5, "double"),
        "string_value": (6, "bytes"),
        "pointer_value": (7, "uint64"),
        "name": (10, "bytes"),
        "string_value_iid": (17, "uint64"),
    },
}
SLICE_BEGIN, SLICE_END, INSTANT, COUNTER = 1, 2, 3, 4  # TrackEvent.type
STATE_CLEARED, NEEDS_STATE = 1, 2  # bits of Packet.sequence_flags
MONOTONIC, BOOTTIME, SEQUENCE_CLOCKS = 3, 6, range(64, 128)  # Clock.clock_id
PACKET_TAG = 0x0A  # of each packet in the file: field 1, bytes


def _make_packet() -> type:
    field_type = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(
        name="gid_timeline_perfetto.proto", package="gid_timeline_perfetto", syntax="proto2"
    )
    for name, fields in _MESSAGES.items():
        message = file.message_type.add(name=name)
        for field, (number, kind) in fields.items():
            several, plain = kind.startswith("*"), kind.lstrip("*")
            made = message.field.add(name=field, number=number)
            made.label = field_type.LABEL_REPEATED if several else field_type.LABEL_OPTIONAL
            if plain in _MESSAGES:
                made.type, made.type_name = field_type.TYPE_MESSAGE, f".{file.package}.{plain}"
            else:
                made.type = getattr(field_type, f"TYPE_{plain.upper()}")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    described = pool.FindMessageTypeByName(f"{file.package}.Packet")
    if hasattr(message_factory, "GetMessageClass"):
        return message_factory.GetMessageClass(described)
    return message_factory.MessageFactory(pool).GetPrototype(described)  # before protobuf 4.22


Packet = _make_packet()
