"""A slow, obvious search over all worlds at once: every strategy of one side is tried.

The rules are those of :mod:`reference.guinote`; nothing is imported from ``arrastre``. A *world* says what every hand
holds. The root seat takes an action; from then on its side follows a strategy, which names one action for whatever the
seat to act can tell: its own hand as it was at first, and all that has been played and declared since. The rivals see
the world and know the strategy, and do in each world what is worst for it. The value of the action is the best mean
over the worlds that a strategy reaches.

A window of declarations is open to both partners at once; here the leader's partner speaks first or says nothing, then
the leader declares or leads, and after each declaration of the leader its partner may speak again. Not declaring is
tried like everything else. A root action is what it says: the leader's card is led with nothing declared before, and
``pass``, of the leader's partner, keeps that seat from declaring until the rival has played.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from reference.guinote import Gain, Move, Objective, Score, State, read

Hands = tuple[tuple[int, ...], ...]
Equity = Callable[[int, int], float]
Told = tuple[int, tuple[int, ...], tuple[Move, ...]]  # a seat, its first hand, what happened
Strategy = dict[Told, Move]
SILENT = "silent"


class Node(NamedTuple):
    """A world in play: ``asked`` are the seats of the leader's side that may still speak before anything else."""

    world: int
    state: State
    score: Score
    log: tuple[Move, ...]
    asked: tuple[int, ...]


class Pending(NamedTuple):
    """An own decision that the strategy does not cover yet."""

    told: Told
    moves: tuple[Move, ...]


