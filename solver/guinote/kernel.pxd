# The exact kernel of the Guiñote family: what it is told, what it keeps while searching, what it answers.
#
# Cards are numbered lane*16 + strength. Lane 0 is the trump suit, the other suits follow in the order O C E B.
# Strength 0..9 is the rank, weakest first: 2 4 5 6 7, the figure worth 2, the figure worth 3 (the *mate*), rey, tres,
# as. Which figure is which (sota or caballo) is thereby settled before a search starts, and so is the deck.
#
# Values. Under `points` a value is the margin still to come: points that the side in question takes from here to the
# end of the deal, less those of the other side. Under `game` it is 1, 0 or -1: that side wins the game, nobody does in
# this deal, it loses. Every function below states whose side's value it returns; sides alternate around the table, so
# within a trick the value changes sign from one seat to the next, and between tricks it is always the leader's.
#
# Invariants of a State between calls:
#   - hand[], stock[stock_next:stock_count] and the cards of the trick in progress are disjoint; nothing else is left;
#   - left = points of all those cards, the trick's too until it is complete, plus the bonus for the last trick;
#   - swap is the one card that may be exchanged for the muestra (the 7 of trumps, or the 2 when a 7 was turned up),
#     0 once no exchange is possible any more;
#   - unsung has a lane's bit as long as its cante may still be sung: rey and mate are in play and, once the stock is
#     gone, in one hand;
#   - every do_… is undone by its caller before it returns, so a State is the same after a call as before it.

from libc.stdint cimport int16_t, int32_t, uint8_t, uint32_t, uint64_t

from arrastre.search.clock cimport Clock
from arrastre.search.table cimport Hash, Table

cdef enum:
    LANE_CARDS = 16
    MAX_PLAYERS = 4
    MAX_STOCK = 38          # two players, a card each in the hand
    MAX_ACTIONS = 28        # 10 cards, 4 cantes by either partner, 2 exchanges, 2 tutes, rounded up
    PLACES = 32
    CARDS_LEFT = 16
    FIRST_LEAD = -1
    INFINITE = 20000        # beyond any margin
    UNASKED = -INFINITE
    POINTS = 0              # objectives
    GAME = 1
    ALL = 0                 # what is wanted: every action's value, which actions are best, the value alone
    BEST = 1
    VALUE = 2
    UNSEEN = 255            # in a Setup's stock, a card still to be filled in

cdef enum Moment:
    PLAY                    # the next seat plays a card; at the lead, the winner's side may declare first
    RIVALS                  # the rivals of the leader may exchange, before that
    BEFORE_DRAW_RIVALS      # the same, before the last draw
    BEFORE_DRAW             # the winner's side may exchange before the last draw

cdef enum Kind:
    CARD                    # arg: the card
    CANTE                   # arg: the lane
    CAMBIO
    TUTE
    PASS

cdef enum Beat:
    BEAT_YES                # beat the winning card of the suit led unless the trick has been trumped
    BEAT_NO
    BEAT_LED_SUIT           # beat the best card of the suit led, trumped or not

cdef enum Exchange:
    ANY_TRICK_WON
    LAST_TRICK_WON
    ON_LEAD
    OWN_TURN

cdef enum Strict:
    STRICT_ARRASTRE         # duties hold once the stock is gone
    STRICT_ALWAYS
    STRICT_NEVER

cdef enum Vueltas:
    AT_ONCE
    WON_TRICK
    END_OF_DEAL

cdef enum:
    SCORES_40 = 1           # tute, capote: 0 none, then
    WINS = 2
    SCORES_100 = 1

cdef struct Rules:
    # A Ruleset as numbers; see arrastre.guinote.rules for what each field means.
    uint8_t players
    uint8_t beat                # Beat
    uint8_t partner_exempt
    uint8_t undertrump_forced
    uint8_t strict              # Strict
    uint8_t cantes
    uint8_t cante_by_winner     # only the leader sings, not the leader's partner
    uint8_t cante_per_member    # one for each member a trick, not one for the side
    uint8_t cante_after_lead    # the window stays open until a rival has played (cante_window rival_play)
    uint8_t exchange_when       # Exchange
    uint8_t exchange_two
    uint8_t exchange_after      # exchange_after_last_draw_trick
    uint8_t malas_minimum
    uint8_t malas_with_last     # the bonus for the last trick counts towards the minimum
    uint8_t malas_loses
    uint8_t both_over_higher    # the higher score wins, not the last trick
    uint8_t vueltas             # Vueltas
    uint8_t claim
    uint8_t tute                # 0, SCORES_40, WINS
    uint8_t capote              # 0, SCORES_100, WINS
    uint8_t last_trick
    int16_t target

cdef struct Setup:
    # A position as the kernel is told it: plain bytes, made by pack() and copied about freely.
    Rules rules
    uint64_t hand[MAX_PLAYERS]
    uint8_t stock[MAX_STOCK]    # top first, the muestra last
    uint8_t stock_count
    uint8_t table[MAX_PLAYERS]  # the trick in progress, in the order played
    uint8_t table_count
    uint8_t leader
    uint8_t moment              # Moment
    uint8_t unsung              # a bit a lane
    uint8_t singers             # seats that have sung in the window that is open now
    uint8_t exchanged
    uint8_t tute_declared
    uint8_t vueltas
    uint8_t played              # whether a trick has been completed
    uint8_t won                 # a bit for each side that has won a trick
    uint8_t capote              # a bit for each side that may still take every trick
    int16_t points[2]           # by side, this deal's
    int16_t cards[2]            # by side, of which from cards
    int16_t carried[2]

