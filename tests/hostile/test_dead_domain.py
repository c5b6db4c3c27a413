# SPDX-License-Identifier: MIT
"""A whole domain dies, or only its gidd: what becomes of the slabs that others had imported."""

from lib.cockpit import Cockpit
from lib.gidwire import IMPORTED, REVOKED, Connection, Export, gid, memfd


def import_one(consumer: Connection, slab: int) -> None:
    message = consumer.import_(gid(1, slab))
    assert message.type == IMPORTED
    message.close()


def test_slabs_of_a_dead_domain_are_revoked_when_it_comes_back(cockpit: Cockpit) -> None:
    with cockpit.connect("cluster", "consumer") as consumer:
        producer = cockpit.connect("open", "producer")
        slab = producer.export_new()
        assert producer.grant(slab, 2)[0] == 0
        import_one(consumer, slab)
        cockpit.kill("open")
        producer.close()
        cockpit.start("open")
        event = consumer.event(REVOKED)
        assert event.values[0] >> 32 == gid(1, slab) >> 32
        assert Connection.result(consumer.import_(gid(1, slab)))[0] == -2


def test_slabs_that_their_owner_registers_again_stay(cockpit: Cockpit) -> None:
    with cockpit.connect("cluster", "consumer") as consumer:
        producer = cockpit.connect("open", "producer")
        fd = memfd(8192)
        error, slab, words = producer.export(Export(), fd)
        assert error == 0, words
        assert producer.grant(slab, 2)[0] == 0
        import_one(consumer, slab)
        cockpit.kill("open")
        producer.close()
        cockpit.start("open")
        cockpit.wait_links()
        with cockpit.connect("open", "producer") as again:
            assert again.export(Export(slab=slab), fd)[:2] == (0, slab)
            assert again.grant(slab, 2)[0] == 0
            other = again.export_new()
            assert again.grant(other, 2)[0] == 0
            import_one(consumer, other)
            # The confirmation comes after 5 s; a revocation that follows it can only be of `other`.
            cockpit.wait_log("cluster", "slabs revalidated")
            assert again.unexport(other)[0] == 0
            event = consumer.event(REVOKED)
            assert event.values[0] >> 32 == gid(1, other) >> 32
            import_one(consumer, slab)
