"""Index functions that only move bits: the cheapest word program that we know how to find.

Where every size is a power of two, an index function is a wiring: each output bit is the XOR of
some input bits, mostly of one. Two ideas make up the module:

assemble    one word out of others in one go. The bits are grouped by source word and distance.
            A group is a shift and a mask; several groups of one word may be one multiplication
            (x * (2**12 + 2**6)) & mask, a gather ((x & m) * M >> s) & mask, a remainder
            ((x >> s) & m) % N, or an exchange of bits; groups share a mask where they can.
detours     where that is dear, the bits are first brought to other places, from which the rest
            is cheap: packed into one word and spread or squeezed in log steps (Hacker's Delight,
            7-4 and 7-5), exchanged (delta swaps, ibid. 7-1: the few that bring all bits home, else
            those of a Benes network), or picked from copies of the word.

A detour is no more than a list of placements: every step of it is made by assemble, and what
comes out is proved bit by bit (meaning) before it counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from math import inf

from ..ir.nodes import Node, const, made
from .assembler import Assembler, union
from .detours import pick_ways, step_ways, swap_ways
from .patterns import by_bits, carried, partitioned, patterned
from .trees import ZERO, cost
from .words import (
    Groups,
    Places,
    Price,
    Problem,
    Stage,
    Word,
    first_bits,
    groups_of,
    meaning,
    moves_of,
    places_of,
    targets_of,
    word_of,
)

EFFORT = 1500  # steps of the search after which no further detour is tried: some 7 ms


def wire(
    widths: Sequence[int],
    outputs: Sequence[Sequence[frozenset]],
    price: Price,
    width: int,
    effort: int = 1,
) -> list[Node] | None:
    """The cheapest program found that computes every output.

    widths: bits of each input word; every value below 2**bits occurs, independently.
    outputs: for each output word its bits, low bit first; a bit is the set of the (input, bit)
        pairs whose XOR it is, None in it standing for 1.
    price: what an operation costs; what is missing costs 1.
    width: no intermediate value reaches 2**width, none is negative.
    effort: how many times the usual steps the search may take.

    One tree per output over numbers, word_of(k) and the operations add, mul, and, or, xor, shl, shr,
    mod; equal subtrees are meant to be computed once. None where nothing fits the width.
    """
    search = _Search(widths, outputs, price, width, effort)
    trees = search.run()
    if trees is None:
        return None
    ways = [
        [
            tree,
            *patterned(widths, output, search.assembler),
            *carried(widths, output, search.assembler),
            *partitioned(widths, output, search.assembler),
        ]
        for tree, output in zip(trees, outputs, strict=True)
    ]
    settled = _settled(ways, price)
    if len(outputs) == 1:
        return settled
    shared = [by_bits(widths, output, width) for output in outputs]
    others = [
        [*own] if tree is None else [tree, *own] for tree, own in zip(shared, ways, strict=True)
    ]
    return min(settled, _settled(others, price), key=lambda trees: cost(trees, price))


class _Search:
    def __init__(
        self,
        widths: Sequence[int],
        outputs: Sequence[Sequence[frozenset]],
        price: Price,
        width: int,
        effort: int = 1,
        assembler: Assembler | None = None,
    ):
        starts = first_bits(widths)
        self.widths, self.outputs, self.price, self.width = widths, outputs, price, width
        self.effort = effort
        self.assembler = assembler or Assembler(price, width)
        self.inputs = [{starts[k] + b: b for b in range(bits)} for k, bits in enumerate(widths)]
        self.rows = [
            [sorted(starts[b[0]] + b[1] for b in bit if b is not None) for bit in output]
            for output in outputs
        ]
        self.flips = [
            sum(1 << place for place, bit in enumerate(output) if None in bit) for output in outputs
        ]
        words = [Word(word_of(k), (1 << bits) - 1) for k, bits in enumerate(widths)]
        self.plain = Problem(words, self.rows, [])
        self.alone: list[list[Node]] = [[] for _ in self.rows]
        self.best: list[Node] | None = None
        self.price_of_best = inf
        self.way: tuple[list[Stage], Problem] = [], self.plain
        self.price_of_way = inf
        price = self.assembler.price
        self.cheapest_move = min(price["mul"], price["mod"], price["shl"] + price["or"])
        self.cheapest_shift = min(price["mul"], price["mod"], price["shl"], price["shr"])
        self.cheapest_join = min(price["add"], price["or"], price["xor"])

    def run(self) -> list[Node] | None:
        self.follow([], self.plain)
        if len(self.rows) > 1 and len(self.widths) > 1:
            for k, output in enumerate(self.outputs):
                alone = _Search(
                    self.widths, [output], self.price, self.width, self.effort, self.assembler
                )
                self.alone[k] = alone.run() or []
            self.follow([], self.plain)
        if targets := targets_of(self.rows):
            self._detour(targets)
        return self.best

    def _detour(self, targets: Places) -> None:
        """Ways over other places, the kinds of them while they may pay."""
        inputs = [{b: at for b, at in word.items() if b in targets} for word in self.inputs]
        outs: Stage = [{} for _ in self.rows]
        for bit, (k, at) in targets.items():
            outs[k][bit] = at
        problems = self._problems(targets, outs)
        inputs, outs = [word for word in inputs if word], [word for word in outs if word]
        price = self.assembler.price
        steps = 2 * self.cheapest_move + price["and"]
        picks = price["mul"] + price["and"] + min(price["mod"], price["mul"] + price["shr"])
        swaps = price["mul"] + price["shr"] + price["and"] + 2 * price["xor"]
        kinds = [(step_ways, steps), (pick_ways, picks), (swap_ways, swaps)]
        if self.price_of_best > 2 * swaps:
            from .exchanges import exchange_ways

            kinds.insert(2, (exchange_ways, 2 * swaps))
        for detours, least in kinds:
            if self.price_of_best > least:
                for stages in detours(inputs, outs, self.width):
                    for problem in problems:
                        self.follow(stages, problem)
                self._shorten()

    def _problems(self, targets: Places, outs: Stage) -> list[Problem]:
        """This one; or, where bits are XORed, the two that move each bit to its target once: with
        the XORs done after that, and with those done before."""
        if all(len(bits) < 2 for row in self.rows for bits in row):
            return [self.plain]
        problems = [self.plain._replace(end=[outs])]
        main: list[list[list[int]]] = [[[] for _ in row] for row in self.rows]
        mixed: dict[int, list[int]] = {}
        for bit, (k, place) in targets.items():
            main[k][place], mixed[bit] = [bit], self.rows[k][place]
        if sum(map(bool, chain(*main))) == sum(map(bool, chain(*self.rows))):
            words = []
            for word in self.inputs:
                row = [mixed.get(bit, []) for bit in word]
                groups = groups_of(moves_of(row), places_of(self.inputs))
                tree = self.assembler.assemble(self.plain.words, groups)
                if tree is not None:
                    support = union(1 << at for at, bits in enumerate(row) if bits)
                    words.append(Word(tree, support))
            if len(words) == len(self.inputs):
                problems.append(Problem(words, main, []))
        for problem in problems:
            self.follow([], problem)
        return problems

    def _shorten(self) -> None:
        """Leave out stages of the best detour."""
        while len(self.way[0]) > 1:
            stages, problem = self.way
            price = self.price_of_way
            for k in range(len(stages)):
                self.follow([*stages[:k], *stages[k + 1 :]], problem)
            if self.price_of_way == price:
                return

    def follow(self, detour: list[Stage], problem: Problem) -> None:
        """Try the way over these stages."""
        stages = [*detour, *problem.end]
        if stages and self.assembler.effort > EFFORT * self.effort:
            return
        if any(place >= self.width for stage in stages for w in stage for place in w.values()):
            return
        limit = self.price_of_best + self.cheapest_move * (len(stages) > 2)
        words, where, wanted = problem.words, places_of(self.inputs), []
        for stage in stages:
            wanted.append([groups_of(goal.items(), where) for goal in stage])
            where = places_of(stage)
        last = [groups_of(moves_of(row), where) for row in problem.rows]
        left = [max(map(self._least, goals), default=0.0) for goals in (*wanted, last)]
        spent = 0.0
        for stage, goals in zip(stages, wanted, strict=True):
            if spent + sum(left) >= limit:
                return
            moved = []
            for goal, groups in zip(stage, goals, strict=True):
                tree = self.assembler.assemble(words, groups)
                if tree is None:
                    return
                moved.append(Word(tree, union(1 << place for place in goal.values())))
            words = moved
            spent = cost([one.tree for one in words], self.price)
            del left[0]
        if spent + sum(left) >= limit:
            return
        ways: list[list[Node]] = []
        for groups, flips, alone in zip(last, self.flips, self.alone, strict=True):
            self.assembler.effort += len(groups)
            trees = [self.assembler.assemble(words, groups, merge) for merge in (True, False)]
            flipped = [self._flipped(tree, groups, flips) for tree in trees if tree is not None]
            ways.append([*alone, *flipped])
            if not ways[-1]:
                return
        self._offer(_settled(ways, self.price), detour, problem)

    def _least(self, groups: Groups) -> float:
        """What the word of these groups costs at least."""
        words = {w for w, _ in groups}
        joins = self.cheapest_join * max(0, len(words) - 1)
        if len(groups) > len(words):
            return joins + self.cheapest_move
        return joins + self.cheapest_shift * any(d for _, d in groups)

    def _flipped(self, tree: Node, groups: Groups, flips: int) -> Node:
        if not flips:
            return tree
        if tree == ZERO:
            return const(flips)
        used = any(bits & flips for bits in groups.values())
        return made("xor" if used else "add", tree, flips)

    def _offer(self, trees: list[Node], detour: list[Stage], problem: Problem) -> None:
        price = cost(trees, self.price)
        if detour and price < self.price_of_way:
            self.way, self.price_of_way = (detour, problem), price
        if price < self.price_of_best and all(map(self._right, trees, self.rows, self.flips)):
            self.best, self.price_of_best = trees, price

    def _right(self, tree: Node, row: list[list[int]], flips: int) -> bool:
        bits = meaning(tree, self.widths, self.width)
        wanted = [sum(2 << k for k in bit) | flips >> at & 1 for at, bit in enumerate(row)]
        while wanted and not wanted[-1]:
            wanted.pop()
        return bits == wanted


def _settled(ways: list[list[Node]], price: Price) -> list[Node]:
    """One tree of each list, such that they are cheap together."""
    chosen = [options[0] for options in ways]
    best = cost(chosen, price)
    improved = True
    while improved:
        improved = False
        for k, options in enumerate(ways):
            for option in options[1:]:
                changed = [*chosen[:k], option, *chosen[k + 1 :]]
                if (now := cost(changed, price)) < best:
                    chosen, best, improved = changed, now, True
    return chosen
