# The best card of the last two tricks over all worlds at once. The design is in vector.pxd; read that first.

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from libc.stdint cimport int8_t, int16_t, uint8_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset

from arrastre.guinote.kernel cimport (
    CANTE, CARD, GAME, INFINITE, MAX_PLAYERS, PASS, PLAY, Context, Setup, State, Trick, cante_points, complete,
    deal_out, has_won, legal_cards, may_still_sing, put_down, read_table, set_up,
)
from arrastre.search.cardset cimport bit, count, highest, lowest

import numpy as np

cdef enum:
    CAPOTE = 100
    PAIR = 3 << 6           # rey and mate in lane 0
    PLAYED = 255            # the number of an item that has been played


# ---- one world -----------------------------------------------------------------------------------------------------

cdef void lay(Desk* desk, World* world) noexcept nogil:
    # The hands of a world, and what own side has sung in it.
    memcpy(desk.s.hand, world.hand, sizeof(world.hand))
    desk.s.unsung = 0
    desk.gain = world.gain
    desk.over = world.over
    desk.s.total[desk.seat & 1] = desk.total + world.gain


cdef int sing(Desk* desk, World* world, int seat, int singers) noexcept nogil:
    # The lane of the cante that `seat`, which has two cards, may sing now, or NO_CANTE.
    cdef State* s = &desk.s
    cdef int lane
    lay(desk, world)
    if not may_still_sing(s, seat, desk.root.leader, singers):
        return NO_CANTE
    s.unsung = desk.root.unsung
    deal_out(s)
    for lane in range(4):
        if s.unsung >> lane & 1 and s.hand[seat] == <uint64_t> PAIR << (lane * 16):
            return lane
    return NO_CANTE


cdef void credit(Desk* desk, World* world, int lane) noexcept nogil:
    # Own side sings `lane` in this world.
    world.gain += <int16_t> cante_points(lane)
    lay(desk, world)
    if desk.s.game and has_won(&desk.s, desk.seat & 1, False):
        world.over = 1


cdef double settle(Desk* desk, Trick* trick) noexcept nogil:
    # The outcome for own side once the trick on the table is complete: nobody has anything to choose any more.
    cdef State* s = &desk.s
    cdef int value, margin, together, own, rivals, side = desk.seat & 1
    cdef bint mine = not (trick.winner ^ desk.seat) & 1
    if desk.over:
        return 1.0
    value = complete(s, trick.winner, trick.winner, trick.points, -INFINITE, INFINITE)
    if not mine:
        value = -value
    if not s.game:
        return desk.offset + desk.gain + value
    if value:
        return 1.0 if value > 0 else 0.0
    # Nobody wins the game in this deal. The margin and the sum of what is left make the totals; a margin above the sum
    # can only be a capote's.
    s.game = False
    margin = complete(s, trick.winner, trick.winner, trick.points, -INFINITE, INFINITE)
    s.game = True
    if not mine:
        margin = -margin
    together = s.left
    if margin > together or -margin > together:
        together += CAPOTE
    own = s.total[side] + (together + margin) // 2
    rivals = s.total[side ^ 1] + (together - margin) // 2
    return desk.equity[min(own, desk.equity_own - 1) * desk.equity_rivals + min(rivals, desk.equity_rivals - 1)]


cdef double play(Desk* desk, Trick* trick, int card) noexcept nogil:
    # The outcome for own side after `card` is played next, if own side has no choice from here on: the least that the
    # rivals can bring about.
    cdef State* s = &desk.s
    cdef Trick after = trick[0]
    cdef int seat = trick.seat
    cdef uint64_t cards
    cdef double value, least
    s.hand[seat] ^= bit(card)
    put_down(s, &after, card)
    if after.count == MAX_PLAYERS:
        least = settle(desk, &after)
    else:
        cards = legal_cards(s, &after)
        least = play(desk, &after, lowest(cards))
        cards &= cards - 1
        while cards:
            value = play(desk, &after, lowest(cards))
            if value < least:
                least = value
            cards &= cards - 1
    s.hand[seat] ^= bit(card)
    return least


