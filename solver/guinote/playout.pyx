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
    MAX_STOCK,
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
    QUARTER = 4             # costs are in quarters of a point

    TEMPO = 3               # points that winning a trick is worth beside those in it
    SWAP = 6                # ... and if it opens the exchange
    PAIR_BOTH = 10          # quarters of a point for each ten points of a cante whose cards are both held
    PAIR_ONE = 3            # ... of which one is held and the other is out


cdef int[16] WORTH = [0, 0, 0, 0, 0, 2, 3, 4, 10, 11, 0, 0, 0, 0, 0, 0]

# What playing a card costs, by rank: in trumps and in other suits.
cdef int[2][16] COST_DRAW = [
    [24, 25, 26, 27, 30, 34, 36, 40, 52, 70, 0, 0, 0, 0, 0, 0],
    [0, 1, 2, 3, 4, 6, 7, 8, 20, 28, 0, 0, 0, 0, 0, 0],
]
cdef int[2][16] COST_STRICT = [
    [16, 17, 18, 19, 20, 22, 23, 24, 36, 48, 0, 0, 0, 0, 0, 0],
    [0, 1, 2, 3, 4, 4, 5, 6, 12, 16, 0, 0, 0, 0, 0, 0],
]


# ---- the policy ----------------------------------------------------------------------------------------------------

cdef inline bint takes(int card, int win) noexcept nogil:
    return card > win if card >> 4 == win >> 4 else card < LANE


cdef inline int survival(View* v, int lane, int win, int points, int hands) noexcept nogil:
    # The chance, in ONE, that none of so many hands holds and plays a card that beats `win`.
    cdef int size = 4 * count(v.out), beaters, trumps, i, p = ONE, draws = hands * count(v.hand)
    if not size:
        return ONE
    beaters = 4 * count(v.out & lane_mask(win >> 4) & ~<uint64_t> 1 << win)
    if win >= LANE:
        trumps = count(v.out & lane_mask(0))
        if v.strict:
            # They may only come from a hand that is void in the suit led.
            trumps *= 1 if v.out & lane_mask(lane) else 4
        elif points < 4:
            trumps *= 1
        elif points < 10:
            trumps *= 2
        else:
            trumps *= 4
        beaters += trumps
    for i in range(draws):
        if beaters >= size:
            return 0
        p = p * (size - beaters) // size
        size -= 4
        if size <= 0:
            break
    return p


cdef inline int cost(View* v, int card) noexcept nogil:
    # Quarters of a point that playing a card gives up.
    cdef int lane = card >> 4, rank = card & 15, price
    cdef uint64_t pair
    price = COST_DRAW[lane > 0][rank] if v.drawing else COST_STRICT[lane > 0][rank]
    if v.sings and v.unsung >> lane & 1:
        pair = PAIR_OF_TRUMPS << (lane * LANE)
        if pair & bit(card):
            if v.hand & pair == pair:
                price += PAIR_BOTH * (2 if lane else 4)
            elif v.out & pair and v.drawing:
                price += PAIR_ONE * (2 if lane else 4)
    return price


cdef inline int pending(View* v) noexcept nogil:
    # Points that winning the trick may open.
    cdef int lane, gain = 0
    cdef uint64_t pair
    if v.swap & v.hand:
        gain += SWAP
    if v.sings:
        for lane in range(4):
            pair = PAIR_OF_TRUMPS << (lane * LANE)
            if v.unsung >> lane & 1 and v.hand & pair == pair:
                gain += (CANTE_PLAIN if lane else CANTE_TRUMP) // 4
    return gain


