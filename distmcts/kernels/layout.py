"""The memory of a search: what lies where, who may write it, and when. Read this file first.

The tree, as a person draws it and as it lies in memory (32 bytes a node; children of a node are neighbours, in runs):

          root             node  0      1  | 2     3  | 4     5     6     7  | 8     9  | ...
      /   /  \\   \\              root   -  | A     B  | C     D     .     .  | A1    .  |
     A   B    C   D              first: 2  | next: 4  |                      |          |
     |                                     | first: 8 |                      |          |
     A1                                      1st run of the root,  2nd run     1st run of A

A node gets one child per simulation, in random order. Its first run holds 2 children, the next 4, then 8, ... up to
RUN_LIMIT, the last one only what is left of its legal moves. kernels/runs.py says how a run is found.

One record is four int64 words, the last two of them read as four int32 halves. node.py reads and writes its fields by name:

  field        place      who writes it, how                                              legal transitions
  counts       word 0     visits * ONE_VISIT + in_flight; one atomic operation moves      in_flight up on the way down;
                          simulations from one to the other                               visits up, in_flight down on the way up
  value_sum    word 1     sum of rewards, fixed point; written together with `counts`     any, within visits * SCALE
                          (16-byte compare-and-swap), so that a visit without its
                          reward never exists
  first        half 4     start of the first run; by whoever adds a child; swap           0 to a node, once
  children     half 5     status: how many children, + COMPLETE when no legal move is     count up by 1, or from 0 to all;
                          left, + BY_CHANCE when they are outcomes of a chance event.     COMPLETE, BY_CHANCE 0 to 1, once
                          Swapped after all of a child is written: a count that is
                          read covers moves. Whoever swaps it has created the child
  move         half 6     1 + the move that leads here, before `children`; swap           0 to a move, once
  next         half 7     start of a later run of the same family (runs.py); swap         0 to a node, once

Where workers share a tree, nobody is kept out of a node while another adds a child to it, and nobody waits. All of them write
down the same next child: its place, its move, each by one compare-and-swap that the first one wins. Whoever then raises the count
has created it; the others go on with the child after it. What a worker that lost its core, or its life, left behind is finished
by the next one who comes (expand.py, chance.py; whole families: place.py).

Columns of their own:

  extra        int32      how many simulations ended here beyond the one that created     +1, atomic, after the visit
                          the node (every node but the root counts that one), modulo
                          2^32. Most nodes never touch it
  locks        int32      only with node-locks: 0, or 1 + slot of the worker inside       compare-and-swap; back by the same

Features add columns of their own (features.py). What is in `rave` and `squares` guides selection and is no part of the result: a
worker that is killed may leave one simulation half counted there. In everything else nothing is ever lost.

`visits` and `value_sum` hold finished simulations only; nothing in them is ever undone. Virtual loss and WU-UCT are two ways
of reading `in_flight` (select.py). The value of a node is seen by the player who moved into it; the root's by the player
before the one to move. An outcome of chance is seen by the player who moved into the chance node, whose value therefore is the
mean of its outcomes. So extra turns, chance and more than two players are no special cases.

Fixed point: a reward of 1 is SCALE. Sums are exact, whatever the order in which they are added.

At rest: visits = 1 + extra + visits of the children, for every node (without the 1 for the root); in_flight = 0.
tree/audit.py checks it. Nodes that are added all at once (outcomes, or moves with priors) start with extra = -1: nobody has
evaluated them yet.

A simulation under way is a record, too (Simulation, below). A worker owns one or more of them. Its journal says what is about to
be done before it is done: when the worker is killed, at any instruction, tree/repair.py reads the record and finishes or takes
back what was under way. What a worker can only do once at a time (hold locks, add a child) is noted in its slot. Only the worker
writes to its slot and its records while it lives.
"""

from typing import NamedTuple

import numpy as np

from distmcts.kernels.features import BUFFERS, COLUMNS, SETTINGS

# ---- nodes ---------------------------------------------------------------------------------------------------------------

NODE_BYTES = 32
EXTRA_BYTES = 4
LOCK_BYTES = 4

WORDS = 4  # int64 per node
COUNTS = 0
VALUE_SUM = 1
HALVES = 8  # int32 per node
FIRST = 4
CHILDREN = 5
MOVE = 6
NEXT = 7
NODE = np.dtype([("counts", "i8"), ("value_sum", "i8"), ("first", "i4"), ("children", "i4"), ("move", "i4"), ("next", "i4")])

