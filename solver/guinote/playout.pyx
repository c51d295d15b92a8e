# Walks through deals by policy, and exact values where they end. The design is in playout.pxd; read that first.

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from libc.math cimport NAN
from libc.stdint cimport int16_t, uint8_t, uint64_t
from libc.string cimport memcpy, memset

from arrastre.guinote.kernel cimport (
    BEFORE_DRAW,
    BEFORE_DRAW_RIVALS,
    CAMBIO,
    CANTE,
    CARD,
    GAME,
    INFINITE,
    OWN_TURN,
    PASS,
    PLAY,
    POINTS,
    RIVALS,
    SCORES_40,
    SCORES_100,
    STRICT_ALWAYS,
    STRICT_ARRASTRE,
    TUTE,
    UNSEEN,
    WINS,
    Context,
    Found,
    Result,
    Setup,
    State,
    Trick,
    can_sing,
    deal_out,
    exchange,
    has_won,
    holds_tute,
    judge,
    lay,
    legal_cards,
    list_actions,
    read_table,
    search,
    set_up,
    table_mask,
    try_action,
    who_exchanges,
)
from arrastre.search.cardset cimport bit, count, lane_mask, lowest
from arrastre.search.clock cimport now
from arrastre.search.table cimport fold


cdef extern from *:
    """
    static const uint64_t ARRASTRE_PAIR_OF_TRUMPS = 0x00C0;
    """
    const uint64_t PAIR_OF_TRUMPS "ARRASTRE_PAIR_OF_TRUMPS"     # rey and mate in lane 0


cdef enum:
    LANE = 16
    CANTE_TRUMP = 40
    CANTE_PLAIN = 20
    TUTE_POINTS = 40
    CAPOTE_POINTS = 100
    DETAILS = 6

cdef int[16] WORTH = [0, 0, 0, 0, 0, 2, 3, 4, 10, 11, 0, 0, 0, 0, 0, 0]

# Quarters of a point, by rank, that playing a card costs in trumps and in other suits, while cards are drawn and after.
# These and the numbers below were found by a random search that kept what won some thousand deals in self-play.
cdef int[2][16] COST_DRAW = [
    [30, 30, 28, 33, 36, 40, 40, 50, 79, 93, 0, 0, 0, 0, 0, 0],
    [-6, -5, -2, -3, -2, -6, -9, -8, -4, 13, 0, 0, 0, 0, 0, 0],
]
cdef int[2][16] COST_LATE = [
    [13, 17, 17, 22, 23, 26, 29, 39, 79, 80, 0, 0, 0, 0, 0, 0],
    [-7, 9, 8, 9, 12, 8, 5, 4, 12, 5, 0, 0, 0, 0, 0, 0],
]
cdef enum:
    # Quarters of a point, as costs are.
    SING_BOTH = 52          # a card of a cante of 20 whose cards are both held; for one of 40 twice as much
    SING_ONE = 10           # ... of which one is held and the other is out, while cards are drawn
    ALONE_DRAW = -9         # the only card of its suit, not a trump
    ALONE_LATE = -2
    LEAD_DRAW = -1          # to lead a card, not a trump
    LEAD_LATE = -4
    LEAD_TRUMP_DRAW = 9
    LEAD_TRUMP_LATE = -12
    LEAD_HIGH_DRAW = 5      # to lead a tres or as besides, not a trump
    LEAD_HIGH_LATE = -2
    LATER_DRAW = -8         # points that each seat to come adds to the trick
    LATER_LATE = -7
    HASTE = -4              # points that winning a trick is worth beside those in it
    # Eighths, by which a card is counted as one that beats.
    HIGHER = 5              # a higher card of the suit, while there are no duties
    RUFF_NOTHING = 1        # a trump, while there are no duties: the more, the more points are in the trick
    RUFF_LITTLE = 4
    RUFF_MUCH = 9
    MUCH = 9                # points
    # Sixteenths.
    PARTNER = 12            # how much of the partner's chance to beat a card is to be counted on


# ---- the policy ----------------------------------------------------------------------------------------------------

cdef inline bint takes(int card, int win) noexcept nogil:
    return card > win if card >> 4 == win >> 4 else card < LANE


cdef inline int survival(View* v, int lane, int win, int points, int hands) noexcept nogil:
    # The chance, in ONE, that none of so many hands holds and plays a card that beats `win`.
    cdef int size = 8 * count(v.out), beaters, trumps = 0, _i, p = ONE, draws = hands * count(v.hand)
    beaters = (8 if v.strict else HIGHER) * count(v.out & lane_mask(win >> 4) & ~<uint64_t> 1 << win)
    if win >= LANE:
        trumps = count(v.out & lane_mask(0))
        if v.strict:
            # While the suit led is out, whoever has it follows suit.
            beaters += 0 if v.out & lane_mask(lane) else 8 * trumps
        elif not points:
            beaters += RUFF_NOTHING * trumps
        else:
            beaters += (RUFF_LITTLE if points < MUCH else RUFF_MUCH) * trumps
    for _i in range(draws):
        if size <= 0:
            break
        if beaters >= size:
            return 0
        p = p * (size - beaters) // size
        size -= 8
    return p