class Search:
    """All worlds of one seat's knowledge. ``equity(own, rivals)`` is what a deal that decides no game is worth."""

    def __init__(
        self,
        position: Mapping[str, Any],
        seat: int,
        worlds: Sequence[Hands],
        objective: Objective,
        equity: Equity,
    ) -> None:
        self.deal, self.first, self.score, _ = read(position)
        self.seat, self.side = seat, seat % 2
        self.worlds = [tuple(tuple(sorted(hand)) for hand in hands) for hands in worlds]
        self.objective = objective
        self.equity = equity
        self.barred = False
        self.known: dict[Node, float] = {}

    # -- the root

    def begin(self, action: Move) -> list[Node | float]:
        """Every world after the root's action, or its outcome where that ended the game."""
        self.barred = action.what == "pass"
        self.known.clear()
        begun: list[Node | float] = []
        for world, hands in enumerate(self.worlds):
            state = self.first._replace(hands=hands)
            node = Node(world, state, self.score, (), ())
            if self.barred:
                begun.append(node._replace(log=(action,), asked=self.speakers(state)))
            else:
                begun.append(self.after(node, action))
        for each in begun:
            # Remember what holds under any strategy.
            self.ends(each, {}, True)
        return begun

    def value(self, action: Move) -> float:
        """The mean over the worlds under the best strategy that begins with ``action``."""
        return self.best(self.begin(action), {}) / len(self.worlds)

    def attains(self, action: Move, outcomes: Sequence[float]) -> bool:
        """Whether there is a strategy that brings just these outcomes, world by world."""
        begun = self.begin(action)
        ended = all(_near(node, outcomes[i]) for i, node in enumerate(begun) if isinstance(node, float))
        return ended and self._attains([node for node in begun if not isinstance(node, float)], {}, outcomes)

    # -- rules

    def speakers(self, state: State) -> tuple[int, ...]:
        """The seats to ask first in an open window: the leader's partner, then after the lead the leader as well."""
        seats = [self.deal.partner_of(state.leader), state.leader]
        if state.moment == "lead":
            seats = seats[:1]
        return tuple(seat for seat in seats if seat is not None and not (self.barred and seat == self.seat))

    def moves(self, node: Node) -> list[Move]:
        """What may be done next; own side speaks seat by seat."""
        moves = [move for move in self.deal.moves(node.state) if move.what != "tute"]
        if node.state.moment in ("lead", "after_lead") and node.state.leader % 2 == self.side:
            if node.asked:
                speaks = node.asked[0]
                spoken = [move for move in moves if move.seat == speaks and move.what == "cante"]
                return [Move(SILENT, speaks), *spoken]
            moves = [
                move
                for move in moves
                if move.what in ("card", "pass") or (move.seat == node.state.leader and node.state.moment == "lead")
            ]
        return moves

    def after(self, node: Node, move: Move) -> Node | float:
        """The world after a move, or its outcome."""
        if move.what == SILENT:
            return node._replace(asked=node.asked[1:])
        state, gain = self.deal.apply(node.state, move)
        score = node.score.plus(gain)
        # A pass that closes the window is nobody's news.
        log = node.log if move.what == "pass" else (*node.log, move)
        if (end := self.outcome(score, gain)) is not None:
            return end
        asked: tuple[int, ...] = ()
        if state.moment in ("lead", "after_lead") and state.leader % 2 == self.side:
            asked = node.asked if node.asked else self.speakers(state)
        return Node(node.world, state, score, log, asked)

    def outcome(self, score: Score, gain: Gain) -> float | None:
        """What the end of the deal is worth to own side; ``None`` if it is not over."""
        own, rivals = self.side, 1 - self.side
        if self.objective == "points":
            return float(score.points[own] - score.points[rivals]) if gain.what == "last" else None
        result = self.deal.result(score, gain)
        if result is None:
            return None
        if result:
            return 1.0 if (result > 0) == (own == 0) else 0.0
        totals = self.deal.totals(score)
        return self.equity(totals[own], totals[rivals])

    # -- strategies

    def ends(self, node: Node | float, strategy: Strategy, future: bool) -> tuple[float, list[Pending]]:
        """The least outcome that the rivals can force against a strategy, and the decisions that it does not cover.

        Those are the first on each line, or with ``future`` all that may come about after any choice.
        """
        if isinstance(node, float):
            return node, []
        if node in self.known:
            return self.known[node], []
        moves = self.moves(node)
        seat = moves[0].seat
        pending: list[Pending] = []
        if seat % 2 == self.side and len(moves) > 1:
            told = (seat, self.worlds[node.world][seat], node.log)
            if told in strategy:
                return self.ends(self.after(node, strategy[told]), strategy, future)
            pending.append(Pending(told, tuple(moves)))
            if future:
                for move in moves:
                    pending += self.ends(self.after(node, move), strategy, future)[1]
            return 0.0, pending
        least = float("inf")
        for move in moves:
            value, more = self.ends(self.after(node, move), strategy, future)
            pending += more
            least = min(least, value)
        if not strategy and not pending:
            self.known[node] = least
        return least, pending

    def best(self, nodes: Sequence[Node | float], strategy: Strategy) -> float:
        """The greatest sum over some worlds that a strategy can still reach."""
        total = 0.0
        for part, pending in self.parts(nodes, strategy):
            if pending is None:
                total += sum(self.ends(node, strategy, False)[0] for node in part)
            else:
                total += max(self.best(part, {**strategy, pending.told: move}) for move in pending.moves)
        return total

    def _attains(self, nodes: Sequence[Node | float], strategy: Strategy, outcomes: Sequence[float]) -> bool:
        for part, pending in self.parts(nodes, strategy):
            if pending is not None:
                if not any(self._attains(part, {**strategy, pending.told: move}, outcomes) for move in pending.moves):
                    return False
            elif not all(
                _near(self.ends(node, strategy, False)[0], outcomes[node.world])
                for node in part
                if isinstance(node, Node)
            ):
                return False
        return True

    def parts(
        self, nodes: Sequence[Node | float], strategy: Strategy
    ) -> Iterator[tuple[list[Node | float], Pending | None]]:
        """Worlds that no decision still to be taken has in common, apart, and a decision that comes first in each."""
        groups: list[tuple[set[Told], list[Node | float]]] = []
        for node in nodes:
            reached = {pending.told for pending in self.ends(node, strategy, True)[1]}
            if not reached:
                yield [node], None
                continue
            together = [node]
            apart = []
            for each, members in groups:
                if each & reached:
                    reached |= each
                    together += members
                else:
                    apart.append((each, members))
            groups = [*apart, (reached, together)]
        for _, members in groups:
            first = [pending for node in members for pending in self.ends(node, strategy, False)[1]]
            yield members, min(first, key=lambda pending: (len(pending.told[2]), pending.told))


def _near(one: float, other: float) -> bool:
    return abs(one - other) < 1e-9
