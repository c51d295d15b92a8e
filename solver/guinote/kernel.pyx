# Exact search of a Guiñote position with every card known. The design is in kernel.pxd; read that first.

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset

from arrastre.search.cardset cimport bit, count, highest, lane_mask, lowest, strongest_of_runs, with_neighbour_below
from arrastre.search.clock cimport CHECK_EVERY, Clock, now
from arrastre.search.table cimport BUCKET, NO_MOVE, Entry, Hash, find, fold, give_back, hash_words, store, zeroes


cdef extern from *:
    """
    /* Known to the compiler, so that masks are part of the instructions and not loaded. */
    static const uint64_t ARRASTRE_TRUMPS = 0xFFFF;
    static const uint64_t ARRASTRE_ZEROES = 0x001F001F001F001F;
    static const uint64_t ARRASTRE_PAIR = 0x00C0;
    static const uint64_t ARRASTRE_PAIRS = 0x00C000C000C000C0;
    static const uint64_t ARRASTRE_REYES = 0x0080008000800080;
    static const uint64_t ARRASTRE_MATES = 0x0040004000400040;
    static const uint64_t ARRASTRE_ASES = 0x0200020002000200;
    static const uint64_t ARRASTRE_OTHERS = 0x0020002000200020;
    static const uint64_t ARRASTRE_HIGH = 0x0300030003000300;
    """
    const uint64_t TRUMPS "ARRASTRE_TRUMPS"
    const uint64_t ZEROES "ARRASTRE_ZEROES"         # 2 4 5 6 7 of every suit: worth nothing
    const uint64_t PAIR "ARRASTRE_PAIR"             # rey and mate in lane 0
    const uint64_t PAIRS "ARRASTRE_PAIRS"
    const uint64_t REYES "ARRASTRE_REYES"
    const uint64_t MATES "ARRASTRE_MATES"
    const uint64_t ASES "ARRASTRE_ASES"
    const uint64_t OTHERS "ARRASTRE_OTHERS"         # the figures worth 2
    const uint64_t HIGH "ARRASTRE_HIGH"             # as and tres of every suit


cdef enum:
    SEVEN = 4
    TWO = 0
    CANTE_TRUMP = 40
    CANTE_PLAIN = 20
    TUTE_WORTH = 40
    CAPOTE = 100

    # Of a large table: what counts as the end of a deal, and the size of the part that is kept for these.
    NEAR_CARDS = 3
    NEAR_BITS = 12

    REPLY_LEAD = 128
    REPLY_FOLLOW = 64
    REPLY_DRAW = 200
    FIRST = 1 << 24         # above any score of a choice; times 64 it still fits an int

cdef int[LANE_CARDS] WORTH = [0, 0, 0, 0, 0, 2, 3, 4, 10, 11, 0, 0, 0, 0, 0, 0]

# RELATIVE[p][m]: the bits of m that stand at the bits of p, closed up: what is left of a suit's worthless cards when
# only their order counts.
cdef uint8_t[32][32] RELATIVE


# LANE_WORTH[m], LANE_COUNT[m]: points and number of a set of one suit's cards.
cdef uint8_t[1024] LANE_WORTH
cdef uint8_t[1024] LANE_COUNT


cdef void fill_tables() noexcept nogil:
    cdef int p, m, i, n, r
    for p in range(32):
        for m in range(32):
            r = n = 0
            for i in range(5):
                if p >> i & 1:
                    r |= (m >> i & 1) << n
                    n += 1
            RELATIVE[p][m] = <uint8_t> r
    for m in range(1024):
        r = 0
        for i in range(10):
            if m >> i & 1:
                r += WORTH[i]
        LANE_WORTH[m] = <uint8_t> r
        LANE_COUNT[m] = <uint8_t> count(m)


fill_tables()


# BEATS[win]: the cards that take a trick from `win`, the led suit's while none of trumps was played.
cdef uint64_t[64] BEATS


cdef void fill_beats() noexcept nogil:
    cdef int win
    for win in range(64):
        BEATS[win] = lane_mask(win >> 4) & ~<uint64_t> 1 << win
        if win > 15:
            BEATS[win] = lane_mask(win >> 4) & (~<uint64_t> 1 << win) | TRUMPS


fill_beats()


# ---- small facts about a state -------------------------------------------------------------------------------------

cdef inline int worth(int card) noexcept nogil:
    return WORTH[card & (LANE_CARDS - 1)]


cdef inline uint64_t all_hands(State* s) noexcept nogil:
    return s.hand[0] | s.hand[1] | s.hand[2] | s.hand[3]


cdef inline bint beats(int card, int win) noexcept nogil:
    # Whether a card played later takes the trick from the one that is winning it.
    return BEATS[win] >> card & 1


cdef inline uint64_t above(int card) noexcept nogil:
    # Every bit above the card's own; mask with its lane.
    return ~<uint64_t> 1 << card


cdef inline int cante_worth(int lane) noexcept nogil:
    return CANTE_PLAIN if lane else CANTE_TRUMP


cdef inline int next_seat(State* s, int seat) noexcept nogil:
    return (seat + 1) & (s.rules.players - 1)


cdef inline bint strict(State* s) noexcept nogil:
    # Whether the trick that begins or is in progress binds: the stock does not change inside a trick.
    if s.rules.strict == STRICT_ARRASTRE:
        return s.stock_next == s.stock_count
    return s.rules.strict == STRICT_ALWAYS


cdef inline uint64_t legal(State* s, Trick* trick) noexcept nogil:
    # The cards that the next seat may play to a trick that has been led.
    cdef uint64_t hand = s.hand[trick.seat]
    cdef uint64_t same, better
    cdef int lane = trick.lane, win = trick.win
    if not strict(s):
        return hand
    same = hand & lane_mask(lane)
    cdef bint exempt = s.rules.partner_exempt and not (trick.winner ^ trick.seat) & 1
    if same:
        if exempt or s.rules.beat == BEAT_NO:
            return same
        if s.rules.beat == BEAT_LED_SUIT:
            better = same & above(highest(trick.table & lane_mask(lane)))
        elif win >> 4 == lane:
            better = same & above(win)
        else:
            return same
        return better if better else same
    same = hand & TRUMPS
    if exempt or not same:
        return hand
    if win > 15:
        return same
    better = same & above(win)
    if better:
        return better
    return same if s.rules.undertrump_forced else hand


cdef inline int still_together(State* s) noexcept nogil:
    # Of the cantes in s.unsung those whose rey and mate are in one hand: all that is left once nobody draws any more.
    cdef int seat, lane, lanes = 0, unsung = s.unsung
    cdef uint64_t pair
    while unsung:
        lane = lowest(unsung)
        unsung &= unsung - 1
        pair = PAIR << (lane * 16)
        for seat in range(s.rules.players):
            if s.hand[seat] & pair == pair:
                lanes |= 1 << lane
    return lanes


cdef inline bint makes_tute(State* s, uint64_t cards) noexcept nogil:
    # Four mates are a tute only where a tute wins the game.
    return cards & REYES == REYES or s.rules.tute == WINS and cards & MATES == MATES


cdef inline bint tute_in_reach(State* s) noexcept nogil:
    # Whether anybody may still come to hold four reyes or four mates.
    cdef int seat
    if not s.tute_open:
        return False
    if s.stock_next < s.stock_count:
        return makes_tute(s, all_hands(s) | s.in_stock)
    for seat in range(s.rules.players):
        if makes_tute(s, s.hand[seat]):
            return True
    return False


cdef inline uint64_t unmergeable(State* s) noexcept nogil:
    # Cards that mean more than their rank and points: they open a cante, a tute or the exchange.
    cdef uint64_t special = s.swap
    cdef int unsung = s.unsung
    while unsung:
        special |= PAIR << (lowest(unsung) * 16)
        unsung &= unsung - 1
    if s.tute_open:
        special |= REYES | MATES
    return special


# ---- the end of the game -------------------------------------------------------------------------------------------

cdef int judge(State* s, int last_winner) noexcept nogil:
    # The deal is over: 1 side 0 wins the game, -1 side 1 does, 0 neither. Capote points are in the totals already.
    cdef bint fails[2]
    cdef bint over[2]
    cdef int side
    for side in range(2):
        fails[side] = s.cards[side] < s.minimum
        over[side] = s.total[side] >= s.rules.target and not fails[side]
    if s.rules.malas_loses and fails[0] != fails[1]:
        return -1 if fails[0] else 1
    if over[0] and over[1]:
        if s.rules.both_over_higher:
            return (s.total[0] > s.total[1]) - (s.total[0] < s.total[1])
        return -1 if last_winner & 1 else 1
    return over[0] - over[1]


cdef inline bint wins_at_once(State* s, int side) noexcept nogil:
    return s.ends_at_once and s.total[side] >= s.rules.target and s.cards[side] >= s.minimum


cdef inline void bounds(State* s, int side, int* lower, int* upper) noexcept nogil:
    # What the rest of the deal can be worth to `side` at the least and at the most, from the points that are left.
    cdef int gain[2]
    cdef int unsung = s.unsung
    cdef int lane, each
    cdef uint64_t pair
    cdef bint wins[2]
    gain[0] = gain[1] = s.left
    while unsung:
        lane = lowest(unsung)
        unsung &= unsung - 1
        pair = PAIR << (lane * 16)
        for each in range(2):
            if s.in_stock or s.hand[each] & pair == pair or s.hand[each + 2] & pair == pair:
                gain[each] += cante_worth(lane)
    if s.tute_open and s.rules.tute == SCORES_40 and tute_in_reach(s):
        gain[0] += TUTE_WORTH
        gain[1] += TUTE_WORTH
    if s.rules.capote == SCORES_100:
        for each in range(2):
            if s.capote >> each & 1:
                gain[each] += CAPOTE
    if not s.game:
        lower[0] = -gain[side ^ 1]
        upper[0] = gain[side]
        return
    lower[0] = -1
    upper[0] = 1
    if s.rules.malas_loses and s.minimum or s.capote and s.rules.capote == WINS or s.tute_open and tute_in_reach(s):
        return
    for each in range(2):
        wins[each] = s.total[each] + gain[each] >= s.rules.target and s.cards[each] + s.left >= s.minimum
    if not wins[side]:
        upper[0] = 0
    if not wins[side ^ 1]:
        lower[0] = 0


