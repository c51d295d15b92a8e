# Deals played on by a policy: what an action is worth in a world when nobody sees more than a player can.
#
# The policy. Every seat chooses from a View: its own hand, the table, which cards are out (in other hands or in the
# stock, it cannot tell which), and the public state of the deal. There is no chance in it. Its rules:
#
#   declarations    1. exchange, if the muestra is the higher card; 2. declare a tute; 3. sing, trumps first.
#                   Whatever is allowed is done at once.
#   cards           play the card with the highest score, the weakest of them (by kernel number) where scores are equal:
#                       score = (2p - 1) * points + p * (TEMPO + pending) - cost
#     p             the chance that the side takes the trick: that nobody after the seat on the other side beats the
#                   winning card if it is the side's; three quarters of the chance that the partner beats it if not.
#                   Each hand to come is reckoned as that many draws from the cards out (see survival()).
#     beaters       higher cards of the suit count fully. Trumps count the more the more there is to win, while cards are
#                   drawn; in strict play they count for the share of hands that may be void.
#     points        on the table, with the card itself.
#     pending       what a won trick opens: an own cante not yet sung (its worth, quartered), the exchange.
#     cost          what the card would still be good for (COST_DRAW, COST_STRICT): trumps and tres and as are saved; rey
#                   and mate of a suit that may still be sung are kept together, the more so when both are held.
#
# From a score that weighs points by chances the usual maxims follow: throw low when losing, give the partner's sure
# trick points, take with the cheapest card that does it, ruff a tres or an as, lead low from plain suits.
#
# Draws. While the stock's order is unknown, the card that seat s draws t-th is the same whatever happens: the stock's
# card t * players + s. In the last draw the muestra goes to whoever draws last, and the seat to which its place belongs
# takes that seat's card. Values of two actions in one world then differ by the actions rather than by the luck of the
# draw. A stock of which single cards are known is drawn in its order.

from libc.stdint cimport uint8_t, uint64_t

from arrastre.guinote.kernel cimport MAX_PLAYERS, Context, Found, Result, Rules, Setup, State, Trick

cdef enum:
    ONE = 1024                  # a chance of one
    INFORMED = 0                # views
    CLAIRVOYANT = 1
    TO_THE_END = -1             # a depth: exact search takes over nowhere

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
    uint64_t swap               # the card that may be exchanged, or 0

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
    int tricks[2]
    int cantes[2]               # points from cantes and tutes in this walk

# choose: the card that the policy plays.
cdef int choose(View* v) noexcept nogil


