# Deals played on by a policy: what an action is worth in a world when nobody sees more than a player can.
#
# The policy. Every seat chooses from a View: its own hand, the table, which cards are out (in other hands or in the
# stock, it cannot tell which), and the public state of the deal. There is no chance in it.
#
#   declarations    whatever is allowed is done at once: 1. exchange, if the muestra is the higher card; 2. declare a
#                   tute; 3. sing, trumps first.
#   cards           play the card with the highest score, of equals the one of the lowest number:
#                       score = (2p - 1) * stake + p * HASTE - cost
#     p             the chance that the side takes the trick: if the winning card is the side's then, that no rival to
#                   come beats it; if not, a share (PARTNER) of the chance that the partner to come does. Each hand to
#                   come is reckoned as that many draws from the cards out (survival()).
#     beaters       higher cards of the suit and trumps. While there are no duties they count for less, trumps the less
#                   the less there is to win; where there are, trumps count once the suit led is out nowhere.
#     stake         points on the table, with the card itself, and what the seats to come will add (LATER_...).
#     cost          what the card would still be good for (COST_...): trumps, tres and as are saved; rey and mate that
#                   may still be sung stay together (SING_...); a card alone in its suit goes more easily (ALONE_...);
#                   what leads cost or gain besides (LEAD_...).
#
# From a score that weighs points by chances the usual maxims follow: throw low when losing, give the partner's sure
# trick points, take with the cheapest card that does it, ruff a tres or an as, lead low from plain suits while cards
# are drawn and trumps after. In 20 000 duplicate deals it gained 46 points a deal on a random and 47 on a greedy player
# (two players: 70 and 64), with a standard error of 0.2; all declared alike (play_out).
#
# Draws. While the stock's order is unknown, the card that seat s draws t-th is the same whatever happens: the stock's
# card t * players + s. In the last draw the muestra goes to whoever draws last, and the seat to which its place belongs
# takes that seat's card. Values of two actions in one world then differ by the actions rather than by the luck of the
# draw. A stock of which single cards are known is drawn in its order.

from libc.stdint cimport int16_t, uint8_t, uint64_t

from arrastre.guinote.kernel cimport MAX_PLAYERS, Found, Setup, State, Trick

cdef enum:
    ONE = 1024                  # a chance of one
    INFORMED = 0                # views
    CLAIRVOYANT = 1
    POLICY = 0                  # styles of play: this policy, and two yardsticks for it
    GREEDY = 1
    RANDOM = 2
    GAINED_TRICK = 1            # kinds of gains: cards of a trick, the last trick's bonus, a cante, a tute, a capote
    GAINED_LAST = 2
    GAINED_CANTE = 3
    GAINED_TUTE = 4             # of no points where a tute wins the game
    GAINED_CAPOTE = 5
    GAINS = 32                  # at the most: 20 tricks, 4 cantes, a tute, the last trick, a capote

cdef struct View:
    # What a seat that must play a card knows.
    uint64_t hand
    uint64_t legal              # of the hand
    uint64_t out                # cards in other hands or in the stock
    int seat
    int players
    int count                   # cards on the table; with none, win, winner and points mean nothing
    int lane
    int win
    int winner
    int points
    bint strict                 # whether duties hold in this trick
    bint drawing                # whether cards are drawn after this trick
    int unsung                  # a bit for each lane whose cante may still be sung by somebody
    bint sings                  # whether there are cantes at all

cdef struct Walk:
    # A deal on its way. `s` is set up for `game`, so that totals, tute and capote are kept; it is never undone.
    State s
    Trick trick
    uint8_t order[MAX_PLAYERS]  # the cards on the table, in the order played
    int leader
    int moment
    int singers
    int excused                 # a bit for each seat that declares nothing before the next card
    bint coupled                # draws go by seat
    bint game                   # whether the deal ends when the game is won
    int decided                 # 1: side 0 has won the game, -1: side 1 has; 0: go on
    bint over                   # no card is left, or the game is decided
    int styles[2]               # by side
    uint64_t random             # of the random player
    int tricks[2]               # since the walk began
    int cantes[2]               # points from cantes and tutes in this walk
    int16_t* log                # where every gain is noted (kind, side, points), or NULL
    int logged                  # how many have been

# choose: the card that the policy plays.
cdef int choose(View* v) noexcept nogil

# For whoever walks by choices of its own (ismcts.pyx).
# begin: set out from `root`, for which `s` was set up under `game`. decide: what the policy does next. perform: do it.
# view_of: what the seat to play knows. walk: on by the styles until no more than `tricks` tricks are left.
# fill: put every item of a world in its place; False if that leaves the position unsound.
cdef void begin(Walk* w, State* s, Setup* root, bint coupled, bint game) noexcept nogil
cdef void decide(Walk* w, bint declarations_only, Found* action) noexcept nogil
cdef void perform(Walk* w, Found* action) noexcept nogil
cdef void view_of(Walk* w, View* v) noexcept nogil
cdef void walk(Walk* w, int tricks) noexcept nogil
cdef int any_of(Walk* w, uint64_t cards) noexcept nogil
cdef bint fill(
    Setup* root, const uint8_t* numbers, const uint8_t* targets, const uint8_t* places, Py_ssize_t items
) noexcept nogil