cdef inline int sure_points(State* s, int side) noexcept nogil:
    # Points that `side` takes whatever happens, between tricks: those of its trumps that no other card can beat. A
    # partner's may fall in the same trick, but then both are still the side's.
    cdef uint64_t mine = (s.hand[side] | s.hand[side + 2]) & TRUMPS
    cdef uint64_t theirs = (s.hand[side ^ 1] | s.hand[(side ^ 1) + 2] | s.in_stock) & TRUMPS
    if theirs:
        mine &= above(highest(theirs))
    return LANE_WORTH[mine]


cdef inline int richest(uint64_t hand) noexcept nogil:
    # Points of the richest card of a hand.
    if hand & ASES:
        return 11
    if hand & HIGH:
        return 10
    if hand & REYES:
        return 4
    if hand & MATES:
        return 3
    return 2 if hand & OTHERS else 0


cdef inline bint draws_all_trumps(State* s, int leader, int leads) noexcept nogil:
    # Whether that many leads of trumps by `leader` leave nobody else with one, everybody having to follow suit.
    cdef int seat
    if s.rules.strict == STRICT_NEVER:
        return False
    for seat in range(s.rules.players):
        if seat != leader and LANE_COUNT[s.hand[seat] & TRUMPS] > leads:
            return False
    return True


cdef inline int cashable(State* s, int leader) noexcept nogil:
    # Points that the side of `leader` takes at least once the stock is gone, because the leader can lead cards that
    # nobody beats one after the other: the top trumps and, when nobody else has a trump then, all top cards.
    cdef uint64_t hand = s.hand[leader], others = all_hands(s) ^ hand, theirs, tops, rest
    cdef int lane, gain, seat
    theirs = others & TRUMPS
    tops = hand & TRUMPS
    if theirs:
        tops &= above(highest(theirs))
        if not tops:
            return 0
    gain = LANE_WORTH[tops]
    if not theirs or draws_all_trumps(s, leader, LANE_COUNT[tops]):
        tops = hand & TRUMPS
        gain = LANE_WORTH[tops]
        for lane in range(1, 4):
            rest = hand & lane_mask(lane)
            theirs = others & lane_mask(lane)
            if theirs:
                rest &= above(highest(theirs))
            tops |= rest
            gain += LANE_WORTH[rest >> lane * LANE_CARDS]
    rest = hand & ~tops
    if not rest:
        return s.left
    if rest & (rest - 1):
        return gain
    # All tricks but one: everybody keeps the richest card for it at best.
    gain = s.left - s.rules.last_trick - worth(lowest(rest))
    for seat in range(s.rules.players):
        if seat != leader:
            gain -= richest(s.hand[seat])
    return gain


# ---- hashing -------------------------------------------------------------------------------------------------------

cdef inline Hash hash_state(State* s, int leader) noexcept nogil:
    # The state with `leader` about to lead and nothing to declare any more. Owners are two bits a card beside one for
    # "still held". Worthless cards are closed up, so that only their order within the suit counts, those in the stock
    # included; trumps are not while one of them can be exchanged.
    cdef uint64_t held = all_hands(s), present = held | s.in_stock
    cdef uint64_t odd = s.hand[1] | s.hand[3]
    cdef uint64_t late = s.hand[2] | s.hand[3]
    cdef uint64_t extra = <uint64_t> leader
    cdef uint64_t score = 0
    cdef int lane, shift, p, side
    for lane in range(s.swap != 0, 4):
        shift = lane * LANE_CARDS
        p = <int> (present >> shift & 31)
        if p & (p + 1):
            held ^= <uint64_t> ((held >> shift & 31) ^ RELATIVE[p][held >> shift & 31]) << shift
            odd ^= <uint64_t> ((odd >> shift & 31) ^ RELATIVE[p][odd >> shift & 31]) << shift
            late ^= <uint64_t> ((late >> shift & 31) ^ RELATIVE[p][late >> shift & 31]) << shift
    if s.in_stock:
        extra |= <uint64_t> 1 << 8 | <uint64_t> s.won << 9 | <uint64_t> (s.swap != 0) << 11
        extra ^= s.stock_hash[s.stock_next] ^ fold(s.stock[s.stock_count - 1] + 1, <uint64_t> 0x5BE0CD19137E2179)
    extra ^= <uint64_t> s.unsung << 2
    if s.tute_open and tute_in_reach(s):
        extra ^= <uint64_t> 1 << 6
    if s.capote:
        extra ^= <uint64_t> s.capote << 12
    if s.game:
        for side in range(2):
            score = score << 16 | <uint64_t> s.total[side]
            score = score << 16 | <uint64_t> (s.cards[side] if s.minimum else 0)
        score = fold(score ^ <uint64_t> 0xD1B54A32D192ED03, <uint64_t> 0x9E3779B97F4A7C15)
    return hash_words(held, odd ^ s.signature, late ^ score, extra)


cdef inline uint64_t closed_up(uint64_t cards, uint64_t* moves) noexcept nogil:
    # Worthless cards moved down over the gaps that closing() found.
    cdef uint64_t step
    step = cards & moves[0]
    cards = cards ^ step | step >> 1
    step = cards & moves[1]
    cards = cards ^ step | step >> 2
    step = cards & moves[2]
    return cards ^ step | step >> 4


cdef inline Hash hash_ending(State* s, int leader) noexcept nogil:
    # hash_state() in the ending.
    cdef uint64_t held = all_hands(s), odd = s.hand[1] | s.hand[3], late = s.hand[2] | s.hand[3]
    cdef uint64_t moves[3]
    cdef uint64_t gaps = ~held & ZEROES, parity, present = held & ZEROES
    cdef int i
    gaps <<= 1
    for i in range(3):
        parity = gaps ^ gaps << 1
        parity ^= parity << 2
        parity ^= parity << 4
        moves[i] = parity & present
        present = present ^ moves[i] | moves[i] >> (1 << i)
        gaps &= ~parity
    held = closed_up(held, moves)
    odd = closed_up(odd, moves)
    late = closed_up(late, moves)
    return hash_words(held, odd ^ s.signature, late, leader)


# ---- play ----------------------------------------------------------------------------------------------------------

cdef inline bint can_beat(uint64_t hand, int lane, int win) noexcept nogil:
    # Whether a hand that follows the duties can take the trick from `win`.
    cdef uint64_t same = hand & lane_mask(lane)
    if same:
        return win >> 4 == lane and same >> win > 1
    same = hand & TRUMPS
    return same >> win > 1 if win < 16 else same != 0


cdef inline int expect(State* s, Trick* trick, int win, int winner, int points) noexcept nogil:
    # A guess at what a card is worth to the side of the seat that plays it next, for ordering: `win` by `winner` stands
    # then, and the seats still to come take the trick whenever they can, each from the other side.
    cdef int _i, seat = trick.seat
    cdef uint64_t same
    for _i in range(trick.count + 1, s.rules.players):
        seat = next_seat(s, seat)
        if (seat ^ winner) & 1 and can_beat(s.hand[seat], trick.lane, win):
            same = s.hand[seat] & lane_mask(trick.lane)
            win = highest(same if same else s.hand[seat] & TRUMPS)
            winner = seat
    return points if not (winner ^ trick.seat) & 1 else -points


cdef inline int promise(State* s, int leader, int card) noexcept nogil:
    # A guess at what leading `card` brings, for ordering: who takes the trick is guessed as in expect(), and all then
    # give the winner what they would.
    cdef int i, win = card, by = leader, seat, lane = card >> 4, points = worth(card) + 6
    cdef uint64_t same, hand
    for i in range(1, s.rules.players):
        seat = next_seat(s, leader + i - 1)
        if (seat ^ by) & 1 and can_beat(s.hand[seat], lane, win):
            same = s.hand[seat] & lane_mask(lane)
            if not same:
                same = s.hand[seat] & TRUMPS
            win = highest(same)
            by = seat
    for i in range(1, s.rules.players):
        seat = next_seat(s, leader + i - 1)
        hand = s.hand[seat]
        same = hand & lane_mask(lane)
        if seat == by:
            points += worth(win)
        elif same:
            points += worth(lowest(same)) if (seat ^ by) & 1 else worth(highest(same))
        elif not (seat ^ by) & 1:
            points += 11 if hand & HIGH else 4
    return points if not (by ^ leader) & 1 else -points


# While cards are drawn: what holding a card in the arrastre is worth to a side, in points of margin, beside a worthless
# card that is no trump; and what having the first lead there is. From a linear fit to 6000 random arrastres.
cdef int[LANE_CARDS] KEEP_TRUMP = [12, 12, 12, 12, 13, 14, 19, 22, 27, 35, 0, 0, 0, 0, 0, 0]
cdef int[LANE_CARDS] KEEP_PLAIN = [0, 0, 0, 0, 1, 1, 3, 5, 7, 16, 0, 0, 0, 0, 0, 0]
cdef enum:
    KEEP_LEAD = 12


cdef inline int keep(int card) noexcept nogil:
    return KEEP_PLAIN[card & (LANE_CARDS - 1)] if card >= LANE_CARDS else KEEP_TRUMP[card]


cdef inline int draws_left(State* s) noexcept nogil:
    # The trick that is being played included.
    return (s.stock_count - s.stock_next) // s.rules.players


cdef inline int prize(State* s) noexcept nogil:
    # A guess at what winning the trick is worth while cards are drawn, beside its points.
    cdef int i, gain = KEEP_LEAD
    for i in range(s.rules.players):
        gain += keep(s.stock[s.stock_next + i]) if not i & 1 else -keep(s.stock[s.stock_next + i])
    return gain


