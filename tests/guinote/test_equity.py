"""What carried scores are worth: the stored table, how it is built, and what follows from it for cotos."""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from arrastre.guinote import equity, scoring
from arrastre.guinote.rules import RULESETS, Ruleset, resolve, row

ROWS = [(name, players) for name in RULESETS for players in (4, 2)]


def program() -> ModuleType:
    path = Path(__file__).parents[2] / "benchmarks" / "equity.py"
    spec = importlib.util.spec_from_file_location("build_equity", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


BUILDER: Any = program()


# ---- the table -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "players"), ROWS)
def test_more_points_are_never_worse(name: str, players: int) -> None:
    table = equity.leaders_table(name, players)
    target = row(name, players).target
    assert table.shape == (target, target)
    assert table.min() >= 0 and table.max() <= 1
    assert table[0, target - 1] < 0.2 and table[target - 1, 0] > 0.8
    assert (np.diff(table, axis=0) >= 0).all()
    assert (np.diff(table, axis=1) <= 0).all()


@pytest.mark.parametrize(("name", "players"), ROWS)
def test_what_one_side_wins_the_other_loses(name: str, players: int) -> None:
    rules = row(name, players)
    chances = equity.vueltas_equity(rules)
    np.testing.assert_allclose(chances + chances.T, 1.0)
    assert (chances[rules.target :, : rules.target] == 1).all()
    assert (chances[: rules.target, rules.target :] == 0).all()
    for own, rivals in ((0, 0), (90, 10), (35, 60)):
        for leads in (True, False, None):
            theirs = None if leads is None else not leads
            assert equity.win_chance(rules, own, rivals, leads) == pytest.approx(
                1 - equity.win_chance(rules, rivals, own, theirs)
            )
        assert equity.win_chance(rules, own, rivals, None) == pytest.approx(chances[own, rivals])
    assert equity.win_chance(rules, 0, 0, None, vueltas=False) == pytest.approx(0.5)


def test_the_table_belongs_to_this_way_of_playing() -> None:
    """Fails when the policy plays otherwise than it did: then ``python benchmarks/equity.py`` has to be run again."""
    about = equity.about()
    assert about["play"] == BUILDER.signature(about["seed"])
    assert sorted(about["rows"]) == sorted(f"{name}-{players}" for name, players in ROWS)
    for facts in about["rows"].values():
        assert facts["deals"] >= 100_000
        assert facts["largestError"] < 0.002


@pytest.mark.parametrize(
    ("name", "players", "own", "rivals"), [("aragones", 4, 60, 55), ("cien", 4, 30, 48), ("torneo", 2, 20, 70)]
)
def test_whole_games_end_as_the_table_says(name: str, players: int, own: int, rivals: int) -> None:
    rules, games, won = row(name, players), 3000, 0
    blocks = (each for block in range(100) for each in _timelines(BUILDER.play(rules, 77, block)))
    for _ in range(games):
        carried, leader = (own, rivals), 0
        while True:
            gains, last = next(blocks)
            # In what was played side 0 leads.
            verdict, points = plain(gains, last, rules, carried if leader == 0 else carried[::-1], vueltas=True)
            if verdict is not None:
                won += verdict == leader
                break
            if points is not None:
                carried = points if leader == 0 else points[::-1]
            led = rules.next_dealer == "rotate" or last == 0
            leader = 1 - leader if led else leader
    expected = equity.leaders_table(name, players)[own, rivals]
    assert abs(won / games - expected) < 3 * (expected * (1 - expected) / games) ** 0.5 + 0.003


# ---- how deals are judged ------------------------------------------------------------------------------------------


def _timelines(deals: Any) -> list[tuple[list[tuple[int, int, int]], int]]:
    return [
        ([(kind, side, points) for kind, side, points in gains.tolist() if kind], int(last))
        for gains, last in zip(deals.gains, deals.last, strict=True)
    ]


def plain(
    gains: list[tuple[int, int, int]], last: int, rules: Ruleset, carried: scoring.Pair, *, vueltas: bool
) -> tuple[int | None, scoring.Pair | None]:
    """Who wins the game, by the rules as they are applied to records; if nobody does, what is carried on, or ``None``
    if the deal is to be dealt again."""
    sources, capote = scoring.Sources(), None
    names = ["", "cards", "last_trick", "cantes", "tute", "capote"]
    for number, (kind, side, points) in enumerate(gains):
        sources = sources.plus(names[kind], side, points)
        if kind == BUILDER.CAPOTE:
            capote = side
        if number + 1 < len(gains) and gains[number + 1][0] in (BUILDER.LAST, BUILDER.CAPOTE):
            continue
        totals = carried[0] + sources.points[0], carried[1] + sources.points[1]
        word = {BUILDER.CANTE: scoring.CANTE, BUILDER.TUTE: scoring.TUTE}.get(kind, scoring.TRICK)
        verdict = scoring.after_gain(rules, totals, vueltas, side, word)
        if verdict is not None:
            return verdict.winner, None
        if rules.claim == "at_risk":
            claimed = scoring.on_claim(rules, totals, sources, vueltas, side)
            if claimed.winner == side:
                return side, None
    totals = carried[0] + sources.points[0], carried[1] + sources.points[1]
    verdict = scoring.at_end(rules, totals, sources, vueltas, last, capote)
    return verdict.winner, None if verdict.outcome == scoring.REPLAY else totals


RULES = [
    *(row(name, players) for name, players in ROWS),
    resolve("torneo", {"capote": "wins", "tute": 40}),
    resolve("aragones", {"claim": "at_risk", "malas_minimum": 30, "malas_failure": "lose"}),
    resolve("cien", {"malas_minimum": 30, "vueltas": "won_trick", "target": 61}),
    resolve("cien", {"both_over": "last_trick", "tute": "wins", "target": 61, "next_dealer": "last_trick"}),
]


@pytest.mark.parametrize("rules", RULES, ids=lambda rules: f"{rules.name}-{rules.players}-{rules.target}")
def test_deals_are_judged_as_records_are(rules: Ruleset) -> None:
    deals = BUILDER.play(rules, 5, 0, 150)
    made = deals.points
    for vueltas in (True, False):
        won, again, on = BUILDER.judge(deals, rules, vueltas)
        scores = [0, 1, 17, 40, 52, rules.target - 1] if vueltas else [0]
        for number, (gains, last) in enumerate(_timelines(deals)):
            for own in scores:
                for rivals in scores:
                    winner, left = plain(gains, last, rules, (own, rivals), vueltas=vueltas)
                    found = won[number, own, rivals], again[number, own, rivals], on[number, own, rivals]
                    replayed = winner is None and left is None
                    assert found == (winner == 0, replayed, left is not None and winner is None)
                    if left is not None and winner is None:
                        assert left == (own + made[number, 0], rivals + made[number, 1])


def test_the_same_sums_whatever_the_blocks() -> None:
    rules = row("torneo", 4)
    parts = BUILDER.Sums.nothing(rules.target)
    for block in range(2):
        parts.add(BUILDER.add_up(BUILDER.play(rules, 3, block, 50), rules))
    assert parts.deals == 100
    won, _, on = BUILDER.judge(BUILDER.play(rules, 3, 0, 50), rules, vueltas=True)
    more = BUILDER.judge(BUILDER.play(rules, 3, 1, 50), rules, vueltas=True)
    assert (parts.wins == won.sum(axis=0) + more[0].sum(axis=0)).all()
    assert parts.left.sum() == on[:, 0, 0].sum() + more[2][:, 0, 0].sum()


def test_a_table_built_in_two_goes_is_that_built_in_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def build(folder: str, *more: str) -> Path:
        out = tmp_path / f"{folder}.npz"
        arguments = ["equity.py", "--deals", "2000", "--rows", "aragones/4,cien/2", "--out", str(out)]
        monkeypatch.setattr(sys, "argv", [*arguments, "--work", str(tmp_path / folder), *more])
        BUILDER.main()
        return out

    once = build("once")
    assert not build("twice", "--budget", "0").exists()
    assert build("twice").read_bytes() == once.read_bytes()
    with np.load(once) as built, np.load(BUILDER.OUT) as stored:
        for name in ("aragones-4", "cien-2"):
            assert built[name].shape == stored[name].shape
            assert built[name].dtype == stored[name].dtype
            assert np.abs(built[name].astype(float) - stored[name]).max() / equity.SCALE < 0.06


# ---- what it is used for -------------------------------------------------------------------------------------------


def test_overridden_rules_use_the_row_they_are_made_from() -> None:
    base = row("aragones", 4)
    changed = resolve("aragones", {"target": 100, "tute": "none"})
    assert equity.row_for(base) == "own row"
    assert equity.row_for(changed) == "base row"
    # By what is lacking to the target.
    assert equity.vueltas_equity(changed)[99, 90] == equity.vueltas_equity(base)[100, 91]
    assert equity.vueltas_equity(changed)[60, 0] == equity.vueltas_equity(base)[61, 1]
    assert equity.vueltas_equity(changed)[100, 99] == 1


def test_games_make_the_coto() -> None:
    rules = row("aragones", 4)
    assert rules.games_per_coto == 3
    table = equity.coto_equity(rules)
    assert table[0, 0] == 0.5
    assert table[2, 0] == 0.875
    assert table[0, 2] == 0.125
    assert table[2, 2] == 0.5
    assert (table[3, :3] == 1).all() and (table[:3, 3] == 0).all()
    assert equity.coto_chance(rules, 2, 2, 0.3) == pytest.approx(0.3)
    assert equity.coto_chance(rules, 0, 0, 1.0) == table[1, 0]
    with pytest.raises(ValueError, match="so many deals"):
        equity.coto_equity(replace(rules, games_per_coto="deals:4"))