cdef uint64_t look(Desk* desk, Trick* trick, Branch* out) noexcept nogil:
    # What the world on the table comes to: a rival plays next, then own side replies, then no choice is left to it.
    # Returns the rival's cards that leave own side a choice.
    cdef State* s = &desk.s
    cdef Trick after
    cdef int seat = trick.seat, card, i = 0
    cdef uint64_t cards = legal_cards(s, trick), replies, either = 0
    while cards:
        card = lowest(cards)
        cards &= cards - 1
        after = trick[0]
        s.hand[seat] ^= bit(card)
        put_down(s, &after, card)
        replies = legal_cards(s, &after)
        out.card[i] = card
        out.value[i][0] = out.value[i][1] = play(desk, &after, lowest(replies))
        if replies & (replies - 1):
            out.value[i][1] = play(desk, &after, highest(replies))
            either |= bit(card)
        s.hand[seat] ^= bit(card)
        i += 1
    out.count = i
    return either


cdef inline double least_of(Branch* branch, uint64_t way) noexcept nogil:
    # The outcome when own side replies with the higher card to the cards in `way` and with the lower to all others.
    cdef double one = branch.value[0][way >> branch.card[0] & 1], other
    if branch.count == 1:
        return one
    other = branch.value[1][way >> branch.card[1] & 1]
    return other if other < one else one


# ---- all worlds ----------------------------------------------------------------------------------------------------

cdef void lead_up(Desk* desk, Trick* trick, int card, int heard, double* out, double* total) noexcept nogil:
    # The root plays `card`, with its partner still to choose, in the worlds in which it has heard `heard`; their
    # outcomes under the best strategy in `out`, the sum in `total`.
    cdef State* s = &desk.s
    cdef Trick after = trick[0]
    cdef int partner = desk.seat ^ 2
    cdef uint64_t hand, either, way, best_way
    cdef double value, best
    cdef Py_ssize_t first, w
    memset(desk.taken, 0, desk.count)
    total[0] = 0.0
    put_down(s, &after, card)
    for first in range(desk.count):
        if desk.taken[first] or desk.worlds[first].heard != heard:
            continue
        # Worlds with one hand of the partner.
        hand = desk.worlds[first].hand[partner]
        either = 0
        for w in range(first, desk.count):
            if desk.worlds[w].hand[partner] == hand and desk.worlds[w].heard == heard:
                desk.taken[w] = 1
                lay(desk, &desk.worlds[w])
                s.hand[desk.seat] ^= bit(card)
                either |= look(desk, &after, &desk.branches[w])
        best = best_way = way = 0
        while True:
            value = 0.0
            for w in range(first, desk.count):
                if desk.worlds[w].hand[partner] == hand and desk.worlds[w].heard == heard:
                    value += least_of(&desk.branches[w], way)
            if not way or value > best:
                best = value
                best_way = way
            way = (way - either) & either       # the next subset
            if not way:
                break
        total[0] += best
        for w in range(first, desk.count):
            if desk.worlds[w].hand[partner] == hand and desk.worlds[w].heard == heard:
                out[w] = least_of(&desk.branches[w], best_way)


cdef void choose_lead(Desk* desk, Trick* trick, int heard, double* out) noexcept nogil:
    # The root leads either of its cards in the worlds in which it has heard `heard`.
    cdef uint64_t hand = desk.root.hand[desk.seat]
    cdef double one, other
    cdef Py_ssize_t w
    lead_up(desk, trick, lowest(hand), heard, out, &one)
    lead_up(desk, trick, highest(hand), heard, desk.trial, &other)
    if other > one:
        for w in range(desk.count):
            if desk.worlds[w].heard == heard:
                out[w] = desk.trial[w]


cdef inline int place_of(int* list, int size, int item) noexcept nogil:
    cdef int i
    for i in range(size):
        if list[i] == item:
            return i
    return -1