cdef int draw_guess(State* s, Trick* trick, int card, int gain, int alpha, int beta) noexcept nogil:
    # A guess at what playing `card` to a draw trick is worth to the side of trick.seat, for ordering: the best that
    # both sides can do in this trick if cards afterwards are worth what keep() says. `gain` is prize().
    cdef Trick after = trick[0]
    cdef int value, best = -INFINITE
    cdef uint64_t cards
    put(s, &after, card)
    if after.count == s.rules.players:
        value = after.points + gain
        return (-value if (after.winner ^ trick.seat) & 1 else value) - keep(card)
    alpha += keep(card)
    beta += keep(card)
    cards = legal(s, &after)
    while cards:
        value = draw_guess(s, &after, lowest(cards), gain, max(-beta, best), -alpha)
        cards &= cards - 1
        if value > best:
            best = value
            if best >= -alpha:
                break
    return -best - keep(card)


cdef struct Choice:
    # Cards to be tried, the most promising first once pick() has been at it.
    uint64_t all
    int count
    int[16] key             # score * 64 + card


cdef inline void pick(Choice* choice, int i) noexcept nogil:
    # Bring the best of what is left to place i.
    cdef int j, key, best = choice.key[i]
    for j in range(i + 1, choice.count):
        key = choice.key[j]
        if key > best:
            choice.key[j] = best
            best = key
    choice.key[i] = best


cdef inline void add_choice(Choice* choice, int card, int score) noexcept nogil:
    choice.key[choice.count] = score * 64 + card
    choice.count += 1


cdef inline bint spent(State* s) noexcept nogil:
    # Count a node; True when the search must end. Kept out of the way of the common case.
    cdef Clock* clock = s.clock
    clock.nodes += 1
    if clock.nodes < clock.next_check:
        return False
    if clock.expired:
        clock.nodes -= 1
        return True
    if clock.nodes >= clock.node_limit or clock.stop.load() or clock.deadline and now() >= clock.deadline:
        clock.expired = True
        clock.next_check = 0
        return True
    clock.next_check = clock.nodes + CHECK_EVERY
    if clock.next_check > clock.node_limit:
        clock.next_check = clock.node_limit
    return False


cdef inline Trick new_trick(int leader) noexcept nogil:
    cdef Trick trick
    trick.seat = leader
    trick.count = trick.lane = trick.win = trick.winner = trick.points = 0
    trick.table = 0
    return trick


cdef inline void put(State* s, Trick* trick, int card) noexcept nogil:
    # Lay a card on the table; the hand it comes from is the caller's business.
    if not trick.count:
        trick.lane = card >> 4
    if not trick.count or beats(card, trick.win):
        trick.win = card
        trick.winner = trick.seat
    trick.points += worth(card)
    trick.table |= bit(card)
    trick.count += 1
    trick.seat = next_seat(s, trick.seat)


cdef inline int play_card(State* s, Trick* trick, int card, int alpha, int beta) noexcept nogil:
    # Value for the side of trick.seat of playing `card` now.
    cdef Trick after
    cdef int value, unsung = s.unsung
    s.hand[trick.seat] ^= bit(card)
    if unsung and bit(card) & PAIRS:
        s.unsung = unsung & ~(1 << (card >> 4))
    after.points = trick.points + worth(card)
    if not trick.count or beats(card, trick.win):
        after.win = card
        after.winner = trick.seat
    else:
        after.win = trick.win
        after.winner = trick.winner
    if trick.count + 1 == s.rules.players:
        value = finish(s, after.winner, trick.seat, after.points, alpha, beta)
    else:
        after.seat = next_seat(s, trick.seat)
        after.count = trick.count + 1
        after.lane = trick.lane if trick.count else card >> 4
        after.table = trick.table | bit(card)
        value = -follow(s, &after, -beta, -alpha)
    s.hand[trick.seat] ^= bit(card)
    s.unsung = unsung
    return value


cdef inline int ceiling_of(uint64_t near, uint64_t tried, int16_t* reached, uint64_t cards, int card) noexcept nogil:
    # What `card` can be worth at most, given what its neighbours were found to be worth at most: they differ from it
    # only in points, and each point of difference is worth two of margin.
    cdef int other, bound, ceiling = INFINITE
    cdef uint64_t more
    if near & bit(card):
        other = highest(cards & (bit(card) - 1))
        if tried & bit(other):
            ceiling = reached[other] + 2 * (worth(card) - worth(other))
    more = cards & above(card)
    if more:
        other = lowest(more)
        if near & tried & bit(other):
            bound = reached[other] + 2 * (worth(other) - worth(card))
            if bound < ceiling:
                ceiling = bound
    return ceiling


cdef inline int search_cards(
    State* s, Trick* trick, Choice* choice, uint64_t near, int best, int alpha, int beta, int* move
) noexcept nogil:
    # Value for the side of trick.seat of its best choice, at least `best`. `near` are those of the choices whose next
    # weaker choice is a neighbour. `move` becomes the card that raised alpha last.
    cdef int value, i, card
    cdef uint64_t tried = 0, every = choice.all
    cdef int16_t reached[64]
    for i in range(choice.count):
        pick(choice, i)
        card = choice.key[i] & 63
        if near:
            value = ceiling_of(near, tried, &reached[0], every, card)
            if value <= alpha:
                if value > best:
                    best = value
                continue
        if i and beta - alpha > 1:
            value = play_card(s, trick, card, alpha, alpha + 1)
            if alpha < value < beta:
                value = play_card(s, trick, card, alpha, beta)
        else:
            value = play_card(s, trick, card, alpha, beta)
        if s.clock.expired:
            return 0
        tried |= bit(card)
        reached[card] = <int16_t> value
        if value > best:
            best = value
            if value > alpha:
                alpha = value
                move[0] = card
                if alpha >= beta:
                    break
    return best


cdef int follow(State* s, Trick* trick, int alpha, int beta) noexcept nogil:
    # Value for the side of trick.seat, which plays next to a trick that has been led.
    cdef int value, best = -INFINITE, card, other, score, gain = 0, move = NO_MOVE, win = trick.win
    cdef int seat = trick.seat
    cdef uint64_t hand = s.hand[seat]
    cdef uint64_t cards, foreign, special, upper, strong, taking, near
    cdef uint8_t* reply = NULL
    cdef Choice choice
    if spent(s):
        return 0
    if s.swap & hand and s.rules.exchange_when == OWN_TURN:
        do_exchange(s, seat)
        best = follow(s, trick, alpha, beta)
        undo_exchange(s, seat)
        if best >= beta:
            return best
        if best > alpha:
            alpha = best
    cards = legal(s, trick)
    if not cards & (cards - 1):
        value = play_card(s, trick, lowest(cards), alpha, beta)
        return value if value > best else best
    upper = hand & (hand - 1)
    if not upper & (upper - 1) and s.stock_next == s.stock_count:
        # Two cards left, and both may be played: trying them is cheaper than thinking which comes first.
        card = lowest(hand)
        other = lowest(upper)
        if worth(other) > worth(card) if not (trick.winner ^ seat) & 1 else beats(other, win):
            card, other = other, card
        value = play_card(s, trick, card, alpha, beta)
        if value > best:
            best = value
            if value > alpha:
                alpha = value
                if alpha >= beta:
                    return best
        value = play_card(s, trick, other, alpha, beta)
        return value if value > best else best
    # 1. Of cards that come to the same, one is enough. Foreign are all that lie between them for somebody.
    special = unmergeable(s)
    foreign = (all_hands(s) ^ hand) | trick.table | s.in_stock | (hand & ~cards) | special
    if trick.count + 1 < s.rules.players:
        cards &= ~with_neighbour_below(cards & ZEROES & ~special, foreign | cards & ~ZEROES)
    else:
        # Last to play: neighbours all take the trick or none does, and points now are worth points later. Own side
        # wants the richest of them in a trick it wins and the poorest in one it loses.
        strong = cards & ~special
        upper = with_neighbour_below(strong, foreign)
        if upper:
            if win >> 4 == trick.lane:
                taking = cards & (lane_mask(trick.lane) & above(win))
                if trick.lane:
                    taking |= cards & TRUMPS
            else:
                taking = cards & TRUMPS & above(win)
            if not (trick.winner ^ seat) & 1:
                cards = strongest_of_runs(strong, upper) | cards & special
            else:
                cards = strongest_of_runs(strong & taking, upper & taking) | strong & ~taking & ~upper | cards & special
    if not cards & (cards - 1):
        value = play_card(s, trick, lowest(cards), alpha, beta)
        return value if value > best else best
    near = 0 if s.game else with_neighbour_below(cards & ~special, foreign)
    if s.in_stock:
        gain = prize(s)
        reply = &s.reply[seat][trick.count][trick.lane][not (trick.winner ^ seat) & 1][draws_left(s)]
    # 2. Order: what the trick is expected to bring, cheap cards first among equals.
    choice.all = cards
    choice.count = 0
    while cards:
        card = lowest(cards)
        cards &= cards - 1
        if s.in_stock:
            score = 4 * draw_guess(s, trick, card, gain, -INFINITE, INFINITE)
            if card == reply[0]:
                score += REPLY_DRAW
        else:
            if beats(card, win):
                score = expect(s, trick, card, seat, trick.points + worth(card) + 6)
            else:
                score = expect(s, trick, win, trick.winner, trick.points + worth(card) + 6)
            score = score * 4 - (card & 15) - (12 if card < 16 else 0)
        add_choice(&choice, card, score)
    best = search_cards(s, trick, &choice, near, best, alpha, beta, &move)
    if s.in_stock and move != NO_MOVE:
        reply[0] = <uint8_t> move
    return best


