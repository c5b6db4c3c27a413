# SPDX-License-Identifier: MIT
"""A cockpit's configuration is changed while its gidds run."""

import signal

from lib.cockpit import Cockpit


def reload(cockpit: Cockpit, config: str, outcome: str, *domains: str) -> None:
    cockpit.config_path.write_text(config)
    for domain in domains or cockpit.gidds:
        cockpit.gidds[domain].signal(signal.SIGHUP)
        cockpit.wait_log(domain, outcome)


def reload_well(cockpit: Cockpit, config: str, *domains: str) -> None:
    reload(cockpit, config, "configuration read again", *domains)