cdef void team(Desk* desk, Trick* trick, int heard, double* out) noexcept nogil:
    # The root's partner leads either of its cards and the root plays third, in the worlds in which the root has heard
    # `heard`.
    cdef State* s = &desk.s
    cdef Trick after
    cdef int leader = desk.root.leader
    cdef int hands = 0, leads = 0, h, d, k, i, part, card, way, ways, taken, order, best_order, changed
    cdef uint64_t hand[MOST_HANDS]
    cdef int lead_card[MOST_LEADS]              # the cards d
    cdef uint64_t either[MOST_LEADS]              # the rival's cards that leave the root a choice
    cdef int sharing[MOST_LEADS]                # how many hands hold d
    cdef int lead_of[MOST_HANDS][2]             # which d a hand's lower and higher card are
    cdef int bit_of[MOST_HANDS][2]              # and the hand's bit among those that hold d
    cdef double yields[MOST_HANDS][2][MOST_WAYS]
    cdef uint64_t spread[MOST_LEADS][MOST_WAYS]         # a way's number to the rival's cards in it
    cdef double most[MOST_LEADS][1 << MOST_SHARING]     # by the set of hands that lead d
    cdef int way_of[MOST_LEADS][1 << MOST_SHARING]
    cdef int leading[MOST_LEADS]
    cdef int places[MOST_LEADS][MOST_SHARING]
    cdef double value, best
    cdef uint64_t subset
    cdef Py_ssize_t w
    # 1. The hands, the cards they may lead, and what each world then comes to.
    for w in range(desk.count):
        if desk.worlds[w].heard != heard:
            continue
        h = 0
        while h < hands and hand[h] != desk.worlds[w].hand[leader]:
            h += 1
        if h == hands:
            hands += 1
            hand[h] = desk.worlds[w].hand[leader]
            for part in range(2):
                card = highest(hand[h]) if part else lowest(hand[h])
                d = place_of(lead_card, leads, card)
                if d < 0:
                    d = leads
                    leads += 1
                    lead_card[d] = card
                    either[d] = 0
                    sharing[d] = 0
                lead_of[h][part] = d
                bit_of[h][part] = sharing[d]
                places[d][sharing[d]] = 2 * h + part
                sharing[d] += 1
        for part in range(2):
            d = lead_of[h][part]
            lay(desk, &desk.worlds[w])
            after = trick[0]
            s.hand[leader] ^= bit(lead_card[d])
            put_down(s, &after, lead_card[d])
            either[d] |= look(desk, &after, &desk.branches[2 * w + part])
    # 2. What each hand yields by each of its leads under each way to reply.
    for d in range(leads):
        subset = 0
        way = 0
        while True:
            spread[d][way] = subset
            way += 1
            subset = (subset - either[d]) & either[d]
            if not subset:
                break
    memset(yields, 0, sizeof(yields))
    for w in range(desk.count):
        if desk.worlds[w].heard != heard:
            continue
        h = 0
        while hand[h] != desk.worlds[w].hand[leader]:
            h += 1
        for part in range(2):
            d = lead_of[h][part]
            for way in range(1 << count(either[d])):
                yields[h][part][way] += least_of(&desk.branches[2 * w + part], spread[d][way])
    # 3. The best way to reply to a lead, by the set of hands that make it.
    for d in range(leads):
        ways = 1 << count(either[d])
        for taken in range(1 << sharing[d]):
            best = 0.0
            way_of[d][taken] = 0
            for way in range(ways):
                value = 0.0
                for k in range(sharing[d]):
                    if taken >> k & 1:
                        i = places[d][k]
                        value += yields[i >> 1][i & 1][way]
                if not way or value > best:
                    best = value
                    way_of[d][taken] = way
            most[d][taken] = best
    # 4. The best way to lead: bit h says that hand h leads its higher card.
    best = 0.0
    best_order = 0
    memset(leading, 0, sizeof(leading))
    for h in range(hands):
        leading[lead_of[h][0]] |= 1 << bit_of[h][0]
    for order in range(1 << hands):
        changed = order ^ (order - 1) if order else 0
        h = 0
        while changed:
            leading[lead_of[h][0]] ^= 1 << bit_of[h][0]
            leading[lead_of[h][1]] ^= 1 << bit_of[h][1]
            changed >>= 1
            h += 1
        value = 0.0
        for d in range(leads):
            value += most[d][leading[d]]
        if not order or value > best:
            best = value
            best_order = order
    # 5. What that makes in each world.
    memset(leading, 0, sizeof(leading))
    for h in range(hands):
        part = best_order >> h & 1
        leading[lead_of[h][part]] |= 1 << bit_of[h][part]
    for w in range(desk.count):
        if desk.worlds[w].heard != heard:
            continue
        h = 0
        while hand[h] != desk.worlds[w].hand[leader]:
            h += 1
        part = best_order >> h & 1
        d = lead_of[h][part]
        out[w] = least_of(&desk.branches[2 * w + part], spread[d][way_of[d][leading[d]]])