cdef int last_trick(State* s, int leader, int alpha, int beta) noexcept nogil:
    # Everybody has one card, nothing is left to choose. Value for the side of `leader`.
    cdef int _i, seat = leader, card = lowest(s.hand[leader]), win = card, winner = leader, points = worth(card), value
    cdef uint64_t held[MAX_PLAYERS]
    for _i in range(1, s.rules.players):
        seat = next_seat(s, seat)
        card = lowest(s.hand[seat])
        points += worth(card)
        if beats(card, win):
            win = card
            winner = seat
    if not s.game:
        value = points + s.rules.last_trick
        if s.rules.capote == SCORES_100 and s.capote >> (winner & 1) & 1:
            value += CAPOTE
        return value if not (winner ^ leader) & 1 else -value
    memcpy(held, s.hand, sizeof(held))
    memset(s.hand, 0, sizeof(held))
    value = finish(s, winner, leader, points, alpha, beta)
    memcpy(s.hand, held, sizeof(held))
    return value


cdef inline int onward(State* s, int winner, int alpha, int beta) noexcept nogil:
    # A trick is scored. Value for the side of `winner`. Mostly there is nothing to draw, exchange or declare any more.
    if s.stock_next == s.stock_count and not s.unsung and not s.tute_open:
        return lead(s, winner, alpha, beta)
    return before_draw(s, winner, 0, alpha, beta)


cdef int finish(State* s, int winner, int seat, int points, int alpha, int beta) noexcept nogil:
    # The trick is complete: `winner` takes `points`, `seat` played last. Value for the side of `seat`.
    cdef int side = winner & 1
    cdef bint same = not (winner ^ seat) & 1
    cdef int won = s.won, capote = s.capote, played = s.played, gain, value
    if not s.game and in_ending(s) and s.hand[winner]:
        s.left -= points
        if same:
            value = points + ending_lead(s, winner, alpha - points, beta - points)
        else:
            value = -points - ending_lead(s, winner, -beta - points, -alpha - points)
        s.left += points
        return value
    s.left -= points
    s.won |= 1 << side
    s.capote &= 1 << side
    s.played = 1
    gain = points
    cdef bint last = not all_hands(s) and s.stock_next == s.stock_count
    if last:
        gain += s.rules.last_trick
        s.left -= s.rules.last_trick
    if s.game:
        s.total[side] += gain
        s.cards[side] += points
        if last:
            if s.rules.malas_with_last:
                s.cards[side] += s.rules.last_trick
            if s.capote and s.rules.capote == SCORES_100:
                s.total[side] += CAPOTE
        if wins_at_once(s, side) or s.ends_on_trick and s.total[side] >= s.rules.target:
            value = 1
        elif last:
            if s.capote and s.rules.capote == WINS:
                value = 1
            else:
                value = judge(s, winner)
                if side:
                    value = -value
        elif same:
            value = onward(s, winner, alpha, beta)
        else:
            value = onward(s, winner, -beta, -alpha)
        if last:
            if s.rules.malas_with_last:
                s.cards[side] -= s.rules.last_trick
            if s.capote and s.rules.capote == SCORES_100:
                s.total[side] -= CAPOTE
        s.total[side] -= gain
        s.cards[side] -= points
    elif last:
        value = gain
        if s.capote and s.rules.capote == SCORES_100:
            value += CAPOTE
    elif same:
        value = gain + onward(s, winner, alpha - gain, beta - gain)
    else:
        value = gain + onward(s, winner, -beta - gain, -alpha - gain)
    if last:
        s.left += s.rules.last_trick
    s.played = played
    s.capote = capote
    s.won = won
    s.left += points
    return value if same else -value


# ---- the ending ----------------------------------------------------------------------------------------------------
#
# Once the stock is gone and no cante is open, nothing but points changes hands. Nearly all nodes of nearly all searches
# are there, so that the ending has functions of its own: the same search as lead() and follow() without everything
# that cannot happen any more. ending_lead() values what lead() would.

cdef inline bint in_ending(State* s) noexcept nogil:
    return s.plain and not s.unsung | s.capote | s.tute_open and s.stock_next == s.stock_count


cdef inline bint only_points_decide(State* s) noexcept nogil:
    # Whether in the ending the winner of the game follows from the points that either side still takes: both cannot
    # come to win, and a minimum of malas does not depend on who takes the last trick.
    if s.total[0] + s.total[1] + s.left >= 2 * s.rules.target:
        return False
    if not s.minimum or s.cards[0] >= s.minimum and s.cards[1] >= s.minimum:
        return True
    return s.rules.malas_with_last and not s.rules.malas_loses


cdef int ending_game(State* s, int leader, int alpha, int beta) noexcept nogil:
    # ending_lead() under `game`, where only_points_decide(): does the leader's side take what it needs, do the rivals?
    cdef int side, margin
    cdef int[2] need
    for side in range(2):
        need[side] = max(s.rules.target - s.total[side], s.minimum - s.cards[side])
    side = leader & 1
    if beta > 0:
        margin = 2 * need[side] - s.left
        if margin <= -s.left or margin <= s.left and ending_lead(s, leader, margin - 1, margin) >= margin:
            return 1
    if alpha < 0:
        margin = s.left - 2 * need[side ^ 1]
        if margin >= s.left or margin >= -s.left and ending_lead(s, leader, margin, margin + 1) <= margin:
            return -1
    return 0


cdef inline uint64_t duty(State* s, uint64_t hand, int lane, int win, bint ours) noexcept nogil:
    # legal() for the duties of the ending; `ours`: the seat's own side is winning the trick.
    cdef uint64_t same = hand & lane_mask(lane), better
    cdef bint exempt = ours and s.rules.partner_exempt
    if same:
        better = same & BEATS[win]
        return better if better and not exempt else same
    same = hand & TRUMPS
    if exempt or not same:
        return hand
    better = same & BEATS[win]
    if better:
        return better
    return same if win < LANE_CARDS and s.rules.undertrump_forced else hand


cdef inline uint64_t takers(uint64_t hand, int lane) noexcept nogil:
    # Of a hand, the cards that might take a trick led in `lane`: those it has to follow with, or else its trumps.
    cdef uint64_t same = hand & lane_mask(lane)
    return same if same else hand & TRUMPS


cdef inline bint keeps(uint64_t rival, uint64_t partner, int win, bint ours) noexcept nogil:
    # A guess who takes a trick that `win` is winning, if the takers still to play are a rival's and then the partner's.
    if ours and rival & BEATS[win]:
        ours = False
        win = highest(rival)
    return ours or partner & BEATS[win] != 0


cdef int ending_search(
    State* s, Trick* trick, Choice* choice, uint64_t near, int alpha, int beta, int* move
) noexcept nogil:
    # As search_cards().
    cdef int value, i, card, best = -INFINITE
    cdef uint64_t tried = 0, every = choice.all
    cdef int16_t reached[64]
    for i in range(choice.count):
        pick(choice, i)
        card = choice.key[i] & 63
        if near:
            value = ceiling_of(near, tried, &reached[0], every, card)
            if value <= alpha:
                if value > best:
                    best = value
                continue
        if i and beta - alpha > 1:
            value = ending_play(s, trick, card, alpha, alpha + 1)
            if alpha < value < beta:
                value = ending_play(s, trick, card, alpha, beta)
        else:
            value = ending_play(s, trick, card, alpha, beta)
        tried |= bit(card)
        reached[card] = <int16_t> value
        if value > best:
            best = value
            if value > alpha:
                alpha = value
                move[0] = card
                if alpha >= beta:
                    break
    return best


cdef inline int ending_play(State* s, Trick* trick, int card, int alpha, int beta) noexcept nogil:
    # Value for the side of trick.seat of playing `card` now.
    cdef Trick after
    cdef int value, points = trick.points + worth(card), seat = trick.seat
    s.hand[seat] ^= bit(card)
    if not trick.count or beats(card, trick.win):
        after.win = card
        after.winner = seat
    else:
        after.win = trick.win
        after.winner = trick.winner
    if trick.count + 1 < s.rules.players:
        after.points = points
        after.seat = next_seat(s, seat)
        after.count = trick.count + 1
        after.lane = trick.lane if trick.count else card >> 4
        after.table = trick.table | bit(card)
        value = -ending_follow(s, &after, -beta, -alpha)
    else:
        s.left -= points
        if (after.winner ^ seat) & 1:
            value = -points - ending_lead(s, after.winner, -beta - points, -alpha - points)
        else:
            value = points + ending_lead(s, after.winner, alpha - points, beta - points)
        s.left += points
    s.hand[seat] ^= bit(card)
    return value


cdef int ending_follow(State* s, Trick* trick, int alpha, int beta) noexcept nogil:
    cdef int card, score, move, win = trick.win, seat = trick.seat, after = next_seat(s, seat)
    cdef uint8_t* reply
    cdef bint kept, held, ours = not (trick.winner ^ seat) & 1
    cdef uint64_t hand = s.hand[seat], foreign, upper, taking, near, rival = 0, partner = 0
    cdef uint64_t cards
    cdef Choice choice
    if spent(s):
        return 0
    cards = duty(s, hand, trick.lane, win, ours)
    if not cards & (cards - 1):
        return ending_play(s, trick, lowest(cards), alpha, beta)
    # 1. Of cards that come to the same, one is enough. Foreign are all that lie between them for somebody.
    foreign = (all_hands(s) ^ cards) | trick.table
    if trick.count + 1 < s.rules.players:
        cards &= ~with_neighbour_below(cards & ZEROES, foreign | cards & ~ZEROES)
        rival = takers(s.hand[after], trick.lane)
        if trick.count + 2 < s.rules.players:
            partner = takers(s.hand[next_seat(s, after)], trick.lane)
    else:
        # Last to play: neighbours all take the trick or none does, and points now are worth points later. Own side
        # wants the richest of them in a trick it wins and the poorest in one it loses.
        upper = with_neighbour_below(cards, foreign)
        if upper:
            if ours:
                cards = strongest_of_runs(cards, upper)
            else:
                taking = cards & BEATS[win]
                cards = strongest_of_runs(taking, upper & taking) | cards & ~taking & ~upper
    if not cards & (cards - 1):
        return ending_play(s, trick, lowest(cards), alpha, beta)
    near = with_neighbour_below(cards, foreign)
    # 2. Order: what won last in such a place; what the trick is expected to bring, cheap cards first among equals.
    choice.all = cards
    choice.count = 0
    reply = &s.reply[seat][trick.count][trick.lane][ours][CARDS_LEFT + count(hand)]
    held = keeps(rival, partner, win, ours)
    while cards:
        card = lowest(cards)
        cards &= cards - 1
        score = 4 * (trick.points + worth(card) + 6)
        kept = keeps(rival, partner, card, True) if beats(card, win) else held
        if not kept:
            score = -score
        score -= (card & 15) + (12 if card < 16 else 0)
        if card == reply[0]:
            score += REPLY_FOLLOW
        add_choice(&choice, card, score)
    move = reply[0]
    score = ending_search(s, trick, &choice, near, alpha, beta, &move)
    reply[0] = <uint8_t> move
    return score