cdef int choose(View* v) noexcept nogil:
    cdef uint64_t rest = v.legal
    cdef int card, best = -1, score, highest_score = 0, win, lane, points, p, later, bonus
    cdef bint ours
    later = v.players - v.count - 1
    bonus = TEMPO + pending(v)
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
            p = (ONE - survival(v, lane, win, points, later // 2)) * 3 // 4
        score = QUARTER * ((2 * p - ONE) * points + p * bonus) - ONE * cost(v, card)
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
    w.tricks[0] = w.tricks[1] = w.cantes[0] = w.cantes[1] = 0


cdef inline int draws_left(Walk* w) noexcept nogil:
    return (w.s.stock_count - w.s.stock_next) // w.s.rules.players


cdef inline uint64_t held(State* s) noexcept nogil:
    return s.hand[0] | s.hand[1] | s.hand[2] | s.hand[3]


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
    if s.stock_next == s.stock_count and not held(s):
        w.over = True
        s.total[side] += s.rules.last_trick
        if s.rules.malas_with_last:
            s.cards[side] += s.rules.last_trick
        if s.capote and s.rules.capote == SCORES_100:
            s.total[side] += CAPOTE_POINTS
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
    score(w, seat & 1, CANTE_PLAIN if lane else CANTE_TRUMP)


cdef void declare_tute(Walk* w, int seat) noexcept nogil:
    w.s.tute_open = 0
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
    v.swap = s.swap


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
    put_down(action, CARD, choose(&v), v.seat)


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


cdef void walk(Walk* w, int depth) noexcept nogil:
    # On by policy until `depth` draw tricks are left and no card is on the table.
    while not w.over:
        if not w.trick.count and (w.moment == PLAY or w.moment == RIVALS) and draws_left(w) <= depth:
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


cdef inline int acting(Setup* at) noexcept nogil:
    # The side whose turn it is.
    if at.moment == RIVALS or at.moment == BEFORE_DRAW_RIVALS:
        return at.leader & 1 ^ 1
    return (at.leader + at.table_count) & 1


# ---- values --------------------------------------------------------------------------------------------------------

cdef inline bint same_action(Found* a, Found* b) noexcept nogil:
    return a.kind == b.kind and a.arg == b.arg and a.seat == b.seat


cdef int exact_value(State* e, Setup* at, int objective, Context context) noexcept nogil:
    # What is still to come of a position, for the side to act.
    context.table.mask = table_mask(at, context.most)
    set_up(e, at, objective, context)
    return search(e, at, -INFINITE, INFINITE)


cdef int exact_action(
    State* e, Result* listed, Setup* at, Found* action, int objective, Context context
) noexcept nogil:
    # The same once `action` is taken. A pass is worth the best that the side may do without the seat that passes.
    cdef int i, value, best = -INFINITE
    cdef Found* other
    context.table.mask = table_mask(at, context.most)
    set_up(e, at, objective, context)
    list_actions(e, at, listed)
    for i in range(listed.count):
        other = &listed.action[i]
        if action.kind != PASS:
            if same_action(action, other):
                return try_action(e, at, other, -INFINITE, INFINITE)
        elif other.kind == PASS or other.seat != action.seat:
            value = try_action(e, at, other, best, INFINITE)
            if value > best:
                best = value
    # A tute that wins means nothing under `points`.
    return best if best > -INFINITE else search(e, at, -INFINITE, INFINITE)


cdef double value_of(
    Walk* w, State* ready, State* e, Result* listed, Setup* root, Found* action, int side, int view, int depth,
    bint coupled, int objective, Context context,
) noexcept nogil:
    # The value of an action for `side`; `ready` was set up for `root` under `game`.
    cdef Setup at
    cdef int value
    cdef bint exact = root.stock_count // root.rules.players <= depth
    cdef bint leads = action.kind == CARD and not root.table_count and root.rules.players == 4
    if exact and (view == CLAIRVOYANT or not leads):
        value = exact_action(e, listed, root, action, objective, context)
        return root.points[side] - root.points[side ^ 1] + value
    begin(w, ready, root, coupled, objective == GAME)
    if view == INFORMED and leads:
        partner_declares(w)
        if exact and not w.over:
            freeze(w, root, &at)
            value = exact_action(e, listed, &at, action, objective, context)
            return at.points[side] - at.points[side ^ 1] + value
    if not w.over:
        set_out(w, action)
    walk(w, depth)
    value = w.s.total[side] - root.carried[side] - w.s.total[side ^ 1] + root.carried[side ^ 1]
    if not w.over:
        freeze(w, root, &at)
        if acting(&at) == side:
            value += exact_value(e, &at, objective, context)
        else:
            value -= exact_value(e, &at, objective, context)
    return value


# ---- the Python side -----------------------------------------------------------------------------------------------

cdef bint complete(
    Setup* root, const uint8_t* numbers, const uint8_t* targets, const uint8_t* places, Py_ssize_t items
) noexcept nogil:
    # Fill a position's gaps; False if that leaves it unsound.
    cdef Py_ssize_t i
    cdef int target, seat, size, players = root.rules.players
    for i in range(items):
        if numbers[i] == UNSEEN:
            continue
        target = targets[places[i]]
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
    int depth, int objective, Context context, double seconds, double[:, ::1] out,
):
    """Fill ``out[world, action]`` with what each action is worth in each world, for the side of ``seat``.

    ``base`` is a packed position with the cards that ``seat`` sees. ``numbers[i]`` is the kernel's number of item i, or
    255 if it has been played; ``targets[p]`` says what place p is: 0..3 the hand of that seat, 16 + j the stock's card
    j from the top. ``worlds[k, i]`` is the place of item i. ``actions`` are (kind, arg, seat) in the kernel's numbers.
    Exact search takes over where no more than ``depth`` draw tricks are left. Rows that a stop or ``seconds`` (0: no
    limit) cut off are NaN. Returns the number of positions searched.
    """
    cdef Py_ssize_t items = len(numbers), places = len(targets), k, i, number = len(actions)
    cdef const uint8_t* item = <const uint8_t*> PyBytes_AS_STRING(numbers)
    cdef const uint8_t* target = <const uint8_t*> PyBytes_AS_STRING(targets)
    cdef Found found[64]
    cdef Setup setup
    cdef Setup root
    cdef Walk w
    cdef State ready
    cdef State e
    cdef Result listed
    cdef bint coupled = True, sound = True
    cdef double deadline = now() + seconds if seconds else 0.0
    if PyBytes_GET_SIZE(base) != sizeof(Setup):
        raise ValueError("the position was not made by pack")
    memcpy(&setup, PyBytes_AS_STRING(base), sizeof(Setup))
    if worlds.shape[1] != items or out.shape[0] != worlds.shape[0] or out.shape[1] != number or number > 64:
        raise ValueError("worlds, items, actions and values do not fit each other")
    for i in range(items):
        if item[i] != UNSEEN and not item[i] < 64:
            raise ValueError("no such card")
    for i in range(places):
        if not (target[i] < setup.rules.players or LANE <= target[i] < LANE + setup.stock_count):
            raise ValueError("no such place")
    for i, (kind, arg, actor) in enumerate(actions):
        found[i].kind = kind
        found[i].arg = arg
        found[i].seat = actor
    for i in range(setup.stock_count - 1):
        coupled = coupled and setup.stock[i] == UNSEEN
    context.clock.nodes = 0
    context.clock.node_limit = ~<uint64_t> 0
    context.clock.next_check = 1
    context.clock.deadline = deadline
    context.clock.expired = context.clock.stop.load() != 0
    with nogil:
        for k in range(worlds.shape[0]):
            for i in range(items):
                if worlds[k, i] >= places:
                    sound = False
            if not sound:
                break
            memcpy(&root, &setup, sizeof(Setup))
            sound = complete(&root, item, target, &worlds[k, 0] if items else NULL, items)
            if not sound:
                break
            context.table.age += 1
            set_up(&ready, &root, GAME, context)
            for i in range(number):
                if context.clock.stop.load() or deadline and now() >= deadline:
                    context.clock.expired = True
                if context.clock.expired:
                    break
                out[k, i] = value_of(
                    &w, &ready, &e, &listed, &root, &found[i], seat & 1, view, depth, coupled, objective, context
                )
            if context.clock.expired:
                for i in range(number):
                    out[k, i] = NAN
    if not sound:
        raise ValueError("a world does not complete the position")
    return context.clock.nodes


def policy(bytes position, int seat, Context context):
    """What the policy does for ``seat`` in a packed position with every card known: (kind, arg, seat).

    It is a pass where nothing is due from the seat, or nothing that the policy would do. Where the cards lie that the
    seat does not see makes no difference.
    """
    cdef Setup root
    cdef State s
    cdef Walk w
    cdef Found action
    if PyBytes_GET_SIZE(position) != sizeof(Setup):
        raise ValueError("the position was not made by pack")
    memcpy(&root, PyBytes_AS_STRING(position), sizeof(Setup))
    set_up(&s, &root, GAME, context)
    begin(&w, &s, &root, False, False)
    w.excused = ~(1 << seat)
    decide(&w, w.trick.seat != seat, &action)
    return action.kind, action.arg, seat