cdef void value_action(Desk* desk, int kind, int arg, double* out) noexcept nogil:
    # The outcome in each world of the best strategy that begins with an action of the root, which is legal.
    cdef State* s = &desk.s
    cdef Trick trick = read_table(s, &desk.root)
    cdef int seat = desk.seat, leader = desk.root.leader, singers = desk.root.singers, partner = seat ^ 2, lane
    cdef bint lone = count(desk.root.hand[seat]) == 1
    cdef World* world
    cdef double total
    cdef Py_ssize_t w
    for w in range(desk.count):
        world = &desk.worlds[w]
        world.gain = 0
        world.over = 0
        world.heard = NO_CANTE
        if kind == CARD:
            if not trick.count and not lone and s.rules.cante_after_lead:
                lane = sing(desk, world, partner, singers)
                if lane != NO_CANTE:
                    credit(desk, world, lane)
            continue
        if kind == CANTE:
            credit(desk, world, arg)
        if not lone:
            lane = sing(desk, world, partner, singers | (1 << seat if kind == CANTE else 0))
            if lane != NO_CANTE and not world.over:
                credit(desk, world, lane)
                world.heard = <int8_t> lane
    if kind == CARD and not lone and trick.count < 2:
        lead_up(desk, &trick, arg, NO_CANTE, out, &total)
    elif kind == CARD or lone:
        for w in range(desk.count):
            lay(desk, &desk.worlds[w])
            out[w] = play(desk, &trick, arg if kind == CARD else lowest(s.hand[leader]))
    else:
        for lane in range(NO_CANTE, 4):
            if seat == leader:
                choose_lead(desk, &trick, lane, out)
            else:
                team(desk, &trick, lane, out)


# ---- the Python side -----------------------------------------------------------------------------------------------

cdef const char* read_worlds(
    Desk* desk, const uint8_t[::1] numbers, const uint8_t[::1] targets, const uint8_t[:, ::1] worlds
) noexcept nogil:
    # Fill desk.worlds; what is wrong with them, or NULL.
    cdef Py_ssize_t w, i, items = numbers.shape[0]
    cdef int seat, place, target, cards = count(desk.root.hand[desk.seat])
    cdef uint64_t left = 0, all_of_it, each
    cdef World* world
    for w in range(desk.count):
        world = &desk.worlds[w]
        memcpy(world.hand, desk.root.hand, sizeof(world.hand))
        for i in range(items):
            if numbers[i] == PLAYED:
                continue
            if numbers[i] > 63 or worlds[w, i] >= targets.shape[0]:
                return "an item's number or place does not exist"
            target = targets[worlds[w, i]]
            if target >= MAX_PLAYERS:
                return "an item is in no hand"
            if (world.hand[0] | world.hand[1] | world.hand[2] | world.hand[3]) & bit(numbers[i]):
                return "a card is in two places"
            world.hand[target] |= bit(numbers[i])
        all_of_it = 0
        for place in range(MAX_PLAYERS):
            seat = (desk.root.leader + place) & (MAX_PLAYERS - 1)
            all_of_it |= world.hand[seat]
            # Whoever has played to the trick has a card less than the root before it acts.
            if count(world.hand[seat]) != cards - (place < desk.root.table_count):
                return "a hand has not the size that the trick on the table asks for"
        if w and all_of_it != left:
            return "worlds differ in which cards are left"
        left = all_of_it
        each = world.hand[desk.seat]
        if each != desk.root.hand[desk.seat]:
            return "the own hand is not the same in all worlds"
    return NULL


cdef bint allowed(Desk* desk, int kind, int arg) noexcept nogil:
    # Whether the root may do that now.
    cdef State* s = &desk.s
    cdef Trick trick = read_table(s, &desk.root)
    if kind == CARD:
        if arg < 0 or arg > 63 or trick.seat != desk.seat:
            return False
        lay(desk, &desk.worlds[0])
        return (legal_cards(s, &trick) & bit(arg)) != 0
    if trick.count or (desk.root.leader ^ desk.seat) & 1:
        return False
    if kind == PASS:
        return desk.seat != desk.root.leader
    return kind == CANTE and sing(desk, &desk.worlds[0], desk.seat, desk.root.singers) == arg