cdef int ending_lead(State* s, int leader, int alpha, int beta) noexcept nogil:
    cdef int best, lower, upper, card, score, floor, ceiling, sure, gain, seat, move = NO_MOVE
    cdef int[MAX_PLAYERS] rest
    cdef uint8_t* reply
    cdef uint64_t cards, foreign, near, hand = s.hand[leader]
    cdef Trick trick
    cdef Choice choice
    cdef Hash h
    cdef Entry* known
    if spent(s):
        return 0
    cards = hand & (hand - 1)
    if not cards:
        for seat in range(s.rules.players):
            rest[seat] = lowest(s.hand[seat])
        return last_tricks(s, leader, 0, &rest[0], leader)
    # 1. Nothing to find out where the points that are left cannot change the answer.
    lower = -s.left
    upper = s.left
    if cards & (cards - 1):
        sure = sure_points(s, leader & 1)
        gain = cashable(s, leader)
        if gain > sure:
            sure = gain
        lower += 2 * sure
        upper -= 2 * sure_points(s, (leader & 1) ^ 1)
    if lower >= beta or lower == upper:
        return lower
    if upper <= alpha:
        return upper
    floor = lower
    ceiling = upper
    # 2. Known already?
    h = hash_ending(s, leader)
    if count(hand) <= NEAR_CARDS:
        h.bucket &= s.near
    else:
        h.bucket |= s.far
    known = find(s.table, &h)
    if known:
        move = known.move
        if known.lower > lower:
            lower = known.lower
            if lower >= beta:
                return lower
        if known.upper < upper:
            upper = known.upper
            if upper <= alpha:
                return upper
        if lower == upper:
            return lower
    if lower > alpha:
        alpha = lower
    if upper < beta:
        beta = upper
    if not cards & (cards - 1):
        best = two_tricks(s, leader, alpha, beta)
        move = NO_MOVE
    else:
        # 3. Leads, equal ones once, the most promising first.
        reply = &s.reply[leader][0][0][0][CARDS_LEFT + count(hand)]
        foreign = all_hands(s) ^ hand
        cards = hand & ~with_neighbour_below(hand & ZEROES, foreign | hand & ~ZEROES)
        near = with_neighbour_below(cards, foreign)
        choice.all = cards
        choice.count = 0
        while cards:
            card = lowest(cards)
            cards &= cards - 1
            if card == move:
                score = FIRST
            else:
                score = promise(s, leader, card) * 4 - (card & 15) - (48 if card < 16 else 0)
                if card == reply[0]:
                    score += REPLY_LEAD
            add_choice(&choice, card, score)
        # 4. Search.
        trick = new_trick(leader)
        move = NO_MOVE
        best = ending_search(s, &trick, &choice, near, alpha, beta, &move)
        if s.clock.expired:
            return 0
        if move != NO_MOVE:
            reply[0] = <uint8_t> move
    # 5. Remember what is proven: a floor, a ceiling, or both.
    if best > alpha:
        floor = best
    if best < beta:
        ceiling = best
    store(s.table, &h, floor, ceiling, move, count(hand))
    return best


# The last two tricks are counted out, without table, bounds or guesses. `rest` is what each seat that has played to the
# first of them keeps for the second.

cdef int two_tricks(State* s, int leader, int alpha, int beta) noexcept nogil:
    cdef int[MAX_PLAYERS] rest
    cdef int value, other, card = lowest(s.hand[leader]), kept = highest(s.hand[leader])
    rest[leader] = kept
    value = -two_follow(s, next_seat(s, leader), card >> 4, card, leader, worth(card), 1, &rest[0], -beta, -alpha)
    if value >= beta:
        return value
    rest[leader] = card
    if value > alpha:
        alpha = value
    other = -two_follow(s, next_seat(s, leader), kept >> 4, kept, leader, worth(kept), 1, &rest[0], -beta, -alpha)
    return other if other > value else value


cdef int two_follow(
    State* s, int seat, int lane, int win, int winner, int points, int played, int* rest, int alpha, int beta
) noexcept nogil:
    cdef bint ours = not (winner ^ seat) & 1
    cdef uint64_t hand = s.hand[seat], cards = duty(s, hand, lane, win, ours)
    cdef int card = lowest(cards), kept = lowest(hand ^ bit(card)), value, other
    cdef bint swap
    if cards == hand:
        swap = worth(kept) > worth(card) if ours else beats(kept, win)
        if swap:
            card, kept = kept, card
    rest[seat] = kept
    value = two_put(s, seat, lane, win, winner, points, played, card, rest, alpha, beta)
    if cards != hand or value >= beta:
        return value
    rest[seat] = card
    if value > alpha:
        alpha = value
    other = two_put(s, seat, lane, win, winner, points, played, kept, rest, alpha, beta)
    return other if other > value else value


cdef inline int two_put(
    State* s, int seat, int lane, int win, int winner, int points, int played, int card, int* rest, int alpha, int beta
) noexcept nogil:
    points += worth(card)
    if beats(card, win):
        win = card
        winner = seat
    if played + 1 < s.rules.players:
        return -two_follow(s, next_seat(s, seat), lane, win, winner, points, played + 1, rest, -beta, -alpha)
    return last_tricks(s, winner, points, rest, seat)


cdef inline int last_tricks(State* s, int winner, int points, int* rest, int side) noexcept nogil:
    # The trick before the last has brought `winner` its points; `rest` is the last one. Value for `side`.
    cdef int _i, seat = winner, win = rest[winner], last = winner, value
    for _i in range(1, s.rules.players):
        seat = next_seat(s, seat)
        if beats(rest[seat], win):
            win = rest[seat]
            last = seat
    value = -points if (winner ^ side) & 1 else points
    return value + (points - s.left if (last ^ side) & 1 else s.left - points)


# ---- between tricks ------------------------------------------------------------------------------------------------

cdef inline void do_exchange(State* s, int seat) noexcept nogil:
    # Swap the seat's card for the muestra. Undone by undo_exchange with the same seat.
    cdef int muestra = s.stock[s.stock_count - 1]
    s.hand[seat] ^= s.swap | bit(muestra)
    s.in_stock ^= s.swap | bit(muestra)
    s.stock[s.stock_count - 1] = <uint8_t> lowest(s.swap)
    # The muestra's place remembers the card that went in, `exchanged_for` the one that came out.
    s.exchanged_for = muestra
    s.swap = 0


cdef inline void undo_exchange(State* s, int seat) noexcept nogil:
    cdef int given = s.stock[s.stock_count - 1]
    s.swap = bit(given)
    s.hand[seat] ^= s.swap | bit(s.exchanged_for)
    s.in_stock ^= s.swap | bit(s.exchanged_for)
    s.stock[s.stock_count - 1] = <uint8_t> s.exchanged_for


cdef inline int exchanger(State* s, int leader, bint rivals) noexcept nogil:
    # The seat that may exchange in this window: among the rivals of `leader`, or on the leader's side. -1 for none.
    # `leader` has won the last trick, unless none was played.
    cdef int seat, side = (leader & 1) ^ rivals
    if not s.swap:
        return -1
    if rivals:
        if s.rules.exchange_when != ANY_TRICK_WON or not s.won >> side & 1:
            return -1
    elif s.rules.exchange_when == ON_LEAD:
        return leader if s.hand[leader] & s.swap else -1
    elif s.rules.exchange_when == OWN_TURN or not s.played:
        return -1
    for seat in range(side, s.rules.players, 2):
        if s.hand[seat] & s.swap:
            return seat
    return -1


cdef int before_draw(State* s, int winner, int singers, int alpha, int beta) noexcept nogil:
    # A trick is scored, cards may be to be drawn; `singers` have sung in the window that follows already, which only
    # a position handed in may say. Value for the side of `winner`.
    cdef int value, seat, other
    if s.stock_next == s.stock_count:
        return start(s, winner, singers, alpha, beta)
    if not (s.rules.exchange_after and s.swap and s.stock_count - s.stock_next == s.rules.players):
        return draw(s, winner, singers, alpha, beta)
    value = before_draw_own(s, winner, singers, alpha, beta)
    seat = exchanger(s, winner, True)
    if seat < 0 or value <= alpha:
        return value
    if value < beta:
        beta = value
    do_exchange(s, seat)
    other = draw(s, winner, singers, alpha, beta)
    undo_exchange(s, seat)
    return other if other < value else value


cdef int before_draw_own(State* s, int winner, int singers, int alpha, int beta) noexcept nogil:
    # As before_draw, once the rivals have passed.
    cdef int value = draw(s, winner, singers, alpha, beta)
    cdef int other, seat = exchanger(s, winner, False)
    if seat < 0 or value >= beta:
        return value
    if value > alpha:
        alpha = value
    do_exchange(s, seat)
    other = draw(s, winner, singers, alpha, beta)
    undo_exchange(s, seat)
    return other if other > value else value


