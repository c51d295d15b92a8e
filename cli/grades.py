"""What people see of grades: the decisions of a deal, and players beside each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from rich.console import RenderableType
from rich.text import Text as Line

from arrastre.cli.render import Renderer, plain
from arrastre.grade import THRESHOLDS, Effort
from arrastre.tally import ALL, Interval, Tally
from arrastre.tally import Line as Sums

if TYPE_CHECKING:
    from arrastre.cli.grade import _Entry

_STYLES: Final = {"blunder": "bold red", "mistake": "red", "inaccuracy": "yellow", "renuncio": "bold red"}


class GradeRenderer(Renderer):
    """Renders grades for one stream."""

    def decisions(self, entry: _Entry, grade: Mapping[str, Any]) -> str:
        """Every decision of a deal, and where its result came from."""
        say = self.text
        where = f"{entry.file}:{entry.line}" if entry.file and entry.line else entry.file
        title = say("grade.deal", deal=grade["deal"], ruleset=plain(str(grade["ruleset"])), effort=grade["effort"])
        parts: list[RenderableType] = [Line(", ".join(filter(None, [plain(where), title])), "bold"), Line()]
        names = ("at", "player", "played", "best", "points", "game", "hindsight")
        rows = [[*(Line(say(f"grade.{name}"), "dim") for name in names), Line()]]
        rows += [self._decision(each) for each in grade["decisions"]]
        parts += self._grid(rows, gap=2, right=(4, 5, 6))
        parts += [Line(), *self._lost(grade)]
        if grade["skipped"]:
            parts += [Line(), Line(say("grade.skipped", skipped=grade["skipped"]), "dim")]
        if grade["luck"]:
            parts += [Line(), *self._luck(grade["luck"])]
        return self._string(parts)

    def _decision(self, each: Mapping[str, Any]) -> list[Line]:
        say, label = self.text, each["label"]
        said = [say(f"grade.label.{label}")]
        if each["missed"]:
            said.append(say("grade.missed_one", action=each["missed"]))
        if each["unlucky"]:
            said.append(say("grade.unlucky_one"))
        if each["breach"]:
            said.append(plain(each["breach"]["message"]))
        better = each["best"] if each["best"] not in (None, each["action"]) else ""
        return [
            Line(each["at"]),
            Line(plain(each["player"])),
            Line(each["action"]),
            Line(better),
            Line(self._loss(each["pointsLoss"], each["pointsError"], 1)),
            Line(self._loss(each["gameLoss"], each["gameError"], 100)),
            Line(self._loss(each["hindsightPointsLoss"], None, 1) if each["basis"] == "known" else ""),
            Line(", ".join(said), _STYLES.get(label, "dim")),
        ]

    def _lost(self, grade: Mapping[str, Any]) -> list[Line]:
        """What each player's decisions lost together."""
        say = self.text
        rows = [[Line(say(f"grade.{name}"), "dim") for name in ("player", "decisions", "points", "game")]]
        for each in grade["lost"]:
            losses = self._loss(each["points"], None, 1), self._loss(each["game"], None, 100)
            rows.append([Line(plain(grade["players"][each["seat"]])), Line(str(each["counted"])), *map(Line, losses)])
        return self._grid(rows, gap=2, right=(1, 2, 3))

    def _loss(self, loss: float | None, error: float | None, scale: int) -> str:
        if loss is None:
            return "–"
        shown = self._signed(scale * loss)
        return f"{shown} ±{self.text.decimal(scale * error, 1)}" if error else shown

    def _signed(self, value: float) -> str:
        shown = self.text.decimal(abs(value), 1)
        return shown if value >= 0 or not shown.strip("0.,") else "−" + shown

    def _luck(self, luck: Mapping[str, Any]) -> list[RenderableType]:
        """The parts of the margin, one below the other."""
        say = self.text
        names = ("average", "dealt", "drawn", "layout", "lost", "residual", "margin")
        rows = [
            [Line(say(f"grade.luck.{name}"), "bold" if name == "margin" else ""), Line(self._plus(luck[name]))]
            for name in names
        ]
        return [Line(say("grade.luck.title"), "bold"), *self._grid(rows, gap=2, right=(1,), indent=2)]

    def _plus(self, value: float) -> str:
        shown = self._signed(value)
        return "+" + shown if value > 0 and shown.strip("0.,") else shown

    # -- players

    def players(self, lines: Sequence[Sums], tally: Tally, effort: Effort, others: int) -> str:
        """Players beside each other, those who lose least first, and how sure their order is."""
        say = self.text
        names = ("player", "decisions", "points", "interval", "game", "interval", "flags", "luck")
        heads = [say(f"grade.{name}") for name in names]
        rows = [[Line(head, "dim") for head in heads]]
        for each in lines:
            first = each.phase == ALL
            flags = "/".join(str(each.labels.get(label, 0)) for _, label in reversed(THRESHOLDS))
            rows.append(
                [
                    Line(plain(each.player), "bold") if first else Line("  " + say(f"grade.phase.{each.phase}"), "dim"),
                    Line(self.text.number(each.decisions)),
                    *self._interval(each.points, 1),
                    *self._interval(each.game, 100),
                    Line(flags),
                    Line("" if each.luck is None else self._plus(each.luck)),
                ]
            )
        known = say("grade.title.known" if effort.worlds else "grade.title.hindsight")
        title = say("grade.title", deals=self.text.number(tally.deals), effort=effort.name, known=known)
        parts: list[RenderableType] = [Line(title, "bold"), Line()]
        parts += self._grid(rows, gap=2, right=range(1, 8))
        parts += [Line(), Line(say("grade.legend"), "dim")]
        if others:
            parts += [Line(say("grade.others", others=self.text.number(others)), "dim")]
        apart = self._apart([each.player for each in lines if each.phase == ALL], tally)
        if apart:
            parts += [Line(), *apart]
        return self._string(parts)

    def _interval(self, interval: Interval, scale: int) -> list[Line]:
        if interval.mean is None or interval.low is None or interval.high is None:
            return [Line("–"), Line("")]
        low, high = (self._signed(scale * bound) for bound in (interval.low, interval.high))
        return [Line(self._signed(scale * interval.mean)), Line(f"{low}…{high}", "dim")]

    def _apart(self, ranked: Sequence[str], tally: Tally) -> list[Line]:
        """For each player and the next: whether their order is sure, or how many more deals it would take."""
        lines = []
        for one, other in pairwise(ranked):
            more = tally.more_deals(one, other)
            key = "grade.apart.never" if more is None else "grade.apart.sure" if more == 0 else "grade.apart.more"
            count = "" if more is None else self.text.number(more)
            lines.append(Line(self.text(key, one=plain(one), other=plain(other), more=count)))
        return lines
