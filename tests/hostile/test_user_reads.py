# SPDX-License-Identifier: MIT
"""What `read=` of the configuration keeps from the programs of a user, by each way to a stream."""

import fcntl
import json
import os
import pwd
import signal
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from lib.cockpit import DEFAULT_CONFIG, Cockpit
from lib.gidwire import (
    IMPORT,
    IMPORTED,
    LIVE,
    PAGE_SIZE,
    REVOKED,
    RING_SIZE,
    SUBSCRIBED,
    SUBSCRIBER,
    SUBSCRIPTION_END,
    WAIT,
    Connection,
    gid,
    memfd,
    pack,
    read_only,
)
from lib.outcome import NO_STREAM, UNREADABLE, number
from lib.program import BUILD, PATIENCE, wait_for
from reloading import reload_well
from subscribing import ended
from users import STRANGER, Users

MakeCockpit = Callable[..., Cockpit]

GIDCTL = BUILD / "tools" / "gidctl" / "gidctl"
FLOW = BUILD / "tests" / "tools" / "flow"
ME = pwd.getpwuid(os.getuid()).pw_name
SECTION = f"[client open {STRANGER}]\nread=movie\n"
CONFIG = DEFAULT_CONFIG + SECTION
FRAMES, ENTRY, METADATA = 192, 64, 184  # of struct gid_wire_ring
UNKNOWN = (number("ENOENT"), 0, UNREADABLE)


def refused(stream: str, user: str = str(STRANGER), section: str = "") -> tuple[int, int, str]:
    words = (
        f"the cockpit's configuration does not let user {user} read stream {stream}: add it to "
        f"read= of [client open {section or user}]"
    )
    return number("EACCES"), 0, words