cdef int draw(State* s, int winner, int singers, int alpha, int beta) noexcept nogil:
    # Everybody draws, the winner first; when the stock is gone nothing can be exchanged any more. Value for the side
    # of `winner`.
    cdef int i, _i, seat = winner, value, unsung = s.unsung, tute_open = s.tute_open
    cdef uint64_t swap = s.swap, drawn = 0, card
    for i in range(s.rules.players):
        card = bit(s.stock[s.stock_next + i])
        s.hand[seat] |= card
        drawn |= card
        seat = next_seat(s, seat)
    s.in_stock ^= drawn
    s.stock_next += s.rules.players
    if s.stock_next == s.stock_count:
        s.swap = 0
        s.unsung = still_together(s)
        s.tute_open = tute_in_reach(s)
    value = start(s, winner, singers, alpha, beta)
    s.unsung = unsung
    s.tute_open = tute_open
    s.stock_next -= s.rules.players
    s.in_stock ^= drawn
    s.swap = swap
    for _i in range(s.rules.players):
        s.hand[seat] &= ~drawn
        seat = next_seat(s, seat)
    return value


cdef int start(State* s, int leader, int singers, int alpha, int beta) noexcept nogil:
    # A trick begins: the rivals may exchange, then the leader's side declares and leads. Value for the leader's side.
    cdef int value, other, seat
    value = window(s, leader, singers, alpha, beta)
    if not s.swap:
        return value
    seat = exchanger(s, leader, True)
    if seat < 0 or value <= alpha:
        return value
    if value < beta:
        beta = value
    do_exchange(s, seat)
    other = window(s, leader, singers, alpha, beta)
    undo_exchange(s, seat)
    return other if other < value else value


cdef inline bint may_sing(State* s, int seat, int leader, int singers) noexcept nogil:
    # Whether this member of the leader's side has a cante left in the open window; `singers` have used theirs.
    if not s.played or not s.rules.cantes:
        return False
    if s.rules.cante_by_winner and seat != leader:
        return False
    return not singers >> seat & 1 if s.rules.cante_per_member else not singers


cdef inline int tute_holder(State* s, int leader) noexcept nogil:
    # The member of the leader's side that may declare a tute now, or -1.
    cdef int seat
    if s.tute_open and s.played:
        for seat in range(leader & 1, s.rules.players, 2):
            if makes_tute(s, s.hand[seat]):
                return seat
    return -1


cdef inline int declare(
    State* s, int leader, int singers, int kind, int seat, int lane, int led, int alpha, int beta
) noexcept nogil:
    # Value for the leader's side of singing `lane` (CANTE) or showing a tute (TUTE) in the open window, and going on
    # in it: to the lead, or when card `led` was led already, to the rival's play.
    cdef int side = leader & 1, gain, value, unsung = s.unsung, tute_open = s.tute_open
    if kind == TUTE:
        if s.rules.tute == WINS:
            return 1
        gain = TUTE_WORTH
        s.tute_open = 0
    else:
        gain = cante_worth(lane)
        s.unsung &= ~(1 << lane)
        singers |= 1 << seat
    if s.game:
        s.total[side] += gain
        if wins_at_once(s, side):
            value = 1
        elif led == FIRST_LEAD:
            value = window(s, leader, singers, alpha, beta)
        else:
            value = after_lead(s, leader, singers, led, alpha, beta)
        s.total[side] -= gain
    elif led == FIRST_LEAD:
        value = gain + window(s, leader, singers, alpha - gain, beta - gain)
    else:
        value = gain + after_lead(s, leader, singers, led, alpha - gain, beta - gain)
    s.unsung = unsung
    s.tute_open = tute_open
    return value


cdef int declare_best(
    State* s, int leader, int singers, int led, int alpha, int beta, bint* declared
) noexcept nogil:
    # The best declaration of the leader's side in the open window, if there is one. Points declared now are never
    # worse than the same or no points later, so whoever can declare does; only which cante uses up the place is a
    # choice. `declared` tells whether there was anything.
    cdef int value, best = -INFINITE, lane, seat
    cdef uint64_t pair
    cdef int unsung = s.unsung
    declared[0] = False
    seat = tute_holder(s, leader)
    if seat >= 0:
        declared[0] = True
        return declare(s, leader, singers, TUTE, seat, 0, led, alpha, beta)
    while unsung:
        lane = lowest(unsung)
        unsung &= unsung - 1
        pair = PAIR << (lane * 16)
        for seat in range(leader & 1, s.rules.players, 2):
            if s.hand[seat] & pair == pair and may_sing(s, seat, leader, singers):
                declared[0] = True
                value = declare(s, leader, singers, CANTE, seat, lane, led, alpha, beta)
                if value > best:
                    best = value
                    if value > alpha:
                        alpha = value
                        if alpha >= beta:
                            return best
    return best


cdef int window(State* s, int leader, int singers, int alpha, int beta) noexcept nogil:
    # The leader's side may declare, exchange and then leads. Value for the leader's side.
    cdef int value, best = -INFINITE, seat
    cdef bint declared = False
    if s.unsung or s.tute_open:
        best = declare_best(s, leader, singers, FIRST_LEAD, alpha, beta, &declared)
        if best >= beta:
            return best
        if best > alpha:
            alpha = best
    if s.swap:
        seat = leader if s.rules.exchange_when == OWN_TURN else exchanger(s, leader, False)
        if seat >= 0 and s.hand[seat] & s.swap:
            do_exchange(s, seat)
            value = window(s, leader, singers, alpha, beta)
            undo_exchange(s, seat)
            if value > best:
                best = value
                if best >= beta:
                    return best
                if best > alpha:
                    alpha = best
    if not declared:
        value = lead(s, leader, alpha, beta)
        if value > best:
            best = value
    return best


cdef int after_lead(State* s, int leader, int singers, int led, int alpha, int beta) noexcept nogil:
    # `led` lies on the table and the window is still open (cante_window rival_play). Value for the leader's side.
    cdef int best
    cdef bint declared = False
    cdef Trick trick
    if s.unsung or s.tute_open:
        best = declare_best(s, leader, singers, led, alpha, beta, &declared)
        if declared:
            return best
    trick = new_trick(leader)
    put(s, &trick, led)
    return -follow(s, &trick, -beta, -alpha)


cdef int lead(State* s, int leader, int alpha, int beta) noexcept nogil:
    # The leader leads, nothing more to be declared. Value for the leader's side.
    cdef int best, lower, upper, card, score, floor, ceiling, sure, gain = 0, move = NO_MOVE
    cdef uint64_t cards, foreign, special, near, hand = s.hand[leader]
    cdef uint8_t* reply = NULL
    cdef Trick trick
    cdef Choice choice
    cdef Hash h
    cdef Entry* known
    if in_ending(s):
        if not s.game:
            return ending_lead(s, leader, alpha, beta)
        if only_points_decide(s):
            return ending_game(s, leader, alpha, beta)
    if spent(s):
        return 0
    if not hand & (hand - 1) and s.stock_next == s.stock_count:
        return last_trick(s, leader, alpha, beta)
    # 1. Nothing to find out where the points that are left cannot change the answer.
    bounds(s, leader & 1, &lower, &upper)
    if not s.game:
        sure = sure_points(s, leader & 1)
        if s.stock_next == s.stock_count:
            gain = cashable(s, leader)
            if gain > sure:
                sure = gain
        lower += 2 * sure
        upper -= 2 * sure_points(s, (leader & 1) ^ 1)
    if lower >= beta or lower == upper:
        return lower
    if upper <= alpha:
        return upper
    floor = lower
    ceiling = upper
    # 2. Known already?
    h = hash_state(s, leader)
    h.bucket |= s.far
    known = find(s.table, &h)
    if known:
        move = known.move
        if known.lower > lower:
            lower = known.lower
            if lower >= beta:
                return lower
        if known.upper < upper:
            upper = known.upper
            if upper <= alpha:
                return upper
        if lower == upper:
            return lower
    if lower > alpha:
        alpha = lower
    if upper < beta:
        beta = upper
    # 3. Leads, equal ones once, the most promising first.
    special = unmergeable(s)
    foreign = (all_hands(s) ^ hand) | s.in_stock | special
    cards = hand & ~with_neighbour_below(hand & ZEROES & ~special, foreign | hand & ~ZEROES)
    near = 0 if s.game else with_neighbour_below(cards & ~special, foreign)
    trick = new_trick(leader)
    if s.in_stock:
        gain = prize(s)
        reply = &s.reply[leader][0][0][0][draws_left(s)]
    choice.all = cards
    choice.count = 0
    while cards:
        card = lowest(cards)
        cards &= cards - 1
        if card == move:
            score = FIRST
        elif s.in_stock:
            score = 4 * draw_guess(s, &trick, card, gain, -INFINITE, INFINITE)
            if card == reply[0]:
                score += REPLY_DRAW
        else:
            score = promise(s, leader, card) * 4 - (card & 15) - (48 if card < 16 else 0)
        add_choice(&choice, card, score)
    # 4. Search.
    move = NO_MOVE
    best = search_cards(s, &trick, &choice, near, -INFINITE, alpha, beta, &move)
    if s.clock.expired:
        return 0
    if s.in_stock and move != NO_MOVE:
        reply[0] = <uint8_t> move
    # 5. Remember what is proven: a floor, a ceiling, or both.
    if best > alpha:
        floor = best
    if best < beta:
        ceiling = best
    store(s.table, &h, floor, ceiling, move, tricks_left(s))
    return best


cdef inline int tricks_left(State* s) noexcept nogil:
    return count(s.hand[0]) + draws_left(s)


# ---- from a position to its values ---------------------------------------------------------------------------------

cdef Trick read_table(State* s, Setup* root) noexcept nogil:
    cdef Trick trick = new_trick(root.leader)
    cdef int i
    for i in range(root.table_count):
        put(s, &trick, root.table[i])
    return trick


