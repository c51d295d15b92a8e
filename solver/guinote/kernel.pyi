from collections.abc import Sequence

class Context:
    def __init__(self, memory_mb: int = 16) -> None: ...
    def stop(self) -> None: ...
    def resume(self) -> None: ...
    @property
    def hits(self) -> int: ...

class Results:
    count: int
    def __len__(self) -> int: ...
    def summary(self, i: int) -> tuple[int, int, int, float]: ...
    def actions(self, i: int) -> list[tuple[int, int, int, int, int]]: ...

def pack_rules(
    *,
    players: int,
    beat: int,
    partner_exempt: bool,
    undertrump_forced: bool,
    strict: int,
    cantes: bool,
    cante_by_winner: bool,
    cante_per_member: bool,
    cante_after_lead: bool,
    exchange_when: int,
    exchange_two: bool,
    exchange_after: bool,
    malas_minimum: int,
    malas_with_last: bool,
    malas_loses: bool,
    both_over_higher: bool,
    vueltas: int,
    claim: bool,
    tute: int,
    capote: int,
    last_trick: int,
    target: int,
) -> bytes: ...
def pack(
    rules: bytes,
    numbers: tuple[int, ...],
    hands: tuple[tuple[int, ...], ...],
    stock: tuple[int, ...],
    table: tuple[int, ...],
    leader: int,
    moment: int,
    unsung: int,
    singers: int,
    exchanged: bool,
    tute_declared: bool,
    vueltas: bool,
    played: bool,
    won: int,
    capote: int,
    points: tuple[int, int],
    cards: tuple[int, int],
    carried: tuple[int, int],
) -> bytes: ...
def solve_batch(
    setups: Sequence[bytes],
    context: Context,
    objective: int,
    want: int,
    nodes: int,
    seconds: float,
    fresh: bool,
    at_least: int = ...,
) -> Results: ...