ROOT = 0
NONE = 0  # no node has the root as a child, so its index can say "none"

IN_FLIGHT_BITS = 20
ONE_VISIT = 1 << IN_FLIGHT_BITS
IN_FLIGHT_MASK = ONE_VISIT - 1
IN_FLIGHT_LIMIT = IN_FLIGHT_MASK // 2  # of all workers together: the count must not run over
SCALE = 1 << 22  # 2^40 visits of reward 1 fill 62 bits: exact up to 10^12 simulations

COMPLETE = 1 << 29
BY_CHANCE = 1 << 28
CHILD_COUNT_MASK = BY_CHANCE - 1

PROOF_ZERO = 2 * SCALE  # of `proofs`: 0 stays "not proven"
PROOF_WON = PROOF_ZERO + SCALE
PLAYER_ZERO = 3  # of `players`: 0 stays "not known", CHANCE and OVER are negative

FIRST_RUN = 2
RUN_LIMIT = 1024
MAX_NODES = 1 << 31  # an index is an int32
MAX_DEPTH = 1024  # a longer path is evaluated where it stands
MAX_PLAYERS = 8

# ---- the heap of a tree (int64 array of 8) --------------------------------------------------------------------------------

ALLOCATED = 0  # nodes handed out in chunks so far; atomic add; only up
CAPACITY = 1
CHUNK = 2  # nodes a worker reserves at a time. All memory that is not in use is 0
HEAP_WORDS = 8

# ---- control words of a search (int64 array; each on a cache line of its own) ---------------------------------------------

PAUSE = 0  # set by the owner of the search: 1: return at the next simulation; ABANDON: the leaf leader leaves even this one
TICKETS = 8  # simulations not yet taken; workers take some at a time; may go below 0
GLOBAL_LOCK = 16  # 0, or 1 + slot of the worker inside
ROUND = 24  # leaf scheme: number of the leaf being played out, or ROUNDS_CLOSED; the leader writes it, its owner opens it
ROUND_PLAYOUTS = 32  # leaf scheme: how many playouts this leaf gets; the leader writes it
ROOT_MOVER = 33  # the player by whom the root's value is seen; changes between searches only
WRITERS = 34  # how many workers share a tree; never changes
CONTROL_WORDS = 40

ABANDON = 2
ROUNDS_CLOSED = -1
SUM_WORDS = 16  # leaf scheme: a worker's last round, then its rewards in it; two cache lines each

# ---- the journal of a simulation (int64 array) ----------------------------------------------------------------------------

STAGE = 0  # IDLE, DESCENT, EVALUATED, BACKUP or STAYING
DEPTH = 1  # nodes on `path`
BORN = 2  # 1 when the last node on the path is new: created by this simulation
BEYOND = 3  # 1 when the position has gone beyond the last node of the path: to an outcome of chance that could not be added
BEGUN = 4  # in BACKUP: last position on the path whose update was begun; goes from DEPTH down to 0
DONE = 5  # in BACKUP: last position whose update was finished; BEGUN, or one more
BACKED_UP = 6  # in BACKUP: how many visits each node of the path gets
BOUND_AT = 7  # in BACKUP, solver: 1 + position on the path whose bound counts from there up; 0: none yet
REDO_COUNTS = 8  # where a plain store is used: what will be written
REDO_VALUE = 9
TAKEN = 10  # tickets taken and not yet used (tickets.py)
KEPT = 11  # how many levels of the path have a quota above 1: those that can stay open (quotas.py)
SIDES = 12  # which side of the children a worker prefers at each level of the path, a bit each (sides.py); never changes
JOURNAL_WORDS = 16

# STAGE also says, where a worker stays below nodes (quotas.py), how many levels of the path are open, and which of the two copies
# of what is pending at each level is the valid one: all of it changes by one store.
IDLE = 0
DESCENT = 1
EVALUATED = 2  # has its rewards, which nobody else knows of yet
BACKUP = 3
STAYING = 4  # between two simulations, with open levels
STAGE_BITS = 8
OPEN_BITS = 8
STAY_DEPTH = 40  # levels that can be open
PENDING_WORDS = 1 + 2 * MAX_PLAYERS  # visits, then the rewards of every player, and the sums of their squares if these are used
MOST_DRAWS = 1024  # visits for which outcomes of chance are drawn beforehand (draws.py)
OUTCOMES = 64  # different ones among them
GROUP_WORDS = 4

# ---- a worker's slot (int64 array) ----------------------------------------------------------------------------------------