cdef inline int cost(View* v, int card) noexcept nogil:
    # Quarters of a point that playing a card gives up.
    cdef int lane = card >> 4, rank = card & 15, price
    cdef uint64_t pair
    price = COST_DRAW[lane > 0][rank] if v.drawing else COST_LATE[lane > 0][rank]
    if v.sings and v.unsung >> lane & 1:
        pair = PAIR_OF_TRUMPS << (lane * LANE)
        if pair & bit(card):
            if v.hand & pair == pair:
                price += SING_BOTH if lane else 2 * SING_BOTH
            elif v.out & pair and v.drawing:
                price += SING_ONE if lane else 2 * SING_ONE
    if lane and not v.hand & lane_mask(lane) & ~bit(card):
        price += ALONE_DRAW if v.drawing else ALONE_LATE
    if not v.count:
        if lane:
            price += LEAD_DRAW if v.drawing else LEAD_LATE
            if WORTH[rank] >= 10:
                price += LEAD_HIGH_DRAW if v.drawing else LEAD_HIGH_LATE
        else:
            price += LEAD_TRUMP_DRAW if v.drawing else LEAD_TRUMP_LATE
    return price


cdef int choose(View* v) noexcept nogil:
    cdef uint64_t rest = v.legal
    cdef int card, best = -1, score, highest_score = 0, win, lane, points, p, later, stake
    cdef bint ours
    later = v.players - v.count - 1
    while rest:
        card = lowest(rest)
        rest &= rest - 1
        ours = True
        win = card
        lane = v.lane if v.count else card >> 4
        points = WORTH[card & 15]
        if v.count:
            points += v.points
            if not takes(card, v.win):
                win = v.win
                ours = not (v.winner ^ v.seat) & 1
        if ours:
            p = survival(v, lane, win, points, (later + 1) // 2)
        else:
            p = (ONE - survival(v, lane, win, points, later // 2)) * PARTNER // 16
        stake = 4 * points + later * (LATER_DRAW if v.drawing else LATER_LATE)
        score = (2 * p - ONE) * stake + 4 * p * HASTE - ONE * cost(v, card)
        if best < 0 or score > highest_score:
            best = card
            highest_score = score
    return best


# ---- walking -------------------------------------------------------------------------------------------------------

cdef void begin(Walk* w, State* s, Setup* root, bint coupled, bint game) noexcept nogil:
    # Set out from `root`; `s` was set up for it under `game`.
    cdef int i
    memcpy(&w.s, s, sizeof(State))
    w.trick = read_table(s, root)
    for i in range(root.table_count):
        w.order[i] = root.table[i]
    w.leader = root.leader
    w.moment = root.moment
    w.singers = root.singers
    w.excused = 0
    w.coupled = coupled
    w.game = game
    w.decided = 0
    w.over = False
    w.styles[0] = w.styles[1] = POLICY
    w.tricks[0] = w.tricks[1] = w.cantes[0] = w.cantes[1] = 0
    w.log = NULL
    w.logged = 0


cdef inline int draws_left(Walk* w) noexcept nogil:
    return (w.s.stock_count - w.s.stock_next) // w.s.rules.players


cdef inline uint64_t held(State* s) noexcept nogil:
    return s.hand[0] | s.hand[1] | s.hand[2] | s.hand[3]


cdef inline void note(Walk* w, int kind, int side, int points) noexcept nogil:
    if w.log != NULL and w.logged < GAINS:
        w.log[3 * w.logged] = <int16_t> kind
        w.log[3 * w.logged + 1] = <int16_t> side
        w.log[3 * w.logged + 2] = <int16_t> points
        w.logged += 1


cdef inline void gained(Walk* w, int side, bint by_trick) noexcept nogil:
    # Points were added to a side's total: is the game over?
    if w.game and has_won(&w.s, side, by_trick):
        w.decided = -1 if side else 1
        w.over = True


cdef int nominal(Walk* w, int place, int leader) noexcept nogil:
    # The card that the seat `place` seats after `leader` draws next.
    cdef int players = w.s.rules.players, first = w.s.stock_next, seat, last
    if not w.coupled:
        return w.s.stock[first + place]
    seat = (leader + place) & (players - 1)
    if w.s.stock_count - first > players:
        return w.s.stock[first + seat]
    last = (leader + players - 1) & (players - 1)
    if seat == last:
        return w.s.stock[first + players - 1]
    return w.s.stock[first + (last if seat == players - 1 else seat)]


cdef void draw_cards(Walk* w) noexcept nogil:
    # Everybody draws; the rivals of the leader are next to declare.
    cdef int place, players = w.s.rules.players
    cdef uint64_t card
    for place in range(players):
        card = bit(nominal(w, place, w.leader))
        w.s.hand[(w.leader + place) & (players - 1)] |= card
        w.s.in_stock ^= card
    w.s.stock_next += players
    w.moment = RIVALS
    if w.s.stock_next == w.s.stock_count:
        deal_out(&w.s)
        w.moment = PLAY


cdef void play(Walk* w, int card) noexcept nogil:
    # The seat to play does; a trick that is complete is scored, and cards are drawn unless somebody may exchange first.
    cdef State* s = &w.s
    cdef int side, gain
    w.order[w.trick.count] = <uint8_t> card
    lay(s, &w.trick, card)
    w.excused = 0
    w.moment = PLAY
    if w.trick.count < s.rules.players:
        return
    w.leader = w.trick.winner
    side = w.leader & 1
    gain = w.trick.points
    s.won |= 1 << side
    s.capote &= 1 << side
    s.played = 1
    w.tricks[side] += 1
    w.singers = 0
    s.total[side] += gain
    s.cards[side] += gain
    note(w, GAINED_TRICK, side, gain)
    if s.stock_next == s.stock_count and not held(s):
        w.over = True
        s.total[side] += s.rules.last_trick
        note(w, GAINED_LAST, side, s.rules.last_trick)
        if s.rules.malas_with_last:
            s.cards[side] += s.rules.last_trick
        if s.capote and s.rules.capote == SCORES_100:
            s.total[side] += CAPOTE_POINTS
        if s.capote:
            note(w, GAINED_CAPOTE, side, CAPOTE_POINTS if s.rules.capote == SCORES_100 else 0)
    gained(w, side, True)
    if w.over:
        if w.game and not w.decided:
            if s.capote and s.rules.capote == WINS:
                w.decided = -1 if side else 1
            else:
                w.decided = judge(s, w.leader)
        return
    memset(&w.trick, 0, sizeof(Trick))
    w.trick.seat = w.leader
    if s.stock_next == s.stock_count:
        return
    if s.stock_count - s.stock_next == s.rules.players and s.rules.exchange_after:
        w.moment = BEFORE_DRAW_RIVALS
    else:
        draw_cards(w)


cdef inline void score(Walk* w, int side, int gain) noexcept nogil:
    w.s.total[side] += gain
    w.cantes[side] += gain
    gained(w, side, False)


cdef void sing(Walk* w, int seat, int lane) noexcept nogil:
    w.s.unsung &= ~(1 << lane)
    w.singers |= 1 << seat
    note(w, GAINED_CANTE, seat & 1, CANTE_PLAIN if lane else CANTE_TRUMP)
    score(w, seat & 1, CANTE_PLAIN if lane else CANTE_TRUMP)


cdef void declare_tute(Walk* w, int seat) noexcept nogil:
    w.s.tute_open = 0
    note(w, GAINED_TUTE, seat & 1, TUTE_POINTS if w.s.rules.tute == SCORES_40 else 0)
    if w.s.rules.tute == SCORES_40:
        score(w, seat & 1, TUTE_POINTS)
    elif w.game:
        w.decided = -1 if seat & 1 else 1
        w.over = True


cdef void next_moment(Walk* w) noexcept nogil:
    # Everybody has passed.
    if w.moment == BEFORE_DRAW_RIVALS:
        w.moment = BEFORE_DRAW
    elif w.moment == BEFORE_DRAW:
        draw_cards(w)
    else:
        w.moment = PLAY


cdef inline bint gains_by_exchange(State* s) noexcept nogil:
    return s.stock[s.stock_count - 1] > lowest(s.swap)


cdef void view_of(Walk* w, View* v) noexcept nogil:
    # What the seat to play knows.
    cdef State* s = &w.s
    cdef int seat = w.trick.seat
    v.hand = s.hand[seat]
    v.legal = legal_cards(s, &w.trick)
    v.out = (held(s) ^ s.hand[seat]) | s.in_stock
    v.seat = seat
    v.players = s.rules.players
    v.count = w.trick.count
    v.lane = w.trick.lane
    v.win = w.trick.win
    v.winner = w.trick.winner
    v.points = w.trick.points
    v.drawing = s.stock_next < s.stock_count
    v.strict = s.rules.strict == STRICT_ALWAYS or s.rules.strict == STRICT_ARRASTRE and not v.drawing
    v.unsung = s.unsung
    v.sings = s.rules.cantes


cdef int grab(View* v) noexcept nogil:
    # The card of a greedy player.
    cdef uint64_t rest = v.legal
    cdef int card, poorest = lowest(rest), best = -1
    while rest:
        card = lowest(rest)
        rest &= rest - 1
        if WORTH[card & 15] * LANE + (card & 15) < WORTH[poorest & 15] * LANE + (poorest & 15):
            poorest = card
        if not v.count or takes(card, v.win):
            if best < 0 or card & 15 > best & 15 or card < LANE and best >= LANE:
                best = card
    return poorest if best < 0 else best


cdef int any_of(Walk* w, uint64_t cards) noexcept nogil:
    # One of them by chance.
    cdef int _i, n
    w.random = fold(w.random ^ <uint64_t> 0x9E3779B97F4A7C15, <uint64_t> 0xD1B54A32D192ED03)
    n = <int> (w.random >> 16 & 0xFFFFF) % count(cards)
    for _i in range(n):
        cards &= cards - 1
    return lowest(cards)


cdef inline void put_down(Found* action, int kind, int arg, int seat) noexcept nogil:
    action.kind = <uint8_t> kind
    action.arg = <uint8_t> arg
    action.seat = <uint8_t> seat


cdef void decide(Walk* w, bint declarations_only, Found* action) noexcept nogil:
    # What the policy does next, those excused left out: a declaration, or else a card, or a pass where no card is due
    # or wanted.
    cdef State* s = &w.s
    cdef View v
    cdef int seat = -1, lane
    if s.swap:
        if w.moment != PLAY:
            seat = who_exchanges(s, w.leader, w.moment != BEFORE_DRAW)
        elif s.rules.exchange_when == OWN_TURN:
            if s.swap & s.hand[w.trick.seat]:
                seat = w.trick.seat
        elif not w.trick.count:
            seat = who_exchanges(s, w.leader, False)
        if seat >= 0 and not w.excused >> seat & 1 and gains_by_exchange(s):
            put_down(action, CAMBIO, 0, seat)
            return
    if w.moment == PLAY and not w.trick.count and s.played:
        if s.tute_open:
            for seat in range(w.leader & 1, s.rules.players, 2):
                if not w.excused >> seat & 1 and holds_tute(s, seat):
                    put_down(action, TUTE, 0, seat)
                    return
        if s.unsung:
            for lane in range(4):
                for seat in range(w.leader & 1, s.rules.players, 2):
                    if not w.excused >> seat & 1 and can_sing(s, seat, lane, w.leader, w.singers):
                        put_down(action, CANTE, lane, seat)
                        return
    if w.moment != PLAY or declarations_only:
        put_down(action, PASS, 0, 0)
        return
    view_of(w, &v)
    if not w.styles[v.seat & 1]:
        put_down(action, CARD, choose(&v), v.seat)
    elif w.styles[v.seat & 1] == GREEDY:
        put_down(action, CARD, grab(&v), v.seat)
    else:
        put_down(action, CARD, any_of(w, v.legal), v.seat)


cdef void perform(Walk* w, Found* action) noexcept nogil:
    # Do it. A pass is everybody's.
    if action.kind == CARD:
        play(w, action.arg)
    elif action.kind == CANTE:
        sing(w, action.seat, action.arg)
    elif action.kind == TUTE:
        declare_tute(w, action.seat)
    else:
        if action.kind == CAMBIO:
            exchange(&w.s, action.seat)
        if w.moment != PLAY:
            next_moment(w)


cdef inline void step(Walk* w) noexcept nogil:
    # The policy's next step.
    cdef Found action
    decide(w, False, &action)
    perform(w, &action)


cdef void set_out(Walk* w, Found* action) noexcept nogil:
    # Do what a seat decided at the root. Its pass is not its partner's.
    if action.kind != PASS:
        perform(w, action)
        return
    w.excused |= 1 << action.seat
    if w.moment != PLAY:
        step(w)
        w.excused = 0


cdef void partner_declares(Walk* w) noexcept nogil:
    # The leader is about to lead; its partner declares what the policy would.
    cdef Found action
    w.excused |= 1 << w.leader
    while not w.over:
        decide(w, True, &action)
        if action.kind == PASS:
            return
        perform(w, &action)


cdef void walk(Walk* w, int tricks) noexcept nogil:
    # On by policy until no more than so many tricks are left and no card is on the table.
    while not w.over:
        if not w.trick.count and (w.moment == PLAY or w.moment == RIVALS):
            if draws_left(w) + count(w.s.hand[w.leader]) <= tricks:
                return
        step(w)


cdef void freeze(Walk* w, Setup* root, Setup* out) noexcept nogil:
    # The position reached, as the kernel is told positions. `root` is where the walk began.
    cdef State* s = &w.s
    cdef int i, side, players = s.rules.players, turn, first = s.stock_next
    memset(out, 0, sizeof(Setup))
    out.rules = s.rules
    for i in range(players):
        out.hand[i] = s.hand[i]
    out.stock_count = <uint8_t> (s.stock_count - first)
    for turn in range(out.stock_count // players):
        for i in range(players):
            out.stock[turn * players + i] = <uint8_t> nominal(w, i, w.leader)
        s.stock_next += players
    s.stock_next = first
    memcpy(out.table, w.order, w.trick.count)
    out.table_count = <uint8_t> w.trick.count
    out.leader = <uint8_t> w.leader
    out.moment = <uint8_t> w.moment
    out.unsung = <uint8_t> s.unsung
    out.singers = <uint8_t> w.singers
    out.exchanged = not s.swap
    out.tute_declared = not s.tute_open
    out.vueltas = root.vueltas
    out.played = <uint8_t> s.played
    out.won = <uint8_t> s.won
    out.capote = <uint8_t> s.capote
    for side in range(2):
        out.carried[side] = root.carried[side]
        out.points[side] = <int16_t> (s.total[side] - root.carried[side])
        out.cards[side] = <int16_t> s.cards[side]


cdef inline int tricks_left(Setup* at) noexcept nogil:
    # With the one under way. Hands that are about to be filled count as full, which goes for every draw trick.
    cdef int players = at.rules.players
    cdef bint filling = at.moment == BEFORE_DRAW or at.moment == BEFORE_DRAW_RIVALS
    return at.stock_count // players + filling + count(at.hand[(at.leader + at.table_count) & (players - 1)])


cdef inline int acting(Setup* at) noexcept nogil:
    # The side whose turn it is.
    if at.moment == RIVALS or at.moment == BEFORE_DRAW_RIVALS:
        return at.leader & 1 ^ 1
    return (at.leader + at.table_count) & 1


# ---- values --------------------------------------------------------------------------------------------------------

cdef struct Tools:
    # What a batch works with.
    State ready                 # set up for the world under `game`, to set out from
    State e                     # of the searches
    Result listed
    Walk w
    Walk again
    int view
    int tricks                  # left where exact search takes over
    int objective
    bint coupled
    bint detailed
    double* equity              # equity[own * totals + rivals']
    int totals


cdef int exact_value(Tools* tools, Setup* at, Context context) noexcept nogil:
    # What is still to come of a position, for the side to act. (A null window moved from what the policy would reach
    # took a third more nodes than this open one: its guesses are too far off.)
    context.table.mask = table_mask(at, context.most)
    set_up(&tools.e, at, tools.objective, context)
    return search(&tools.e, at, -INFINITE, INFINITE)


cdef int exact_action(
    State* e, Result* listed, Setup* at, Found* action, int objective, Context context, Found* done
) noexcept nogil:
    # The same once `action` is taken. A pass is worth the best that the side may do without the seat that passes;
    # `done` becomes what is done.
    cdef int i, value, best = -INFINITE
    cdef Found* other
    context.table.mask = table_mask(at, context.most)
    set_up(e, at, objective, context)
    list_actions(e, at, listed)
    done[0] = action[0]
    for i in range(listed.count):
        other = &listed.action[i]
        if action.kind != PASS:
            if same_action(action, other):
                return try_action(e, at, other, -INFINITE, INFINITE)
        elif other.kind == PASS or other.seat != action.seat:
            value = try_action(e, at, other, best, INFINITE)
            if value > best:
                best = value
                done[0] = other[0]
    # A tute that wins means nothing under `points`.
    return best if best > -INFINITE else search(e, at, -INFINITE, INFINITE)


cdef void best_by_points(State* e, Result* listed, Setup* at, Context context, Found* done) noexcept nogil:
    # What the side to act does under `points`; of equals a declaration, then the strongest card.
    cdef int i, value
    context.table.mask = table_mask(at, context.most)
    set_up(e, at, POINTS, context)
    list_actions(e, at, listed)
    if listed.count > 1:
        value = search(e, at, -INFINITE, INFINITE)
        for i in range(listed.count - 1, 0, -1):
            if try_action(e, at, &listed.action[i], value - 1, value) >= value:
                done[0] = listed.action[i]
                return
    done[0] = listed.action[0]


cdef void best_undecided(State* e, Result* listed, Setup* at, Context context, Found* done) noexcept nogil:
    # What the side to act does under `points` where neither side can win the game and it must not lose it by that.
    cdef int i, value, best = -INFINITE
    cdef uint64_t safe = 0
    context.table.mask = table_mask(at, context.most)
    set_up(e, at, GAME, context)
    list_actions(e, at, listed)
    for i in range(listed.count):
        if listed.action[i].kind != TUTE or at.rules.tute == SCORES_40:
            if try_action(e, at, &listed.action[i], -1, 0) >= 0:
                safe |= bit(i)
    done[0] = listed.action[0]
    set_up(e, at, POINTS, context)
    for i in range(listed.count - 1, -1, -1):
        if safe >> i & 1:
            value = try_action(e, at, &listed.action[i], best, INFINITE)
            if value > best:
                best = value
                done[0] = listed.action[i]


cdef void follow_line(
    Walk* w, Setup* from_here, Found* first, bint undecided, State* e, Result* listed, Context context
) noexcept nogil:
    # Play a position out as exact search would, after `first` unless it is NULL. Draws are in the stock's order. What
    # `w` has counted so far is kept.
    cdef Setup at
    cdef Found action
    cdef int tricks[2]
    cdef int cantes[2]
    cdef int16_t* log = w.log
    cdef int logged = w.logged
    memcpy(tricks, w.tricks, sizeof(tricks))
    memcpy(cantes, w.cantes, sizeof(cantes))
    set_up(e, from_here, GAME, context)
    begin(w, e, from_here, False, w.game)
    memcpy(w.tricks, tricks, sizeof(tricks))
    memcpy(w.cantes, cantes, sizeof(cantes))
    w.log = log
    w.logged = logged
    if first:
        perform(w, first)
    while not w.over and not context.clock.expired:
        if w.log != NULL and w.s.tute_open and w.s.rules.tute == WINS:
            # Not worth anything by points; but whoever notes the gains wants to know.
            decide(w, True, &action)
            if action.kind == TUTE:
                perform(w, &action)
                continue
        freeze(w, from_here, &at)
        if undecided:
            best_undecided(e, listed, &at, context, &action)
        else:
            best_by_points(e, listed, &at, context, &action)
        perform(w, &action)


cdef inline bint same_action(Found* a, Found* b) noexcept nogil:
    return a.kind == b.kind and a.arg == b.arg and a.seat == b.seat


cdef int margin(Walk* w, Setup* root, int side) noexcept nogil:
    return w.s.total[side] - root.carried[side] - w.s.total[side ^ 1] + root.carried[side ^ 1]


cdef double probability(Tools* tools, Setup* at, Found* first, int side, int value, Context context) noexcept nogil:
    # The chance to win the game, from the outcome of this deal for `side`. `tools.w` has come to `at`, or will have
    # come to its end if first is taken there.
    cdef int own, rivals
    cdef Walk* w = &tools.w
    if value:
        return 1.0 if value > 0 else 0.0
    if not w.over:
        memcpy(&tools.again, w, sizeof(Walk))
        follow_line(w, at, first, False, &tools.e, &tools.listed, context)
        if w.decided:
            # The line of the most points would decide the game, which best play does not.
            memcpy(w, &tools.again, sizeof(Walk))
            follow_line(w, at, first, True, &tools.e, &tools.listed, context)
    own = w.s.total[side]
    rivals = w.s.total[side ^ 1]
    if own >= at.rules.target and rivals >= at.rules.target:
        # A deal to be dealt again, from the score at which it began.
        own = at.carried[side]
        rivals = at.carried[side ^ 1]
    own = min(own, tools.totals - 1)
    rivals = min(rivals, tools.totals - 1)
    return tools.equity[own * tools.totals + rivals]


cdef double value_of(Tools* tools, Setup* root, Found* action, int side, Context context) noexcept nogil:
    # The value of an action for `side`.
    cdef Walk* w = &tools.w
    cdef Setup at
    cdef Found done
    cdef Found* first = NULL
    cdef int value
    cdef bint exact = tricks_left(root) <= tools.tricks
    cdef bint leads = action.kind == CARD and not root.table_count and root.rules.players == 4
    begin(w, &tools.ready, root, tools.coupled, tools.objective == GAME)
    memcpy(&at, root, sizeof(Setup))
    if tools.view == INFORMED and leads:
        partner_declares(w)
        if exact and not w.over:
            freeze(w, root, &at)
    if w.over:
        pass
    elif exact:
        first = &done
        value = exact_action(&tools.e, &tools.listed, &at, action, tools.objective, context, first)
    else:
        set_out(w, action)
        walk(w, tools.tricks)
        if not w.over:
            freeze(w, root, &at)
            value = exact_value(tools, &at, context)
            if acting(&at) != side:
                value = -value
    if tools.objective == GAME:
        if w.over:
            value = -w.decided if side else w.decided
        return probability(tools, &at, first, side, value, context)
    value = margin(w, root, side) if w.over else value + at.points[side] - at.points[side ^ 1]
    if tools.detailed and not w.over:
        follow_line(w, &at, first, False, &tools.e, &tools.listed, context)
    return value


# ---- the Python side -----------------------------------------------------------------------------------------------

cdef bint fill(
    Setup* root, const uint8_t* numbers, const uint8_t* targets, const uint8_t* places, Py_ssize_t items
) noexcept nogil:
    # Fill a position's gaps; False if that leaves it unsound.
    cdef Py_ssize_t i
    cdef int target, seat, size, players = root.rules.players
    for i in range(items):
        if numbers[i] == UNSEEN:
            continue
        target = targets[places[i]]
        if target == UNSEEN:
            continue
        if target < LANE:
            root.hand[target] |= bit(numbers[i])
        else:
            root.stock[target - LANE] = numbers[i]
    for i in range(root.stock_count):
        if root.stock[i] == UNSEEN:
            return False
    size = count(root.hand[(root.leader + root.table_count) & (players - 1)])
    for i in range(players):
        seat = (root.leader + i) & (players - 1)
        if count(root.hand[seat]) + (i < root.table_count) != size:
            return False
    return size > 0


def world_values(
    bytes base, bytes numbers, bytes targets, const uint8_t[:, ::1] worlds, list actions, int seat, int view,
    int tricks, int objective, const double[:, ::1] equity, Context context, double seconds, double[:, ::1] out,
    int16_t[:, :, ::1] detail=None,
):
    """Fill ``out[world, action]`` with what each action is worth in each world, for the side of ``seat``.

    ``base`` is a packed position with the cards that ``seat`` sees. ``numbers[i]`` is the kernel's number of item i, or
    255 if it has been played; ``targets[p]`` says what place p is: 0..3 the hand of that seat, 16 + j the stock's card
    j from the top, 255 out of the deal. ``worlds[k, i]`` is the place of item i. ``actions`` are (kind, arg, seat) in
    the kernel's numbers. Exact search takes over where no more than ``tricks`` tricks are left. ``equity`` is square,
    as :func:`arrastre.guinote.equity.vueltas_equity` makes it. Rows that a stop or ``seconds`` (0: no limit) cut off
    are NaN. Returns the number of positions searched.

    ``detail[world, action]``, if given, is filled with what the deal brings from there to its end: points from
    declarations for the side and for the other, points from tricks, capote included, for each, and tricks for each.
    """
    cdef Py_ssize_t items = len(numbers), places = len(targets), k, i, number = len(actions)
    cdef const uint8_t* item = <const uint8_t*> PyBytes_AS_STRING(numbers)
    cdef const uint8_t* target = <const uint8_t*> PyBytes_AS_STRING(targets)
    cdef Found found[64]
    cdef Setup setup
    cdef Setup root
    cdef Tools tools
    cdef bint sound = True
    cdef int side = seat & 1
    if PyBytes_GET_SIZE(base) != sizeof(Setup):
        raise ValueError("the position was not made by pack")
    memcpy(&setup, PyBytes_AS_STRING(base), sizeof(Setup))
    if worlds.shape[1] != items or out.shape[0] != worlds.shape[0] or out.shape[1] != number or number > 64:
        raise ValueError("worlds, items, actions and values do not fit each other")
    if equity.shape[0] != equity.shape[1] or not equity.shape[0]:
        raise ValueError("the equity table is not square")
    for i in range(items):
        if item[i] != UNSEEN and not item[i] < 64:
            raise ValueError("no such card")
    for i in range(places):
        if target[i] == UNSEEN:
            continue
        if not (target[i] < setup.rules.players or LANE <= target[i] < LANE + setup.stock_count):
            raise ValueError("no such place")
    for i, (kind, arg, actor) in enumerate(actions):
        put_down(&found[i], kind, arg, actor)
    tools.view = view
    tools.tricks = tricks
    tools.objective = objective
    tools.equity = <double*> &equity[0, 0]
    tools.totals = <int> equity.shape[0]
    tools.detailed = detail is not None
    if tools.detailed and (
        detail.shape[0] != out.shape[0] or detail.shape[1] != out.shape[1] or detail.shape[2] != DETAILS
    ):
        raise ValueError("details do not fit the values")
    tools.coupled = True
    for i in range(setup.stock_count - 1):
        tools.coupled = tools.coupled and setup.stock[i] == UNSEEN
    context.clock.nodes = 0
    context.clock.node_limit = ~<uint64_t> 0
    context.clock.next_check = 1
    context.clock.deadline = now() + seconds if seconds else 0.0
    context.clock.expired = context.clock.stop.load() != 0
    with nogil:
        for k in range(worlds.shape[0]):
            memcpy(&root, &setup, sizeof(Setup))
            for i in range(items):
                sound = sound and worlds[k, i] < places
            if not (sound and fill(&root, item, target, &worlds[k, 0] if items else NULL, items)):
                sound = False
                break
            context.table.age += 1
            set_up(&tools.ready, &root, GAME, context)
            for i in range(number):
                if context.clock.stop.load() or context.clock.deadline and now() >= context.clock.deadline:
                    context.clock.expired = True
                if context.clock.expired:
                    break
                out[k, i] = value_of(&tools, &root, &found[i], side, context)
                if tools.detailed:
                    describe(&tools.w, &root, side, &detail[k, i, 0])
            if context.clock.expired:
                for i in range(number):
                    out[k, i] = NAN
    if not sound:
        raise ValueError("a world does not complete the position")
    return context.clock.nodes


cdef void describe(Walk* w, Setup* root, int side, int16_t* out) noexcept nogil:
    # What a walk that has come to its end brought.
    cdef int each, who
    for each in range(2):
        who = side ^ each
        out[each] = <int16_t> w.cantes[who]
        out[2 + each] = <int16_t> (w.s.total[who] - root.carried[who] - root.points[who] - w.cantes[who])
        out[4 + each] = <int16_t> w.tricks[who]


def play_out(
    list setups, tuple styles, int tricks, uint64_t seed, Context context, int16_t[:, ::1] out,
    int16_t[:, :, ::1] gains=None,
):
    """Play whole deals, each from a packed position with every card known, whoever wins the game on the way.

    ``styles`` are the players of side 0 and of side 1: 0 the policy, 1 *greedy*, which plays the highest card if it
    takes the trick and otherwise the one of the fewest points, 2 *random*; all declare by the policy. Exact search
    under ``points`` plays for everybody where no more than ``tricks`` tricks are left, 0: nowhere. Draws are in
    the stock's order. ``out[deal]`` becomes the final points of side 0 and side 1, points from declarations of each,
    tricks of each from the position on, and the seat that won the last trick.

    ``gains[deal]``, if given, becomes all that brought points, in order: (kind, side, points), the kinds as in
    playout.pxd; a tute that wins the game, and a capote that does or scores nothing, have no points. What is left over
    is 0.
    """
    cdef Py_ssize_t k, number = len(setups)
    cdef Setup root
    cdef Setup at
    cdef Tools tools
    cdef Walk* w = &tools.w
    cdef int side
    cdef bytes setup
    cdef int style[2]
    style[0], style[1] = styles
    if out.shape[0] != number or out.shape[1] != 7:
        raise ValueError("there are 7 numbers to a deal")
    if gains is not None and (gains.shape[0] != number or gains.shape[1] != GAINS or gains.shape[2] != 3):
        raise ValueError("there are 32 gains of 3 numbers to a deal")
    context.clock.nodes = 0
    context.clock.node_limit = ~<uint64_t> 0
    context.clock.next_check = 1
    context.clock.deadline = 0.0
    context.clock.expired = context.clock.stop.load() != 0
    for k in range(number):
        setup = setups[k]
        if PyBytes_GET_SIZE(setup) != sizeof(Setup):
            raise ValueError("a position was not made by pack")
        memcpy(&root, PyBytes_AS_STRING(setup), sizeof(Setup))
        with nogil:
            context.table.age += 1
            set_up(&tools.ready, &root, GAME, context)
            begin(w, &tools.ready, &root, False, False)
            w.styles[0] = style[0]
            w.styles[1] = style[1]
            if gains is not None:
                memset(&gains[k, 0, 0], 0, GAINS * 3 * sizeof(int16_t))
                w.log = &gains[k, 0, 0]
            w.random = fold(seed ^ <uint64_t> 0x9E3779B97F4A7C15, <uint64_t> k ^ <uint64_t> 0xD1B54A32D192ED03)
            walk(w, tricks)
            if not w.over:
                freeze(w, &root, &at)
                follow_line(w, &at, NULL, False, &tools.e, &tools.listed, context)
            for side in range(2):
                out[k, side] = <int16_t> (w.s.total[side] - root.carried[side])
                out[k, 2 + side] = <int16_t> w.cantes[side]
                out[k, 4 + side] = <int16_t> w.tricks[side]
            out[k, 6] = <int16_t> w.leader


def policy(bytes position, int seat):
    """What the policy does for ``seat`` in a packed position with every card known: (kind, arg, seat).

    It is a pass where nothing is due from the seat, or nothing that the policy would do. Where the cards lie that the
    seat does not see makes no difference.
    """
    cdef Setup root
    cdef State s
    cdef Walk w
    cdef Found action
    cdef Context context = Context(1)
    if PyBytes_GET_SIZE(position) != sizeof(Setup):
        raise ValueError("the position was not made by pack")
    memcpy(&root, PyBytes_AS_STRING(position), sizeof(Setup))
    set_up(&s, &root, GAME, context)
    begin(&w, &s, &root, False, False)
    w.excused = ~(1 << seat)
    decide(&w, w.trick.seat != seat, &action)
    return action.kind, action.arg, seat