cdef void set_up(State* s, Setup* root, int objective, Context context) noexcept nogil:
    # A state for `root`, ready to be searched.
    cdef int i, side, card
    cdef uint64_t h
    cdef uint8_t* rules = <uint8_t*> &root.rules
    memset(s, 0, sizeof(State))
    s.rules = root.rules
    memset(s.reply, NO_MOVE, sizeof(s.reply))
    s.table = &context.table
    s.near = ~<uint64_t> 0
    if root.stock_count and context.table.mask >> (NEAR_BITS + 2):
        s.near = (<uint64_t> 1 << NEAR_BITS) - 1
        s.far = <uint64_t> 1 << NEAR_BITS
    s.clock = &context.clock
    s.game = objective == GAME
    s.stock_count = root.stock_count
    memcpy(s.stock, root.stock, MAX_STOCK)
    for i in range(MAX_PLAYERS):
        s.hand[i] = root.hand[i]
    for i in range(root.stock_count):
        s.in_stock |= bit(root.stock[i])
    if root.rules.cantes:
        s.unsung = root.unsung
        for i in range(4):
            # A pair is broken for good once a card of it has been played.
            if (all_hands(s) | s.in_stock) & PAIR << (i * 16) != PAIR << (i * 16):
                s.unsung &= ~(1 << i)
        if not root.stock_count:
            s.unsung = still_together(s)
    if root.stock_count and not root.exchanged:
        card = root.stock[root.stock_count - 1]
        if card != SEVEN:
            s.swap = bit(SEVEN)
        elif root.rules.exchange_two:
            s.swap = bit(TWO)
        if root.moment in (BEFORE_DRAW, BEFORE_DRAW_RIVALS) and not root.rules.exchange_after:
            s.swap = 0
    s.tute_open = not root.tute_declared and (root.rules.tute == SCORES_40 or s.game and root.rules.tute == WINS)
    if root.rules.capote == SCORES_100 or s.game and root.rules.capote == WINS:
        s.capote = root.capote
    s.won = root.won
    s.played = root.played
    if not root.stock_count:
        s.tute_open = tute_in_reach(s)
    s.plain = s.rules.beat == BEAT_YES and s.rules.strict != STRICT_NEVER
    s.left = root.rules.last_trick + read_table(s, root).points
    cdef uint64_t cards = all_hands(s) | s.in_stock
    while cards:
        s.left += worth(lowest(cards))
        cards &= cards - 1
    if s.game:
        for side in range(2):
            s.total[side] = root.carried[side] + root.points[side]
            s.cards[side] = root.cards[side]
        if not root.vueltas:
            s.minimum = root.rules.malas_minimum
        s.ends_at_once = root.rules.claim or root.vueltas and root.rules.vueltas == AT_ONCE
        s.ends_on_trick = root.vueltas and root.rules.vueltas == WON_TRICK
    h = context.salt
    for i in range(<int> sizeof(Rules)):
        h = fold(h ^ rules[i] ^ <uint64_t> 0x243F6A8885A308D3, <uint64_t> 0x13198A2E03707345)
    s.signature = fold(h ^ <uint64_t> (2 * root.vueltas + s.game), <uint64_t> 0xA4093822299F31D1)
    # Hash of the stock from each place to the card above the muestra, built from the bottom.
    h = 0
    for i in range(root.stock_count - 2, -1, -1):
        h = fold(h ^ root.stock[i] ^ <uint64_t> 0x082EFA98EC4E6C89, <uint64_t> 0x452821E638D01377)
        s.stock_hash[i] = h


cdef int go_on(State* s, Setup* root, int alpha, int beta) noexcept nogil:
    # Value for the acting side once it has passed or exchanged at root.moment.
    cdef Trick trick
    if root.moment == RIVALS:
        return -window(s, root.leader, root.singers, -beta, -alpha)
    if root.moment == BEFORE_DRAW_RIVALS:
        return -before_draw_own(s, root.leader, root.singers, -beta, -alpha)
    if root.moment == BEFORE_DRAW:
        return draw(s, root.leader, root.singers, alpha, beta)
    if not root.table_count:
        return window(s, root.leader, root.singers, alpha, beta)
    trick = read_table(s, root)
    return follow(s, &trick, alpha, beta)


cdef int search(State* s, Setup* root, int alpha, int beta) noexcept nogil:
    if root.moment == RIVALS:
        return -start(s, root.leader, root.singers, -beta, -alpha)
    if root.moment == BEFORE_DRAW_RIVALS:
        return -before_draw(s, root.leader, root.singers, -beta, -alpha)
    if root.moment == BEFORE_DRAW:
        return before_draw_own(s, root.leader, root.singers, alpha, beta)
    return go_on(s, root, alpha, beta)


cdef int try_action(State* s, Setup* root, Found* action, int alpha, int beta) noexcept nogil:
    # Value of an action for the acting side; the side declares nothing before it.
    cdef Trick trick
    cdef int value, unsung
    if action.kind == CARD:
        if not root.table_count and s.rules.cante_after_lead and s.played:
            unsung = s.unsung
            s.hand[action.seat] ^= bit(action.arg)
            if bit(action.arg) & PAIRS:
                s.unsung &= ~(1 << (action.arg >> 4))
            value = after_lead(s, action.seat, root.singers, action.arg, alpha, beta)
            s.hand[action.seat] ^= bit(action.arg)
            s.unsung = unsung
            return value
        trick = read_table(s, root)
        return play_card(s, &trick, action.arg, alpha, beta)
    if action.kind == CANTE or action.kind == TUTE:
        return declare(s, root.leader, root.singers, action.kind, action.seat, action.arg, FIRST_LEAD, alpha, beta)
    if action.kind == CAMBIO:
        do_exchange(s, action.seat)
        value = go_on(s, root, alpha, beta)
        undo_exchange(s, action.seat)
        return value
    return go_on(s, root, alpha, beta)


cdef inline void add_action(Result* out, int kind, int arg, int seat) noexcept nogil:
    cdef Found* action = &out.action[out.count]
    action.kind = <uint8_t> kind
    action.arg = <uint8_t> arg
    action.seat = <uint8_t> seat
    out.count += 1


cdef void list_actions(State* s, Setup* root, Result* out) noexcept nogil:
    # The legal actions of the side whose turn it is: cards first, then what may be declared.
    cdef int seat, lane, leader = root.leader
    cdef uint64_t cards, pair
    cdef Trick trick
    out.count = 0
    if root.moment != PLAY:
        seat = exchanger(s, leader, root.moment != BEFORE_DRAW)
        if seat >= 0:
            add_action(out, CAMBIO, 0, seat)
        add_action(out, PASS, 0, (leader & 1) ^ (root.moment != BEFORE_DRAW))
        return
    trick = read_table(s, root)
    cards = s.hand[trick.seat]
    if root.table_count:
        cards = legal(s, &trick)
    while cards:
        add_action(out, CARD, lowest(cards), trick.seat)
        cards &= cards - 1
    if not root.table_count:
        for lane in range(4):
            pair = PAIR << (lane * 16)
            for seat in range(leader & 1, s.rules.players, 2):
                if s.unsung >> lane & 1 and s.hand[seat] & pair == pair and may_sing(s, seat, leader, root.singers):
                    add_action(out, CANTE, lane, seat)
        if s.rules.exchange_when != OWN_TURN:
            seat = exchanger(s, leader, False)
            if seat >= 0:
                add_action(out, CAMBIO, 0, seat)
        for seat in range(leader & 1, s.rules.players, 2):
            if s.tute_open and s.played and makes_tute(s, s.hand[seat]):
                add_action(out, TUTE, 0, seat)
    if s.rules.exchange_when == OWN_TURN and s.swap & s.hand[trick.seat]:
        add_action(out, CAMBIO, 0, trick.seat)


cdef void solve(State* s, Setup* root, int want, int at_least, Result* out) noexcept nogil:
    cdef Trick trick = read_table(s, root)
    cdef int side, offset = 0, lower, upper, i, value, gap, best, alpha, beta
    cdef uint64_t near, hand = s.hand[trick.seat]
    cdef Found* action
    cdef Found* other
    side = trick.seat & 1 if root.moment in (PLAY, BEFORE_DRAW) else (root.leader & 1) ^ 1
    bounds(s, side, &lower, &upper)
    if not s.game:
        offset = root.points[side] - root.points[side ^ 1]
    out.lower = <int16_t> (lower + offset)
    out.upper = <int16_t> (upper + offset)
    out.count = 0
    if want == VALUE and at_least != UNASKED:
        at_least -= offset
        if lower < at_least <= upper:
            value = search(s, root, at_least - 1, at_least)
            if s.clock.expired:
                pass
            elif value >= at_least:
                out.lower = <int16_t> (value + offset)
            else:
                out.upper = <int16_t> (value + offset)
        out.nodes = s.clock.nodes
        return
    if want == VALUE:
        value = search(s, root, lower - 1, upper + 1)
        if not s.clock.expired:
            out.lower = out.upper = <int16_t> (value + offset)
        out.nodes = s.clock.nodes
        return
    # 1. The position's value, which is its best actions' value and a ceiling for the others.
    best = search(s, root, lower - 1, upper + 1)
    list_actions(s, root, out)
    if not s.clock.expired:
        upper = best
        out.lower = out.upper = <int16_t> (best + offset)
    for i in range(out.count):
        action = &out.action[i]
        action.lower = <int16_t> (lower + offset)
        action.upper = out.upper
    # 2. Which actions reach it, and what the others are worth. Neighbours in one hand differ only in points, worth two
    # of margin each at most; worthless ones do not differ.
    near = with_neighbour_below(
        hand & ~unmergeable(s), (all_hands(s) ^ hand) | trick.table | s.in_stock | unmergeable(s)
    )
    for i in range(out.count):
        if s.clock.expired:
            break
        action = &out.action[i]
        alpha = lower - 1
        beta = upper + 1
        if i and action.kind == CARD and near & bit(action.arg):
            other = &out.action[i - 1]
            gap = 2 * (worth(action.arg) - worth(other.arg))
            if other.arg == highest(hand & (bit(action.arg) - 1)) and (not gap or not s.game):
                if other.lower - offset - gap > lower:
                    action.lower = <int16_t> (other.lower - gap)
                    alpha = action.lower - offset - 1
                if other.upper - offset + gap < upper:
                    action.upper = <int16_t> (other.upper + gap)
                    beta = action.upper - offset + 1
        if action.lower == action.upper or want == BEST and beta <= upper:
            continue
        if beta > upper:
            value = try_action(s, root, action, upper - 1, upper)
            if s.clock.expired:
                break
            action.upper = <int16_t> (min(value, upper) + offset)
            beta = value + 1
            if value >= upper or value <= lower:
                action.lower = action.upper
                continue
        if want == ALL:
            value = try_action(s, root, action, alpha, beta)
            if not s.clock.expired:
                action.lower = action.upper = <int16_t> (value + offset)
    out.nodes = s.clock.nodes


