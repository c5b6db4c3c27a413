# SPDX-License-Identifier: MIT
"""Which proofs of tests/proofs there are, and the mutants that each of them has to refuse."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Proof:
    """A function of a file of tests/proofs. `replaced`: the one is called instead of the other.

    `loops`: how often each is followed, and `most` the others. If one could go on, it fails.
    """

    file: str
    function: str
    what: str
    most: int
    loops: tuple[str, ...] = ()
    replaced: tuple[tuple[str, str], ...] = ()
    is_refused: bool = False  # it says what is not so, to show that there are such runs
    is_quick: bool = False  # seconds, with its mutants

    @property
    def name(self) -> str:
        return f"{self.file.removesuffix('_proof.c')} {self.function}"


@dataclass(frozen=True)
class Mutant:
    """A source in which one thing is otherwise. `proof`: the one that refuses it, by its name."""

    name: str
    proof: str
    file: str
    old: str
    new: str


# What is compiled with each file of proofs, which brings the source that it is about itself.
SOURCES = {
    "role_proof.c": (),
    "wire_proof.c": ("libgid/wire_ring.c", "libgid/layout.c", "libgid/format.c", "libgid/gid.c"),
}

_TEXTS = (
    ("field_is_text", "some_text"),
    ("gid_name_is_valid", "some_name"),
    ("strnlen", "some_length"),
    ("memcmp", "some_difference"),
)
_LAYOUTS = (*_TEXTS, ("gid_format_find", "some_format"))
_CHARACTERS = ("character_length.0:5", "is_formatting.0:11")

# As BODIES of wire_proof.c has them.
_BODIES = (
    *("hello", "welcome", "result", "unexport", "grant", "revoked", "alloc", "allocated"),
    *("publish", "unpublish", "subscribe", "subscriber", "accept", "subscribed"),
    *("subscription_end", "clock", "doorbell", "hearing", "report", "bell", "ping", "pong"),
    *("device", "vector", "join", "joined", "peer", "withdraw", "punch", "own_window"),
    *("seal", "sealed"),
    *("export", "imported", "offers"),
)
_STAND_INS = tuple((f"check_{name}", f"some_{name}") for name in _BODIES)

PROOFS = (
    Proof(
        "role_proof.c",
        "begin",
        "a role begins dark, and as the next proof takes it",
        5,
        is_quick=True,
    ),
    Proof("role_proof.c", "step", "no event makes a role live that must not be", 5),
    Proof("role_proof.c", "reaches_live", "no role is ever live", 5, is_refused=True),
    Proof("wire_proof.c", "messages", "messages of any type, up to bodies", 5, (), _STAND_INS),
    Proof("wire_proof.c", "short_message", "less than a header", 5, (), _STAND_INS),
    Proof("wire_proof.c", "bodies", "the body of each message but three", 67, (), _TEXTS),
    Proof("wire_proof.c", "exported", "the body of EXPORT", 6, (), _LAYOUTS),
    Proof("wire_proof.c", "imported", "the body of IMPORTED", 6, (), _LAYOUTS),
    Proof("wire_proof.c", "offers", "the body of OFFERS", 67, (), _TEXTS),
    Proof("wire_proof.c", "frame", "entries of rings", 5, is_quick=True),
    Proof("wire_proof.c", "pages", "what a consumer's page says", 90, is_quick=True),
    Proof("wire_proof.c", "machines", "envelopes, windows and bells", 260, (), _TEXTS),
    Proof("wire_proof.c", "text", "texts of fields up to 8 bytes", 10, _CHARACTERS),
    Proof("wire_proof.c", "name", "names up to 5 bytes", 8),
)

MUTANTS = (
    Mutant(
        "an old frame once more",
        "role step",
        "cluster/base/role.c",
        "frame->sequence <= role->last_sequence",
        "frame->sequence < role->last_sequence",
    ),
    Mutant(
        "a frame that comes late",
        "role step",
        "cluster/base/role.c",
        "now - frame->submit_time > role->limits.deadline_ns",
        "now - frame->submit_time > 2 * role->limits.deadline_ns",
    ),
    Mutant(
        "a frame without a hash",
        "role step",
        "cluster/base/role.c",
        "if (!frame->has_hash) {",
        "if (false) {",
    ),
    Mutant(
        "other pixels than the frame says",
        "role step",
        "cluster/base/role.c",
        "if (frame->pixel_hash != frame->stated_hash) {",
        "if (false) {",
    ),
    Mutant(
        "a picture that is not allowed",
        "role step",
        "cluster/base/role.c",
        "if (!frame->allowed) {",
        "if (false) {",
    ),
    Mutant(
        "frames that stay away",
        "role step",
        "cluster/base/role.c",
        "now - role->last_frame > role->limits.deadline_ns",
        "now - role->last_frame >= 2 * role->limits.deadline_ns",
    ),
    Mutant(
        "one bad frame among good ones",
        "role step",
        "cluster/base/role.c",
        "if (state != ROLE_LIVE) {\n\t\trole->good = 0;",
        "if (state != ROLE_LIVE) {",
    ),
    Mutant(
        "back one good frame too early",
        "role step",
        "cluster/base/role.c",
        "role->good < role->limits.good_frames ||",
        "role->good + 1 < role->limits.good_frames ||",
    ),
    Mutant(
        "arrivals behind their ring",
        "role step",
        "cluster/base/role.c",
        "(role->arrival_next + 1) % role->limits.min_rate",
        "role->arrival_next + 1",
    ),
    Mutant(
        "still since before a restart",
        "role step",
        "cluster/base/role.c",
        "(role->knows_colour && frame->colour != role->last_colour)",
        "frame->colour != role->last_colour",
    ),
    Mutant(
        "live over a restart",
        "role begin",
        "cluster/base/role.c",
        "if (role->state == ROLE_LIVE) {",
        "if (false) {",
    ),
    Mutant(
        "a text without an end",
        "wire text",
        "libgid/wire.c",
        "if (length == size || !",
        "if (!",
    ),
    Mutant(
        "control characters",
        "wire text",
        "libgid/wire.c",
        " || !gid_wire_text_is_valid(field, length)) {",
        ") {",
    ),
    Mutant(
        "on behind the end of a name",
        "wire name",
        "libgid/gid.c",
        "if (name[length] == '\\0') {",
        "if (length == 0) {",
    ),
    Mutant(
        "a size that is not the type's",
        "wire messages",
        "libgid/wire.c",
        "size != exact_size || ",
        "",
    ),
    Mutant(
        "a type with too few bytes",
        "wire messages",
        "libgid/wire.c",
        "{sizeof(struct gid_wire_peer), 0}",
        "{sizeof(struct gid_wire_peer) - 8, 0}",
    ),
    Mutant(
        "a type behind the table",
        "wire messages",
        "libgid/wire.c",
        "type >= sizeof(shapes) / sizeof(shapes[0]) || ",
        "",
    ),
    Mutant(
        "a header that is not all there",
        "wire short_message",
        "libgid/wire.c",
        "if (size < sizeof(message->header)) {",
        "if (size < sizeof(message->header) - 4) {",
    ),
    Mutant(
        "a stream's name that need not end",
        "wire bodies",
        "libgid/wire.c",
        "return field_is_text(field, size) && gid_name_is_valid(field);",
        "return gid_name_is_valid(field);",
    ),
    Mutant(
        "a description behind its field",
        "wire exported",
        "libgid/wire.c",
        "strnlen(slab->description, GID_DESCRIPTION_MAX + 1)",
        "strnlen(slab->description, GID_DESCRIPTION_MAX + 64)",
    ),
    Mutant(
        "as many planes as it says",
        "wire imported",
        "libgid/layout.c",
        "layout->plane_count >= 1 && layout->plane_count <= GID_PLANES_MAX;",
        "layout->plane_count >= 1;",
    ),
    Mutant(
        "one name too many",
        "wire offers",
        "libgid/wire.c",
        "for (uint32_t i = 0; i < GID_WIRE_OFFERS_MAX; i++)",
        "for (uint32_t i = 0; i <= GID_WIRE_OFFERS_MAX; i++)",
    ),
    Mutant(
        "damage outside of the picture",
        "wire frame",
        "libgid/wire_ring.c",
        "is_box(entry->damage) && ",
        "",
    ),
    Mutant(
        "a picture of another domain",
        "wire frame",
        "libgid/wire_ring.c",
        "(copy->gid != GID_NONE && gid_domain_of(copy->gid) != domain)",
        "(copy->gid != GID_NONE && domain == 0)",
    ),
    Mutant(
        "times that are none",
        "wire frame",
        "libgid/wire_ring.c",
        "line_signs(entry) <= INT64_MAX && entry->transform",
        "entry->transform",
    ),
    Mutant(
        "a format that nobody knows",
        "wire pages",
        "libgid/wire_ring.c",
        "gid_format_find(showable->fourcc) != NULL &&",
        "gid_format_find(showable->fourcc)->plane_count != 0 &&",
    ),
    Mutant(
        "more bells than domains",
        "wire machines",
        "libgid/wire.c",
        "copy->count > GID_DOMAIN_MAX || ",
        "",
    ),
)
