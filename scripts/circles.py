# SPDX-License-Identifier: MIT
"""Circles in a graph: who leads, by any way, to itself."""

from collections.abc import Collection, Mapping


def circles(graph: Mapping[str, Collection[str]]) -> list[list[str]]:
    """The knots: sets of more than one node, each of which leads to each other one (Tarjan)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    knots = []

    def visit(node: str) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in sorted(graph.get(node, ())):
            if other not in index:
                visit(other)
            if other in stack:
                low[node] = min(low[node], low[other])
        if low[node] == index[node]:
            knot = stack[stack.index(node) :]
            del stack[stack.index(node) :]
            if len(knot) > 1:
                knots.append(sorted(knot))

    for node in sorted(graph):
        if node not in index:
            visit(node)
    return knots


def shortest_circle(graph: Mapping[str, Collection[str]], knot: Collection[str]) -> list[str]:
    """One way from the first node of a knot back to it, without the node a second time."""
    start = min(knot)
    came: dict[str, str] = {}
    edge = [start]
    while edge:
        node = edge.pop(0)
        for other in sorted(graph.get(node, ())):
            if other == start:
                way = [node]
                while way[0] != start:
                    way.insert(0, came[way[0]])
                return way
            if other in knot and other not in came:
                came[other] = node
                edge.append(other)
    return []