# ---- one step at a time --------------------------------------------------------------------------------------------

cdef uint64_t legal_cards(State* s, Trick* trick) noexcept nogil:
    return legal(s, trick) if trick.count else s.hand[trick.seat]


cdef void lay(State* s, Trick* trick, int card) noexcept nogil:
    if bit(card) & PAIRS:
        s.unsung &= ~(1 << (card >> 4))
    s.hand[trick.seat] ^= bit(card)
    put(s, trick, card)


cdef int who_exchanges(State* s, int leader, bint rivals) noexcept nogil:
    return exchanger(s, leader, rivals)


cdef void exchange(State* s, int seat) noexcept nogil:
    do_exchange(s, seat)


cdef bint can_sing(State* s, int seat, int lane, int leader, int singers) noexcept nogil:
    cdef uint64_t pair = PAIR << (lane * LANE_CARDS)
    return s.unsung >> lane & 1 and s.hand[seat] & pair == pair and may_sing(s, seat, leader, singers)


cdef bint holds_tute(State* s, int seat) noexcept nogil:
    return makes_tute(s, s.hand[seat])


cdef void deal_out(State* s) noexcept nogil:
    s.swap = 0
    s.unsung = still_together(s)


cdef bint has_won(State* s, int side, bint by_trick) noexcept nogil:
    return wins_at_once(s, side) or by_trick and s.ends_on_trick and s.total[side] >= s.rules.target


cdef int cante_points(int lane) noexcept nogil:
    return cante_worth(lane)


cdef void put_down(State* s, Trick* trick, int card) noexcept nogil:
    put(s, trick, card)


cdef int complete(State* s, int winner, int seat, int points, int alpha, int beta) noexcept nogil:
    return finish(s, winner, seat, points, alpha, beta)


cdef bint may_still_sing(State* s, int seat, int leader, int singers) noexcept nogil:
    return may_sing(s, seat, leader, singers)


# ---- the Python side -----------------------------------------------------------------------------------------------

cdef uint64_t table_mask(Setup* root, uint64_t most) noexcept nogil:
    # How much of the table a search uses. A small search in a small table stays in the processor's nearest cache: six
    # tricks took a third less time in 2^9 buckets than in 2^18 (docs/speed.md). Each trick more is worth 8 times the
    # entries, 16 times while cards are drawn.
    cdef int tricks = count(root.hand[(root.leader + root.table_count) % root.rules.players])
    cdef int bits = 9
    if tricks > 6:
        bits += 3 * (tricks - 6)
    if root.stock_count:
        bits += 4 * (root.stock_count // root.rules.players) - 1
    if bits > 30 or <uint64_t> 1 << bits > most:
        return most
    return (<uint64_t> 1 << bits) - 1


cdef class Context:
    def __cinit__(self, int memory_mb=16):
        cdef uint64_t buckets = 1
        if not 1 <= memory_mb <= 65536:
            raise ValueError("memory_mb must be between 1 and 65536")
        while 2 * buckets * BUCKET * sizeof(Entry) <= (<uint64_t> memory_mb << 20):
            buckets *= 2
        self.table.entries = <Entry*> zeroes(buckets * BUCKET * sizeof(Entry))
        if not self.table.entries:
            raise MemoryError(f"no {memory_mb} MB for a transposition table")
        self.most = buckets - 1
        self.salt = 0
        self.clock.stop.store(0)

    def __dealloc__(self):
        give_back(self.table.entries, (self.most + 1) * BUCKET * sizeof(Entry))

    def stop(self):
        self.clock.stop.store(1)

    def resume(self):
        """Forget a stop that was asked for."""
        self.clock.stop.store(0)

    @property
    def hits(self):
        """Positions that were found in the table."""
        return self.table.hits


cdef class Results:
    def __cinit__(self, Py_ssize_t size):
        self.found = <Result*> calloc(size if size else 1, sizeof(Result))
        if not self.found:
            raise MemoryError("no memory for the results")
        self.count = size

    def __dealloc__(self):
        free(self.found)

    def __len__(self):
        return self.count

    cdef Result* at(self, Py_ssize_t i) except NULL:
        if not 0 <= i < self.count:
            raise IndexError("no such result")
        return &self.found[i]

    def summary(self, Py_ssize_t i):
        """(lower, upper, nodes, seconds) of the i-th position."""
        cdef Result* r = self.at(i)
        return r.lower, r.upper, r.nodes, r.seconds

    def actions(self, Py_ssize_t i):
        """[(kind, arg, seat, lower, upper)] of the i-th position."""
        cdef Result* r = self.at(i)
        cdef int k
        return [
            (r.action[k].kind, r.action[k].arg, r.action[k].seat, r.action[k].lower, r.action[k].upper)
            for k in range(r.count)
        ]


def pack_rules(
    *, int players, int beat, bint partner_exempt, bint undertrump_forced, int strict, bint cantes,
    bint cante_by_winner, bint cante_per_member, bint cante_after_lead, int exchange_when, bint exchange_two,
    bint exchange_after, int malas_minimum, bint malas_with_last, bint malas_loses, bint both_over_higher, int vueltas,
    bint claim, int tute, int capote, int last_trick, int target,
):
    """A ruleset as the kernel's bytes, for :func:`pack`."""
    cdef Rules r
    memset(&r, 0, sizeof(Rules))
    r.players = players
    r.beat = beat
    r.partner_exempt = partner_exempt
    r.undertrump_forced = undertrump_forced
    r.strict = strict
    r.cantes = cantes
    r.cante_by_winner = cante_by_winner
    r.cante_per_member = cante_per_member
    r.cante_after_lead = cante_after_lead
    r.exchange_when = exchange_when
    r.exchange_two = exchange_two
    r.exchange_after = exchange_after
    r.malas_minimum = malas_minimum
    r.malas_with_last = malas_with_last
    r.malas_loses = malas_loses
    r.both_over_higher = both_over_higher
    r.vueltas = vueltas
    r.claim = claim
    r.tute = tute
    r.capote = capote
    r.last_trick = last_trick
    r.target = target
    return PyBytes_FromStringAndSize(<char*> &r, sizeof(Rules))


def pack(
    bytes rules, tuple numbers, tuple hands, tuple stock, tuple table, int leader, int moment, int unsung, int singers,
    bint exchanged, bint tute_declared, bint vueltas, bint played, int won, int capote, tuple points, tuple cards,
    tuple carried,
):
    """A position as the kernel's bytes, for :func:`solve_batch`.

    ``numbers[card]`` is the kernel's number of a card; the position must have passed its gate. An unseen card of the
    stock is -1; what is made of it can be completed, but not searched.
    """
    cdef Setup setup
    cdef int i
    cdef object hand, card
    if PyBytes_GET_SIZE(rules) != sizeof(Rules):
        raise ValueError("rules were not made by pack_rules")
    memset(&setup, 0, sizeof(Setup))
    memcpy(&setup.rules, PyBytes_AS_STRING(rules), sizeof(Rules))
    if len(hands) != setup.rules.players or len(stock) > MAX_STOCK or len(table) >= setup.rules.players:
        raise ValueError("hands, stock or table do not fit the number of players")
    for i, hand in enumerate(hands):
        for card in hand:
            setup.hand[i] |= bit(numbers[card])
    for i, card in enumerate(stock):
        setup.stock[i] = numbers[card] if card >= 0 else UNSEEN
    setup.stock_count = len(stock)
    for i, card in enumerate(table):
        setup.table[i] = numbers[card]
    setup.table_count = len(table)
    setup.leader = leader
    setup.moment = moment
    setup.unsung = unsung
    setup.singers = singers
    setup.exchanged = exchanged
    setup.tute_declared = tute_declared
    setup.vueltas = vueltas
    setup.played = played
    setup.won = won
    setup.capote = capote
    for i in range(2):
        setup.points[i] = points[i]
        setup.cards[i] = cards[i]
        setup.carried[i] = carried[i]
    return PyBytes_FromStringAndSize(<char*> &setup, sizeof(Setup))


def solve_batch(
    list setups, Context context, int objective, int want, uint64_t nodes, double seconds, bint fresh,
    int at_least=UNASKED,
):
    """Solve packed positions one after the other, without the GIL.

    ``nodes`` and ``seconds`` (0: no limit) hold for each position. Returns :class:`Results`; a position that was not
    reached because of a stop has the bounds that hold without a search. Where only values are wanted, ``at_least`` asks
    whether they are that high, and nothing more is found out.
    """
    cdef Py_ssize_t i, size = len(setups)
    cdef double begun
    cdef Results results = Results(size)
    cdef Setup* roots = <Setup*> calloc(size if size else 1, sizeof(Setup))
    cdef State s
    cdef bytes setup
    if not roots:
        raise MemoryError("no memory for the positions")
    try:
        for i in range(size):
            setup = setups[i]
            if PyBytes_GET_SIZE(setup) != sizeof(Setup):
                raise ValueError("a position was not made by pack")
            memcpy(&roots[i], PyBytes_AS_STRING(setup), sizeof(Setup))
        with nogil:
            for i in range(size):
                begun = now()
                context.table.age += 1
                if fresh:
                    context.salt += 1
                context.table.mask = table_mask(&roots[i], context.most)
                set_up(&s, &roots[i], objective, context)
                context.clock.nodes = 0
                context.clock.node_limit = nodes if nodes else ~<uint64_t> 0
                context.clock.next_check = 1
                context.clock.deadline = begun + seconds if seconds else 0.0
                context.clock.expired = context.clock.stop.load() != 0
                solve(&s, &roots[i], want, at_least, &results.found[i])
                results.found[i].seconds = now() - begun
    finally:
        free(roots)
    return results
