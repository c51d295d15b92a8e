"""What people see of an estimate: what actions are worth, how sure that is, why, and where the unseen cards may be."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text as Line

from arrastre.cli.items import Item
from arrastre.cli.render import BEST, Renderer, plain
from arrastre.estimate import Advice, Comparison, Estimate, Reason
from arrastre.game import Action, Address, Diagram

_STYLES: Final = {"best": "bold", "equal": "bold", "worse": "dim", "unclear": ""}
_MANY: Final = 10**12
"""From here on a count is written by its first digits and its power of ten."""


class AdviceRenderer(Renderer):
    """Renders estimates for one stream."""

    def advice(
        self,
        item: Item,
        advice: Advice,
        other: Advice | None = None,
        at: Address | None = None,
        *,
        where: bool = False,
        why: bool = False,
        seconds: float | None = None,
    ) -> str:
        """An estimate, ``other`` being that of the same decision by the other view.

        ``where`` adds the places of the unseen cards, ``why`` compares the best action with every other one and not
        only with the next, ``seconds`` is the time that it took, if that is to be said.
        """
        say, position = self.text, advice.knowledge.position
        diagram = position.game.describe(position, say.lang)
        parts = [*self._heading(item, at), *self._table(diagram), Line(), *self._facts(diagram, []), Line()]
        parts += [*self._headline(advice, diagram), Line(), *self._actions(advice, other), Line()]
        parts += self._ground(advice)
        if other is not None and not advice.solved:
            parts += [Line(), self._gap(advice, other)]
        compared = advice.comparisons(every=why)
        for comparison in compared:
            parts += [Line(), *self._why(advice, comparison, diagram)]
        if where:
            cards = {reason.card for comparison in compared for reason in comparison.reasons}
            parts += [Line(), *self._where_cards(advice, diagram, cards)]
        if seconds is not None:
            parts += [Line(), Line(say("best.stats", worlds=self._count(advice.worlds), seconds=f"{seconds:.2f}"))]
        return self._string(parts)

    def growing(self, advice: Advice) -> RenderableType:
        """An estimate that is not yet the last, to be looked at while it grows."""
        position = advice.knowledge.position
        diagram = position.game.describe(position, self.text.lang)
        return Group(*self._headline(advice, diagram), *self._actions(advice, None), *self._ground(advice))

    # Parts.

    def _headline(self, advice: Advice, diagram: Diagram) -> list[Line]:
        """The best action, those that are as good, and those that may yet be."""
        say = self.text
        unclear = [each.action for each in advice.actions if each.status == "unclear"]
        key = "best.probably" if unclear else "best.best"
        seat = plain(diagram.seats[advice.seat].name)
        lines = [self._filled(say(key, seat=seat, actions="\0"), self._listed(advice, advice.best))]
        lines[0].stylize("bold")
        if unclear:
            lines.append(self._filled(say("best.unsettled", actions="\0"), self._listed(advice, unclear)))
        return lines

    def _listed(self, advice: Advice, actions: Sequence[Action]) -> Line:
        return Line(", ").join(self._action(advice.knowledge.position, each) for each in actions)

    @staticmethod
    def _filled(sentence: str, *inserted: Line) -> Line:
        """A sentence with a line in each place that is kept for one."""
        pieces = sentence.split("\0")
        line = Line(pieces[0])
        for each, piece in zip(inserted, pieces[1:], strict=True):
            line.append_text(each)
            line.append(piece)
        return line

    def _actions(self, advice: Advice, other: Advice | None) -> list[Line]:
        """Every action with its value and what it loses, the best first."""
        say, position = self.text, advice.knowledge.position
        uneven = len({each.worlds for each in advice.actions}) > 1
        heads = ["", say("solve.action"), self._head(advice), "", say("solve.difference"), "", ""]
        heads += [say("best.worlds")] * uneven
        right: tuple[int, ...] = (2, 4, 7) if uneven else (2, 4)
        if other is not None:
            heads += [other.view, ""]
            right = (*right, len(heads) - 2)
        rows = [[Line(head, "dim") for head in heads]]
        for each in advice.actions:
            status, first = each.status, each.status == "best"
            row = [
                Line(BEST if status in ("best", "equal") else "", "bold"),
                self._action(position, each.action),
                Line(self._worth(advice, each.value), _STYLES[status]),
                Line(self._error(advice, each.error), "dim"),
                Line("" if first else self._difference(advice, -each.loss)),
                Line("" if first else self._error(advice, each.loss_error), "dim"),
                Line(say(f"best.status.{status}"), _STYLES[status]),
            ]
            if uneven:
                row.append(Line(self._count(each.worlds), "dim"))
            if other is not None:
                row += self._other_value(other, each)
            rows.append(row)
        return self._grid(rows, gap=2, right=right, indent=2)

    def _other_value(self, other: Advice, each: Estimate) -> list[Line]:
        there = other[each.action]
        style = "bold" if there.status in ("best", "equal") else ""
        return [Line(self._worth(other, there.value), style), Line(self._error(other, there.error), "dim")]

    def _ground(self, advice: Advice) -> list[Line]:
        """What the numbers rest on: the worlds that were looked at, and by which view."""
        say = self.text
        kind = "solved" if advice.solved else "exact" if advice.exact else "sampled"
        worlds, count = self._count(advice.worlds), self._count(advice.world_count)
        said = [(say("best.worlds"), say(f"best.{kind}", worlds=worlds, count=count, seed=advice.seed))]
        if not advice.solved:
            said.append((say("best.view"), say(f"best.view.{advice.view}")))
        if advice.equity is not None:
            said.append((say("best.beyond"), say(f"best.beyond.{advice.equity}")))
        return self._grid([[Line(label, "dim"), Line(value)] for label, value in said], gap=2)

    def _gap(self, advice: Advice, other: Advice) -> RenderableType:
        """By how much the best action looks better in the other view, and what is best there."""
        first = advice.actions[0]
        gap = self._difference(advice, other[first.action].value - first.value)
        same = first.action in other.best
        sentence = self.text(f"best.gap.{'same' if same else 'other'}", view=other.view, gap=gap, actions="\0")
        return self._filled(sentence, self._listed(other, other.best))

    def _why(self, advice: Advice, comparison: Comparison, diagram: Diagram) -> list[RenderableType]:
        """Why the best action beats another: how often, and the places of which cards decide it."""
        say, position = self.text, advice.knowledge.position
        best, than = (self._action(position, each) for each in (advice.actions[0].action, comparison.action))
        shares = {name: self._percent(getattr(comparison, name), 0) for name in ("better", "same", "worse")}
        lines: list[RenderableType] = [self._filled(say("best.why", best="\0", than="\0", **shares), best, than)]
        margin = (0, 0, 0, 2)
        made_of = [each for each in comparison.parts if round(each.gain, 1)]
        if made_of:
            parts = ", ".join(f"{each.names[say.lang]} {self._difference(advice, each.gain)}" for each in made_of)
            lines.append(Padding(Line(say("best.made_of", parts=parts)), margin))
        lines += [Padding(self._reason(advice, reason, diagram), margin) for reason in comparison.reasons]
        return lines

    def _reason(self, advice: Advice, reason: Reason, diagram: Diagram) -> Line:
        gains = {name: self._difference(advice, getattr(reason, name)) for name in ("gain", "otherwise")}
        share, card = self._percent(reason.share, 0), self._card(advice, reason.card)
        if reason.seat is None:
            sentence = self.text("best.reason.stock", card="\0", share=share, **gains)
        else:
            seat = plain(diagram.seats[reason.seat].name)
            sentence = self.text("best.reason.seat", card="\0", share=share, seat=seat, **gains)
        return self._filled(sentence, card)

    def _where_cards(self, advice: Advice, diagram: Diagram, bold: set[str]) -> list[Line]:
        """How likely the unseen cards are where; those that are alike share a row, those in ``bold`` stand out."""
        say = self.text
        where = advice.where
        if not where:
            return [Line(say("best.where.none"))]
        seats = [seat for seat in range(len(diagram.seats)) if any(each.seats[seat] for each in where)]
        stock = any(each.stock for each in where)
        heads = [plain(diagram.seats[seat].name) for seat in seats] + [say("show.stock")] * stock
        rows = [[Line(head, "dim") for head in [*heads, say("best.cards")]]]
        order: dict[tuple[str, ...], list[str]] = {}
        for each in where:
            shares = [each.seats[seat] for seat in seats] + [each.stock] * stock
            order.setdefault(tuple(self._percent(share, 1) for share in shares), []).append(each.card)
        for shown, cards in order.items():
            row = Line()
            for card in cards:
                face = self._card(advice, card)
                row.append(" " if row else "")
                if card in bold:
                    face.stylize("bold")
                row.append_text(face)
            rows.append([*map(Line, shown), row])
        grid = self._grid(rows, gap=3, right=range(len(heads)), indent=2)
        return [Line(say("best.where"), "bold"), *grid]

    # Words and numbers.

    def _card(self, advice: Advice, card: str) -> Line:
        return self._action(advice.knowledge.position, Action(card, advice.seat))

    def _head(self, advice: Advice) -> str:
        return self.text("solve.value" if advice.objective == "points" else "best.chance")

    def _worth(self, advice: Advice, value: float) -> str:
        """A value as people read it: a margin with its sign, or the chance to win."""
        if math.isnan(value):
            return "?"
        if advice.objective != "points":
            return self._percent(value, 1)
        return self._signed(value, 0 if advice.solved else 1)

    def _difference(self, advice: Advice, value: float) -> str:
        """A difference of two values: points, or hundredths of a game."""
        if math.isnan(value):
            return "?"
        if advice.objective != "points":
            return self.text("best.percentage", points=self._signed(100 * value, 1))
        return self._signed(value, 0 if advice.solved else 1)

    def _error(self, advice: Advice, error: float) -> str:
        if math.isnan(error) or advice.exact:
            return ""
        return "±" + self.text.decimal(error if advice.objective == "points" else 100 * error, 1)

    def _signed(self, value: float, places: int) -> str:
        shown = self.text.decimal(abs(value), places)
        zero = not shown.strip("0.,")
        return shown if zero else ("−" if value < 0 else "+") + shown

    def _percent(self, share: float, places: int) -> str:
        if share in (0, 1):
            places = 0
        return self.text.decimal(100 * share, places) + " %"

    def _count(self, number: int) -> str:
        if number < _MANY:
            return self.text.number(number)
        power = len(str(number)) - 1
        return f"{self.text.decimal(number / 10**power, 1)} × 10^{power}"
