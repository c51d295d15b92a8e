# The last two tricks of four players when cards are hidden: one strategy for all worlds at once.
#
# A world is one way to lay the unseen cards; the worlds given are all there are and weigh the same. The side of the
# *root* seat must act alike in worlds that it cannot tell apart, the rivals see the world and answer the strategy as
# they like, in each world for themselves. What a seat of the own side can tell: its own hand, the cards played and the
# cantes sung. A strategy is fixed before the root's action, knowing the root's hand, and names one action for whatever
# its seats can tell apart. The value of an action is the greatest mean, over strategies that begin with it, of the
# worlds' least outcomes; mixing strategies would not raise it, as the rivals know what is drawn.
#
# No fronts of vectors are kept, because with two tricks left they can be done without. The last trick plays itself, so
# all choices fall in the first, and the own side has at most two cards to choose in it:
#
#   - Root plays third or fourth, or the last trick: no choice but the action itself. Each world is worth its minimum.
#   - Root plays first or second: a rival's card x, then the partner's. Its hand h is one of 15, and h and x are all it
#     can tell. Worlds with different h have nothing in common, so each h is decided alone: for each of the at most 4
#     cards x that a rival may show, one of two replies, which makes at most 2^4 = 16 ways. They cannot be chosen card
#     by card: the rival chooses x, so that all the replies of one way together make the worlds' minima.
#   - Root sings and leads: the partner's own cante, where it may sing too, sorts the worlds; in each sort the lead is
#     the better of two, worth what the case above says.
#   - Root is the leader's partner (it sings or lets the cante be) and plays third: the leader knows h and leads d, one
#     of its two cards; the root knows d and the rival's x. Given which hands lead d, the root's replies to d are
#     decided alone, in at most 2^5 = 32 ways. So there is a table for each of the 6 cards d: the most that it yields
#     for each set of the at most 5 hands that might lead it; and of the 2^15 ways to lead the best is looked up in it.
#
# The numbers hold because eight cards are left in all (two tricks), two of them the root's: six others, hence
# C(6,2) = 15 hands. Worlds that do not agree in which cards are left are refused on entry.
#
# Own side sings whenever it can: points made now are never worse than points not made, and who hears a cante only
# knows more. The exception is the root's action itself, which is what it says: a card led ends the window (under
# cante_window own_lead; under rival_play the partner still sings after it), and a root that passes sings nothing.

from libc.stdint cimport int16_t, int8_t, uint8_t, uint64_t

from arrastre.guinote.kernel cimport MAX_PLAYERS, Setup, State

cdef enum:
    MOST_HANDS = 15         # of the leader, each two of six cards
    MOST_LEADS = 6
    MOST_SHARING = 5        # hands that hold a certain card
    MOST_WAYS = 32          # of replying to one lead: one bit for each of five cards of the rival
    NO_CANTE = -1

cdef struct World:
    uint64_t hand[MAX_PLAYERS]
    int16_t gain            # what own side sings in it after the action, before the rival plays
    uint8_t over            # that wins the game at once
    int8_t heard            # lane of the cante that the root hears from its partner before the lead, or NO_CANTE

cdef struct Branch:
    # What a world comes to after a lead (and the root's card): by the rival's next card, then by own side's reply, the
    # lower or the higher of its legal cards. Where only one is legal both count the same.
    int count
    int card[2]             # the rival's
    double value[2][2]      # [card][reply]

cdef struct Desk:
    # One action being valued. Between calls `s` holds no particular world.
    State s
    Setup root
    int seat                # the root's
    int offset              # points of the deal so far, own less the rivals'
    int total               # own side's, carried points included (under `game`), before World.gain
    int gain                # World.gain and .over of the world on the table
    bint over
    const double* equity
    int equity_own          # its shape
    int equity_rivals
    World* worlds
    Py_ssize_t count
    Branch* branches        # one for each world and each of two leads
    double* trial           # one for each world
    uint8_t* taken          # likewise