EXPANDING_NODE = 0  # 1 + node being given children; 0: none
PENDING_RUN = 1  # start of a run that is reserved but may not be linked yet
PENDING_SIZE = 2
CHUNK_NEXT = 3  # the worker's own reserve of nodes
CHUNK_END = 4
LOCKED_NODE = 5  # 1 + node whose lock is wanted or held
LOCKED_CHILD = 6  # 1 + child whose lock is wanted or held at the same time
SLOT_INDEX = 7  # 1 + number of this worker, as it stands in locks
FINISHED = 8  # simulations finished in this search
BREACH = 9  # how the game broke its contract, or FINE
STAMP = 10  # marks moves that a node already has (expand.py)
RAVE_STAMP = 11  # marks moves played in this simulation (rave.py)
TURN = 12  # simulated workers: whose turn it is; only up
HEARTBEAT = 13  # grows while the worker is alive
DOING = 14  # what the worker is at, for whoever watches: SELECTING, PLAYING, ...
LOCK_SPINS = 15  # turns spent waiting for locks
CLASHES = 16  # times another worker was faster in adding a child
FULL = 17  # times there was no room for a child
EVALUATIONS = 18  # asked of the game
CACHE_HITS = 19  # found in the cache instead
SLOT_WORDS = 24

NO_BOUND = 1 << 62

NOTHING = 0
SELECTING = 1  # and expanding, when EXPANDING_NODE is set
PLAYING = 2
BACKING_UP = 3
WAITING = 4  # for a lock, or for other workers' playouts

# ---- what a kernel returns ------------------------------------------------------------------------------------------------

PAUSED = 0  # PAUSE was set
EXHAUSTED = 1  # no tickets left
SLICE_OVER = 2  # the agreed number of simulations is done; call again
BROKEN = 3  # the game broke its contract: `BREACH` of the slot says how, `state` where; the simulation stays under way
READY = 4  # of a simulation: it has its rewards, and can be backed up

# How a game can break its contract
FINE = 0
NO_MOVES = 1  # no legal moves, but not over
MOVE_OUT_OF_RANGE = 2
TOO_MANY_MOVES = 3  # more than max_moves: the buffer is overrun
BAD_PROBABILITIES = 4  # they do not sum to 1
NO_END = 5  # a playout goes on for ever
KEY_OUT_OF_RANGE = 8  # a RAVE key
BAD_RESULTS = 7  # a result is not a number, or the solver is used where results do not sum to 0
RULES_FAILED = 6  # rules in Python raised an exception; the host knows which

# ---- choices --------------------------------------------------------------------------------------------------------------

READ_NOTHING = 0  # selection does not look at in_flight
READ_VIRTUAL_LOSS = 1
READ_WU_UCT = 2

# Protocols: how workers write to a tree
ALONE = "alone"  # one worker owns the tree (serial, root). No atomics, no in_flight
LEADER = "leader"  # the same, and all workers evaluate what it finds (leaf)
LOCK_FREE = "lockfree"  # workers share the tree. Every update is one atomic operation
NODE_LOCKS = "node-locks"  # workers share the tree. Every update is done under the node's lock
ONE_LOCK = "global-lock"  # workers share the tree, and take turns
PROTOCOLS = (ALONE, LEADER, LOCK_FREE, NODE_LOCKS, ONE_LOCK)
SHARING = (LOCK_FREE, NODE_LOCKS, ONE_LOCK)

# ---- how numbers are packed; for arrays, too --------------------------------------------------------------------------------


def visits_in(counts):
    return counts >> IN_FLIGHT_BITS


def in_flight_in(counts):
    return counts & IN_FLIGHT_MASK


def packed(visits, in_flight):
    """Counts, or what is added to them."""
    return visits * ONE_VISIT + in_flight


def stage_in(word):
    return word & ((1 << STAGE_BITS) - 1)


def open_in(word):
    """How many levels are open."""
    return (word >> STAGE_BITS) & ((1 << OPEN_BITS) - 1)


def copies_in(word):
    """One bit a level: which copy of what is pending there is valid."""
    return word >> (STAGE_BITS + OPEN_BITS)


def stage_word(stage, opened, copies):
    return stage | (opened << STAGE_BITS) | (copies << (STAGE_BITS + OPEN_BITS))


def pending_at(level, copy):
    """Where, in `pending`, one copy of what is pending at a level begins."""
    return (2 * level + copy) * PENDING_WORDS


def child_count(status):
    return status & CHILD_COUNT_MASK