cdef struct Found:
    # One action and the bounds proven of it, for the acting side, points already made included.
    uint8_t kind                # Kind
    uint8_t arg
    uint8_t seat
    int16_t lower
    int16_t upper

cdef struct Result:
    int16_t lower               # of the position
    int16_t upper
    uint8_t count
    uint64_t nodes
    double seconds
    Found action[MAX_ACTIONS]

cdef struct Trick:
    # A trick in progress. With no card on the table only `seat`, `count`, `points` and `table` mean anything.
    int seat                    # to play
    int count                   # cards on the table
    int lane                    # of the suit led
    int win                     # the card that is winning
    int winner                  # and who played it
    int points                  # on the table
    uint64_t table              # the cards on the table

cdef struct State:
    Rules rules
    uint64_t hand[MAX_PLAYERS]
    uint64_t in_stock           # cards still to be drawn
    uint64_t swap
    uint8_t stock[MAX_STOCK]
    int stock_next
    int stock_count
    int unsung
    int tute_open               # a tute counts under this objective and has not been declared
    int won
    int capote                  # side bits; 0 where a capote cannot count
    int played
    bint plain                  # nothing counts but points and cantes: no game to win, no capote, no tute
    int left
    int exchanged_for           # the muestra that the exchange in progress brought in, for undo_exchange
    # Under `game` only:
    bint game
    int total[2]                # carried and made
    int cards[2]                # towards the malas minimum
    int minimum                 # 0 in a carried-over deal
    bint ends_at_once           # the target wins the moment it is reached
    bint ends_on_trick          # ... at the first trick won with it
    uint64_t stock_hash[MAX_STOCK + 1]  # of the stock from a place down to, not including, the muestra
    uint64_t signature          # rules, objective and freshness, in every hash
    # The card that last raised alpha for a seat in such a place, by cards on the table, suit led, whether its own side
    # was winning, and draw tricks left or, in the ending, CARDS_LEFT + cards in hand.
    uint8_t reply[MAX_PLAYERS][MAX_PLAYERS][4][2][PLACES]
    # Of a large table a part is kept for the ends of deals, which are many and soon forgotten, so that it stays in the
    # processor's near cache: buckets there are masked by `near`, all others have the bit `far`.
    uint64_t near
    uint64_t far
    Table* table
    Clock* clock

# The entry points; all else is the kernel's own. Both leave `s` as they found it.
# search: the value of `root` for its acting side, within alpha and beta (fail-soft).
# solve: bounds of the actions in `out`, exact unless s.clock expired on the way. Where the value alone is wanted, its
#   bounds only until they tell whether it is `at_least` (points already made included) unless that is UNASKED.
cdef int search(State* s, Setup* root, int alpha, int beta) noexcept nogil
cdef void solve(State* s, Setup* root, int want, int at_least, Result* out) noexcept nogil

cdef class Context:
    # One thread's working memory: a table and a clock. `salt` hides what the table holds from a fresh start.
    cdef Table table
    cdef Clock clock
    cdef uint64_t most          # the mask that uses the whole table; table.mask is what the present search uses
    cdef uint64_t salt


cdef class Results:
    # What solve_batch found, in the order asked; decoded when looked at.
    cdef Result* found
    cdef readonly Py_ssize_t count
    cdef Result* at(self, Py_ssize_t i) except NULL


# For whoever walks through a deal one step at a time (playout.pyx); none of these searches but try_action.
# set_up: a State for `root`. table_mask: how much of a table of `most` + 1 buckets its search should use.
# list_actions, try_action: the legal actions of the side to act, and the value of one of them for that side, the side
# declaring nothing before it.
# read_table: the trick in progress. lay: play a card; legal_cards: those that may be. who_exchanges, can_sing,
# holds_tute: who may declare now?
# deal_out: the last card has been drawn. has_won: whether points just gained end the game for `side`.
# judge: the deal is over: 1 side 0 wins the game, -1 side 1 does, 0 neither.
cdef void set_up(State* s, Setup* root, int objective, Context context) noexcept nogil
cdef uint64_t table_mask(Setup* root, uint64_t most) noexcept nogil
cdef void list_actions(State* s, Setup* root, Result* out) noexcept nogil
cdef int try_action(State* s, Setup* root, Found* action, int alpha, int beta) noexcept nogil
cdef uint64_t legal_cards(State* s, Trick* trick) noexcept nogil
cdef Trick read_table(State* s, Setup* root) noexcept nogil
cdef void lay(State* s, Trick* trick, int card) noexcept nogil
cdef int who_exchanges(State* s, int leader, bint rivals) noexcept nogil
cdef void exchange(State* s, int seat) noexcept nogil
cdef bint can_sing(State* s, int seat, int lane, int leader, int singers) noexcept nogil
cdef bint holds_tute(State* s, int seat) noexcept nogil
cdef void deal_out(State* s) noexcept nogil
cdef bint has_won(State* s, int side, bint by_trick) noexcept nogil
cdef int judge(State* s, int last_winner) noexcept nogil

# For the last two tricks (vector.pyx).
# put_down: a card on the table, no more. complete: the value for the side of `seat` of a trick that is complete, and of
# what follows. may_still_sing: whether a seat of the leader's side has a cante left in the open window.
cdef int cante_points(int lane) noexcept nogil
cdef void put_down(State* s, Trick* trick, int card) noexcept nogil
cdef int complete(State* s, int winner, int seat, int points, int alpha, int beta) noexcept nogil
cdef bint may_still_sing(State* s, int seat, int leader, int singers) noexcept nogil
