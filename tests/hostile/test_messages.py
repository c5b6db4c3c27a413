# SPDX-License-Identifier: MIT
"""Messages between clients and gidd, and between gidds."""

from cockpit import Cockpit
from gidwire import IMPORTED, REVOKED, SUBSCRIBED, SUBSCRIBER, Connection, gid

def test_basic(cockpit: Cockpit) -> None:
    with cockpit.connect("open", "producer") as p, cockpit.connect("cluster", "consumer") as c:
        assert (p.domain, p.domain_name) == (1, "open")
        slab = p.export_new(4)
        m = c.import_(gid(1, slab))
        assert Connection.result(m)[0] == -2
        assert p.grant(slab, 2)[0] == 0
        m = c.import_(gid(1, slab))
        assert m.type == IMPORTED
        m.close()
        assert p.publish("movie")[0] == 0
        assert c.subscribe(1, "movie", "open") == (0, 1, "")
        s = p.event(SUBSCRIBER)
        s.close()
        p.accept(s.values[0])
        m = c.event(SUBSCRIBED)
        assert m.values == (1, 1)
        m.close()
        st = cockpit.status("open")
        assert p.unexport(slab)[0] == 0
        c.event(REVOKED)
