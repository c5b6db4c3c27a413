# SPDX-License-Identifier: MIT
"""Subscriptions between two clients of gidds, and their end."""

from lib.gidwire import SUBSCRIBED, SUBSCRIBER, SUBSCRIPTION_END, Connection

# Where the producer is, and where the consumer: in one domain, or across the link, either way.
PLACES = [("open", "open"), ("open", "cluster"), ("cluster", "open")]


def subscribe_live(producer: Connection, consumer: Connection, name: str, number_: int = 1) -> int:
    """Makes a live subscription to a stream of the producer's; the producer's number for it."""
    error, _, words = consumer.subscribe(number_, name, producer.domain_name)
    assert error == 0, words  # its turn may come later
    asked = producer.event(SUBSCRIBER)
    asked.close()
    producer.accept(asked.values[0])
    answer = consumer.event(SUBSCRIBED)
    assert answer.values == (number_, producer.domain, 0)
    answer.close()
    return asked.values[0]


def ended(connection: Connection, number_: int, reason: int) -> None:
    assert connection.event(SUBSCRIPTION_END).values == (number_, reason)