def link_holder(first, before, number):
    """The node whose `next` is the start of run `number` (1 or more); `before` is the start of the run before it. See runs.py."""
    return first + number - 1 if number <= FIRST_RUN else before


def size_after(size):
    """How many children the run after one of this size has."""
    return min(size * 2, RUN_LIMIT)


# ---- the arrays -------------------------------------------------------------------------------------------------------------
# All of them lie in the segment: others can read what a worker wrote when it is dead.

Tree = NamedTuple(
    "Tree",
    [
        ("words", np.ndarray),  # int64 [capacity * WORDS]
        ("halves", np.ndarray),  # int32 [capacity * HALVES], the same bytes
        ("extra", np.ndarray),  # int32 [capacity]
        ("locks", np.ndarray),  # int32 [capacity], or [1] when locks are not used
        ("heap", np.ndarray),  # int64 [HEAP_WORDS]
        # [capacity * elements], or [1] when the search does not use it
        *((column.name, np.ndarray) for column in COLUMNS),
    ],
)


class Simulation(NamedTuple):
    """One simulation under way."""

    journal: np.ndarray  # int64 [JOURNAL_WORDS]
    path: np.ndarray  # int32 [MAX_DEPTH], nodes from the root down
    movers: np.ndarray  # int32 [MAX_DEPTH], the player who moved into each
    rewards: np.ndarray  # int64 [MAX_PLAYERS], fixed point, of all its visits together
    bounds: np.ndarray  # int64 [MAX_DEPTH], solver: what a node of the path is worth by a proof, or NO_BOUND; else [1]
    # Where a worker stays in a subtree (quotas.py); else [1]
    quotas: np.ndarray  # int64 [STAY_DEPTH], visits for which it stays at a level
    pending: np.ndarray  # int64 [STAY_DEPTH * 2 * PENDING_WORDS], finished simulations that nodes up from a level do not have yet
    positions: np.ndarray  # uint64 [STAY_DEPTH * state_words], the position at each level
    draws: np.ndarray  # int32 [STAY_DEPTH * OUTCOMES * 2], outcomes drawn beforehand; without chance [1]
    groups: np.ndarray  # int64 [STAY_DEPTH * GROUP_WORDS], how far these are served; without chance [1]


def simulation_of(worker, index):
    """One of a worker's records. Those of `simulations` have a row for each."""
    rows = worker.simulations
    return Simulation(
        rows.journal[index],
        rows.path[index],
        rows.movers[index],
        rows.rewards[index],
        rows.bounds[index],
        rows.quotas[index],
        rows.pending[index],
        rows.positions[index],
        rows.draws[index],
        rows.groups[index],
    )


Worker = NamedTuple(
    "Worker",
    [
        ("slot", np.ndarray),  # int64 [SLOT_WORDS]
        ("simulations", Simulation),  # a row for each
        ("results", np.ndarray),  # float64 [MAX_PLAYERS], as the game writes them
        ("rng", np.ndarray),  # uint64 [2]
        ("state", np.ndarray),  # uint64 [state_words of the game]
        ("moves", np.ndarray),  # int64 [list_length of the game]
        ("marks", np.ndarray),  # int64 [mark_count of the game]
        ("outcomes", np.ndarray),  # int64 [max_outcomes of the game]
        ("probabilities", np.ndarray),  # float64 [max_outcomes of the game]
        ("trial", np.ndarray),  # uint64 [2 * state_words of the game]: positions looked at and left again
        *((buffer.name, np.ndarray) for buffer in BUFFERS),
    ],
)


class Shared(NamedTuple):
    """What all workers of a search read."""

    control: np.ndarray  # int64 [CONTROL_WORDS]
    root_state: np.ndarray  # uint64 [state_words of the game]
    leaf_state: np.ndarray  # uint64 [state_words of the game], leaf scheme
    sums: np.ndarray  # int64 [workers * SUM_WORDS], leaf scheme; each worker writes its own lines
    cache: np.ndarray  # uint64 [entries * (1 + players of the game)], evaluation cache; else [1]


# How to search, in plain numbers: a change of them compiles nothing.
Settings = NamedTuple(
    "Settings",
    [
        ("c", float),  # exploration constant
        ("reading", int),  # of in_flight: READ_NOTHING, READ_VIRTUAL_LOSS, READ_WU_UCT
        ("weight", float),  # of one simulation in flight
        ("cutoff", int),  # moves in a playout before the evaluation is asked; -1: play to the end
        # read only by searches with the feature
        *((setting.name, setting.kind) for setting in SETTINGS if setting.off is not None),
    ],
)