def vector_values(
    bytes base, const uint8_t[::1] numbers, const uint8_t[::1] targets, const uint8_t[:, ::1] worlds, actions,
    int seat, int objective, Context context, const double[:, ::1] equity=None,
):
    """What the actions of ``seat`` are worth in each world, float64 of shape (worlds, actions), for its side.

    Four players, no stock, one or two tricks to come, the one in progress included. ``base`` is a packed position with
    the cards that the seat knows, its own hand among them. Item i is card ``numbers[i]`` (255: played by now) and lies
    in world k in the hand of seat ``targets[worlds[k, i]]``. The worlds are all there are, each as likely as any other;
    they are never looked at apart from each other. ``actions`` are pairs of the kernel's kind and argument: a card,
    a cante, or a pass of the leader's partner before the lead.

    A column holds what one strategy, the best for all worlds together, brings in each of them, so that its mean is the
    action's value: final margins under points, under game 1 and 0 for the game won and lost and otherwise
    ``equity[own total, rivals' total]``, the totals capped at the array's edge. Between equally good strategies the
    first one found is taken, always the same. The context's stop is not looked at: there are milliseconds to wait.
    """
    cdef Py_ssize_t size = worlds.shape[0], number = len(actions), a, w
    cdef Desk* desk
    cdef const char* wrong = NULL
    cdef double* column
    cdef int kind, arg
    cdef bint fine = True
    if PyBytes_GET_SIZE(base) != sizeof(Setup):
        raise ValueError("a position was not made by pack")
    if worlds.shape[1] != numbers.shape[0]:
        raise ValueError("worlds and numbers differ in the number of items")
    if objective == GAME and (equity is None or not equity.shape[0] or not equity.shape[1]):
        raise ValueError("the objective game needs an equity array")
    values = np.empty((size, number))
    cdef double[:, ::1] out = values
    kinds = [(int(each[0]), int(each[1])) for each in actions]
    if not size or not number:
        return values
    desk = <Desk*> calloc(1, sizeof(Desk))
    if not desk:
        raise MemoryError("no memory for the worlds")
    try:
        memcpy(&desk.root, PyBytes_AS_STRING(base), sizeof(Setup))
        if desk.root.rules.players != MAX_PLAYERS or desk.root.stock_count or desk.root.moment != PLAY:
            raise ValueError("four players, no stock and no window but the lead's are asked for")
        if not 0 <= seat < MAX_PLAYERS or not 1 <= count(desk.root.hand[seat]) <= 2:
            raise ValueError("a seat with one or two cards is asked for")
        desk.seat = seat
        desk.count = size
        desk.worlds = <World*> calloc(size, sizeof(World))
        desk.branches = <Branch*> calloc(2 * size, sizeof(Branch))
        desk.trial = <double*> calloc(2 * size, sizeof(double))
        desk.taken = <uint8_t*> calloc(size, 1)
        if not desk.worlds or not desk.branches or not desk.trial or not desk.taken:
            raise MemoryError("no memory for the worlds")
        column = desk.trial + size
        if equity is not None:
            desk.equity = &equity[0, 0]
            desk.equity_own = <int> equity.shape[0]
            desk.equity_rivals = <int> equity.shape[1]
        with nogil:
            wrong = read_worlds(desk, numbers, targets, worlds)
        if wrong:
            raise ValueError(wrong.decode())
        # All that a state says besides the hands is the same in all worlds.
        memcpy(desk.root.hand, desk.worlds[0].hand, sizeof(desk.root.hand))
        set_up(&desk.s, &desk.root, objective, context)
        desk.total = desk.s.total[seat & 1]
        desk.offset = desk.root.points[seat & 1] - desk.root.points[(seat & 1) ^ 1]
        # No limit: too little happens to be worth one.
        context.clock.nodes = 0
        context.clock.next_check = ~<uint64_t> 0
        context.clock.expired = False
        for a in range(number):
            kind, arg = kinds[a]
            with nogil:
                fine = allowed(desk, kind, arg)
                if fine:
                    value_action(desk, kind, arg, column)
                    for w in range(size):
                        out[w, a] = column[w]
            if not fine:
                raise ValueError("an action is not legal here")
    finally:
        free(desk.worlds)
        free(desk.branches)
        free(desk.trial)
        free(desk.taken)
        free(desk)
    return values