def ring(*gids: int, metadata: int = 0) -> int:
    """A producer's ring with entries of these."""
    fd = os.memfd_create("ring", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.pwrite(fd, bytes(RING_SIZE), 0)
    for place, each in enumerate(gids):
        os.pwrite(fd, struct.pack("<Q", each), FRAMES + ENTRY * place + 8)
    os.pwrite(fd, struct.pack("<Q", metadata), METADATA)
    fcntl.fcntl(fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | 0x10)
    return read_only(fd)


@pytest.fixture
def users(make_cockpit: MakeCockpit) -> Users:
    users = Users(make_cockpit(CONFIG))
    users.start()
    return users


def imports(connection: Connection, gid_: int) -> bool:
    answer = connection.import_(gid_)
    answer.close()
    assert answer.type == IMPORTED or Connection.result(answer) == UNKNOWN
    return answer.type == IMPORTED


def reads(producer: Connection, consumer: Connection, stream: str, ring_: int, id_: int = 1) -> int:
    """A live subscription with that ring, which is closed; the producer's number for it."""
    assert consumer.subscribe(id_, stream, producer.domain_name) == (0, 1, "")
    asked = producer.event(SUBSCRIBER)
    asked.close()
    producer.accept(asked.values[0], ring_)
    os.close(ring_)
    consumer.event(SUBSCRIBED).close()
    return asked.values[0]


# --- streams by their names ---


def test_streams_by_their_names(users: Users) -> None:
    """Of the own domain and of others; whether there is such a stream is not told."""
    users.cockpit.start("cluster")
    users.cockpit.wait_links()
    with users.mine() as owner, users.stranger() as stranger:
        assert owner.publish("input/desk")[0] == owner.publish("movie")[0] == 0
        assert stranger.subscribe(1, "input/desk") == refused("input/desk")
        assert stranger.subscribe(1, "input/none", flags=WAIT) == refused("input/none")
        assert stranger.subscribe(1, "input/desk", "cluster") == refused("input/desk")
        assert stranger.subscribe(1, "movie") == (0, 1, "")
        assert stranger.subscribe(2, "movie", "cluster", flags=WAIT)[0] == 0
        assert stranger.subscribe(3, "movie", "nowhere") == (number("ENOENT"), 0, NO_STREAM)
        owner.event(SUBSCRIBER).close()
        # Whom no section names reads as before.
        assert owner.subscribe(1, "input/desk") == (0, 1, "")
        owner.event(SUBSCRIBER).close()


@pytest.mark.parametrize("section", [ME, str(os.getuid()), "*"])
def test_whose_section_it_is(make_cockpit: MakeCockpit, section: str) -> None:
    """And an empty list allows nothing, but what one publishes oneself one has anyway."""
    cockpit = make_cockpit(DEFAULT_CONFIG + f"[client open {section}]\nread=\n")
    cockpit.start("open")
    with cockpit.connect("open") as one:
        assert one.publish("movie")[0] == 0
        # gidd asks for no name that its configuration does not have.
        user = ME if section == ME else str(os.getuid())
        assert one.subscribe(1, "movie") == refused("movie", user, section)
        assert imports(one, gid(1, one.export_new()))


# --- memory by its number ---


def test_memory_by_its_number(users: Users) -> None:
    """Only of frames that it was sent, and what programs of its user have exported."""
    with users.mine() as owner, users.stranger() as stranger, users.stranger() as friend:
        assert owner.publish("movie")[0] == 0
        picture, notes, secret = (owner.export_new() for _ in range(3))
        for slab in (picture, notes, secret):
            assert not imports(stranger, gid(1, slab))
        reads(owner, stranger, "movie", ring(0, gid(1, picture, 0, 7), metadata=gid(1, notes)))
        assert imports(stranger, gid(1, picture)) and imports(stranger, gid(1, notes))
        assert not imports(stranger, gid(1, secret))
        # Programs of one user are not separated: a compositor shows what a viewer was sent.
        assert imports(friend, gid(1, picture)) and not imports(friend, gid(1, secret))
        assert imports(friend, gid(1, stranger.export_new()))
        assert imports(owner, gid(1, stranger.export_new()))
        stranger.end(1)
        wait_for(lambda: not imports(stranger, gid(1, picture)), "the end of what it may read")


def test_who_may_read_all_has_all_memory(make_cockpit: MakeCockpit) -> None:
    users = Users(make_cockpit(CONFIG.replace("read=movie", "read=movie *")))
    users.start()
    with users.mine() as owner, users.stranger() as stranger:
        assert imports(stranger, gid(1, owner.export_new()))


def test_a_producer_gives_what_is_its_own(users: Users) -> None:
    """Two strangers do not get a third one's memory together. Who has it may lend it."""
    with users.mine() as owner, users.stranger() as one, users.stranger() as two:
        secret = owner.export_new()
        assert one.publish("movie")[0] == 0
        reads(one, two, "movie", ring(gid(1, secret)))
        assert not imports(two, gid(1, secret))
    with users.mine() as owner, users.mine() as lender, users.stranger() as reader:
        drawn = owner.export_new()
        assert lender.publish("movie")[0] == 0
        reads(lender, reader, "movie", ring(gid(1, drawn)))
        assert not imports(reader, gid(1, drawn))
        assert imports(lender, gid(1, drawn)) and imports(reader, gid(1, drawn))


def test_memory_of_other_domains(users: Users) -> None:
    users.cockpit.start("cluster")
    users.cockpit.wait_links()
    with users.cockpit.connect("cluster") as owner, users.stranger() as stranger:
        assert owner.publish("movie")[0] == 0
        picture, secret = owner.export_new(), owner.export_new()
        assert owner.grant(picture, 1)[0] == owner.grant(secret, 1)[0] == 0
        assert not imports(stranger, gid(2, picture))
        reads(owner, stranger, "movie", ring(gid(2, picture)))
        assert imports(stranger, gid(2, picture)) and not imports(stranger, gid(2, secret))
        with users.mine() as mine:
            assert imports(mine, gid(2, secret))


# --- a ring of the reader's own ---


def tell(producer: Connection, stream: int, fds: list[int]) -> None:
    """Of a live subscription in its own domain, to a gidd that came later."""
    producer.send_raw(pack(SUBSCRIBER, 5, stream, producer.domain, 4, LIVE, 0, 0, 0), fds)


def test_a_ring_of_its_own_names_nothing(users: Users) -> None:
    """After a restart of gidd readers tell it of their rings, too: that of its producer counts."""
    page = memfd(PAGE_SIZE)
    with users.mine() as owner, users.stranger() as stranger:
        _, stream, _ = owner.publish("movie")
        picture, secret = owner.export_new(), owner.export_new()
        forged, honest = ring(gid(1, secret)), ring(gid(1, picture))
        assert stranger.subscribe(1, "movie", flags=LIVE, fds=[page, forged]) == (0, 1, "")
        assert not imports(stranger, gid(1, secret))
        tell(owner, stream, [page, honest])
        wait_for(lambda: imports(stranger, gid(1, picture)), "the ring of the producer")
        assert not imports(stranger, gid(1, secret))
        # The other way round.
        owner.events.clear()
        stranger.end(1)
        ended(owner, 5, 0)
        tell(owner, stream, [page, honest])
        wait_for(lambda: len(owner.status()["subscriptions"]) == 1, "the producer's subscription")
        assert stranger.subscribe(2, "movie", flags=LIVE, fds=[page, forged]) == (0, 1, "")
        assert imports(stranger, gid(1, picture)) and not imports(stranger, gid(1, secret))
        for fd in (forged, honest, page):
            os.close(fd)


def test_of_other_domains_it_begins_anew(users: Users) -> None:
    """For nobody but the reader says what ring it is. Who may read all goes on."""
    users.cockpit.start("cluster")
    users.cockpit.wait_links()
    fds = [memfd(PAGE_SIZE), ring()]
    with users.mine() as mine, users.stranger() as stranger:
        for reader in (mine, stranger):
            assert reader.subscribe(1, "movie", "cluster", flags=LIVE, fds=fds) == (0, 1, "")
        ended(stranger, 1, number("EPIPE"))
        (left,) = mine.status()["subscriptions"]
        assert left["consumer"].startswith("test (") and mine.events == []
    for fd in fds:
        os.close(fd)


def test_what_was_told_when_it_might_read_all(make_cockpit: MakeCockpit) -> None:
    users = Users(make_cockpit(DEFAULT_CONFIG))
    users.start()
    users.cockpit.start("cluster")
    users.cockpit.wait_links()
    with users.cockpit.connect("cluster") as owner, users.stranger() as stranger:
        secret = owner.export_new()
        assert owner.grant(secret, 1)[0] == 0
        fds = [memfd(PAGE_SIZE), ring(gid(2, secret))]
        assert stranger.subscribe(1, "movie", "cluster", flags=LIVE, fds=fds) == (0, 1, "")
        assert imports(stranger, gid(2, secret))
        reload_well(users.cockpit, CONFIG, "open")
        ended(stranger, 1, number("EPIPE"))
        assert not imports(stranger, gid(2, secret))
    for fd in fds:
        os.close(fd)


@pytest.mark.parametrize("sections", ["", SECTION])
def test_a_reader_that_does_not_say_who_it_is(make_cockpit: MakeCockpit, sections: str) -> None:
    """It reads on past gidd, which a restart does not end: its producer sends it no more."""
    cockpit = make_cockpit(DEFAULT_CONFIG + sections)
    cockpit.start("open")
    fds = [memfd(PAGE_SIZE), ring()]
    with cockpit.connect("open") as owner:
        _, stream, _ = owner.publish("movie")
        tell(owner, stream, fds)
        if sections:
            ended(owner, 5, number("EACCES"))
        else:
            with pytest.raises(TimeoutError):
                owner.event(SUBSCRIPTION_END, timeout=6)
        assert len(owner.status()["subscriptions"]) == (0 if sections else 1)
    for fd in fds:
        os.close(fd)


# --- rights that are taken from who reads ---

BOTH = CONFIG.replace("read=movie", "read=movie input/*")


def test_rights_that_are_taken(make_cockpit: MakeCockpit) -> None:
    """The subscription ends, the memory goes, and the others' subscriptions are left."""
    users = Users(make_cockpit(BOTH))
    users.start()
    with users.mine() as owner, users.mine() as friend, users.stranger() as stranger:
        assert owner.publish("input/desk")[0] == 0
        slab = owner.export_new()
        theirs = reads(owner, stranger, "input/desk", ring(gid(1, slab)))
        reads(owner, friend, "input/desk", ring(gid(1, slab)))
        assert imports(stranger, gid(1, slab)) and imports(friend, gid(1, slab))
        reload_well(users.cockpit, CONFIG, "open")
        ended(stranger, 1, number("EACCES"))
        ended(owner, theirs, number("EACCES"))
        assert stranger.event(REVOKED).values == (gid(1, slab),)
        assert not imports(stranger, gid(1, slab))
        # Its owner is asked to leave that memory, which the stranger may have mapped for good.
        assert owner.event(REVOKED).values == (gid(1, slab),)
        assert [one["stream"] for one in friend.status()["subscriptions"]] == ["input/desk"]
        assert stranger.subscribe(2, "input/desk") == refused("input/desk")


def test_memory_is_left_whoever_seems_to_have_it(make_cockpit: MakeCockpit) -> None:
    """Who let go of it in gidd's books may have its mapping. What is not narrower stays."""
    users = Users(make_cockpit(BOTH))
    users.start()
    with users.mine() as owner, users.mine() as other, users.stranger() as stranger:
        assert owner.publish("input/desk")[0] == other.publish("movie")[0] == 0
        slab, kept = owner.export_new(), other.export_new()
        reads(owner, stranger, "input/desk", ring(gid(1, slab)))
        assert imports(stranger, gid(1, slab))
        stranger.close()
        reload_well(users.cockpit, BOTH + "\n", "open")
        assert owner.status() and not [each for each in owner.events if each.type == REVOKED]
        reload_well(users.cockpit, CONFIG, "open")
        assert owner.event(REVOKED).values == (gid(1, slab),)
        wait_for(lambda: not imports(owner, gid(1, slab)), "the end of the time to leave it")
        assert imports(owner, gid(1, kept)) and other.events == []


def test_who_may_import_no_more(users: Users) -> None:
    users.cockpit.start("cluster")
    users.cockpit.wait_links()
    with users.cockpit.connect("cluster") as owner, users.stranger() as stranger:
        assert owner.publish("movie")[0] == 0
        slab = owner.export_new()
        assert owner.grant(slab, 1)[0] == 0
        reads(owner, stranger, "movie", ring(gid(2, slab)))
        assert imports(stranger, gid(2, slab))
        reload_well(users.cockpit, CONFIG + "import=off\n", "open")
        ended(stranger, 1, number("ENOENT"))
        assert stranger.event(REVOKED).values == (gid(2, slab),)


def test_what_it_asked_for_before(users: Users) -> None:
    """The other domain answers when its right is gone."""
    users.cockpit.start("cluster")
    users.cockpit.wait_links()
    with users.cockpit.connect("cluster") as owner, users.stranger() as stranger:
        assert owner.publish("movie")[0] == 0
        slab = owner.export_new()
        assert owner.grant(slab, 1)[0] == 0
        reads(owner, stranger, "movie", ring(gid(2, slab)))
        users.cockpit.gidds["cluster"].signal(signal.SIGSTOP)
        stranger.serial += 1
        stranger.send_raw(pack(IMPORT, gid(2, slab), serial=stranger.serial))
        reload_well(users.cockpit, CONFIG.replace("read=movie", "read="), "open")
        users.cockpit.gidds["cluster"].signal(signal.SIGCONT)
        answer = stranger.receive()
        while answer.serial != stranger.serial:
            answer = stranger.receive()
        assert Connection.result(answer) == UNKNOWN
        assert not imports(stranger, gid(2, slab))


# --- names ---


def test_names_are_not_told(users: Users) -> None:
    """In the report, by which `gidctl` lists them; who runs gidd sees all."""
    users.cockpit.start("cluster")
    users.cockpit.wait_links()
    with (
        users.mine() as owner,
        users.cockpit.connect("cluster") as far,
        users.stranger() as stranger,
    ):
        for name in ("movie", "input/desk"):
            assert owner.publish(name)[0] == far.publish(name)[0] == 0
        secret, own = owner.export_new(), stranger.export_new()
        assert stranger.publish("mine")[0] == 0
        assert owner.subscribe(1, "input/desk", flags=WAIT)[0] == 0

        def names(who: Connection, part: str, key: str = "name") -> list[str]:
            return sorted(one[key] for one in who.status()[part])

        wait_for(lambda: len(names(owner, "readable")) == 2, "what the other domain offers")
        assert names(owner, "streams") == ["input/desk", "mine", "movie"]
        assert len(names(owner, "slabs", "gid")) == 2
        assert names(owner, "subscriptions", "stream") == ["input/desk"]
        assert names(stranger, "streams") == ["mine", "movie"]
        assert names(stranger, "readable") == ["movie"]
        assert names(stranger, "subscriptions", "stream") == []
        (slab,) = names(stranger, "slabs", "gid")
        assert f":{own}." in slab and f":{secret}." not in slab


# --- programs ---


def run_gidctl(cockpit: Cockpit, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [GIDCTL, *words],
        env=cockpit.env("open"),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )


def test_gidctl_says_which_line_is_missing(make_cockpit: MakeCockpit) -> None:
    cockpit = make_cockpit(DEFAULT_CONFIG + f"[client open {ME}]\nread=movie\n")
    cockpit.start("open")
    for words in (
        ["snap", "input/desk", "-o", str(cockpit.folder / "x.png")],
        ["watch", "input/desk"],
    ):
        result = run_gidctl(cockpit, *words)
        assert result.returncode == 1
        assert refused("input/desk", ME)[2] in result.stderr


def test_pictures_flow_from_another_users_program(make_cockpit: MakeCockpit) -> None:
    """Whose memory its reader gets by the ring alone."""
    users = Users(make_cockpit(CONFIG))
    users.start()
    command = [FLOW, "publish", "movie", "XR24", "4", "4", "0", "0", "0", "0", "0"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, env=users.cockpit.env("open"), **pipes) as producer:
        producer.stdin.write(bytes(64))
        producer.stdin.close()
        assert producer.stdout.readline() == b"ready\n"
        users.others.touch()
        shot = users.cockpit.folder / "shot.png"
        result = run_gidctl(users.cockpit, "snap", "movie", "-o", str(shot))
        users.others.unlink()
        assert (result.returncode, result.stderr) == (0, "") and shot.stat().st_size > 0
        producer.terminate()


SUBSCRIBE_AS = """
import sys
from pathlib import Path
from lib.gidwire import Connection
with Connection(Path(sys.argv[1])) as reader:
    print(reader.subscribe(1, sys.argv[2], flags=2))
    print(reader.result(reader.import_(int(sys.argv[3])))[0])
    print(sorted(each["name"] for each in reader.status()["streams"]))
"""
NOBODY = 65534


@pytest.mark.needs_root
def test_two_users(make_cockpit: MakeCockpit) -> None:
    """Of this system: the kernel says who they are."""
    group = "nogroup"
    config = DEFAULT_CONFIG.replace("number=1\n", f"number=1\ngroup={group}\n", 1)
    cockpit = make_cockpit(config + "[client open nobody]\nread=movie\n")
    cockpit.folder.chmod(0o755)
    cockpit.start("open")
    places = Path(__file__).parents[1:3]
    with cockpit.connect("open") as owner:
        assert owner.publish("input/desk")[0] == owner.publish("movie")[0] == 0
        slab = owner.export_new()
        command = [sys.executable, "-c", SUBSCRIBE_AS, cockpit.socket("open"), "input/desk"]
        result = subprocess.run(
            [*command, str(gid(1, slab))],
            env=os.environ | {"PYTHONPATH": ":".join(map(str, places))},
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            user=NOBODY,
            group=NOBODY,
        )
        assert result.stderr == ""
        assert result.stdout.splitlines() == [
            str(refused("input/desk", "nobody")),
            str(number("ENOENT")),
            "['movie']",
        ]


# --- what the doctor is told ---


@pytest.mark.parametrize(
    ("config", "is_open"),
    [
        (DEFAULT_CONFIG, True),
        (CONFIG, True),
        (DEFAULT_CONFIG + "[client open *]\nread=movie\n", False),
        (DEFAULT_CONFIG + "[client open *]\nread=movie clipboard/input/desk\n", True),
        ("[domain open]\nnumber=1\nlocal=movie\n", False),
        ("[domain open]\nnumber=1\nlocal=input/desk\n", True),
        (
            "[domain open]\nnumber=1\n[domain cluster]\nnumber=2\n"
            "[share cluster open]\nstreams=input/desk\n",
            True,
        ),
        (
            "[domain open]\nnumber=1\n[domain cluster]\nnumber=2\n"
            "[share cluster open]\nstreams=input/desk\n[client open *]\nimport=off\n",
            False,
        ),
    ],
)
def test_it_is_told_where_anybody_may_read_keys(
    make_cockpit: MakeCockpit, config: str, is_open: bool
) -> None:
    cockpit = make_cockpit(config)
    cockpit.start("open")
    assert cockpit.status("open")["input_is_open"] == is_open


@pytest.mark.parametrize(
    ("sections", "warns"), [("", True), ("[client open *]\nread=movie\n", False)]
)
def test_the_doctor_says_so_where_several_users_are(
    make_cockpit: MakeCockpit, sections: str, warns: bool
) -> None:
    users = Users(make_cockpit(DEFAULT_CONFIG + sections))
    users.start()

    def says() -> bool:
        found = json.loads(run_gidctl(users.cockpit, "doctor", "--json").stdout)
        words = "programs of any user may read what others type and copy"
        return any(one["found"].startswith(words) for one in found)

    with users.mine(), users.mine():
        assert not says()
        with users.stranger():
            assert says() == warns
