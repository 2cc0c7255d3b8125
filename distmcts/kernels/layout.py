"""The memory of a search: what lies where, who may write it, and when. Read this file first.

The tree, as a person draws it and as it lies in memory (32 bytes a node; children of a node are neighbours, in runs):

          root             node  0      1  | 2     3  | 4     5     6     7  | 8     9  | ...
      /   /  \\   \\              root   -  | A     B  | C     D     .     .  | A1    .  |
     A   B    C   D              first: 2  | next: 4  |                      |          |
     |                                     | first: 8 |                      |          |
     A1                                      1st run of the root,  2nd run     1st run of A

A node gets one child per simulation, in random order. Its first run holds 2 children, the next 4, then 8, ... up to
RUN_LIMIT, the last one only what is left of its legal moves. kernels/runs.py says how a run is found.

One record is four int64 words, the last two of them read as four int32 halves:

  field        place      who writes it, how                                              legal transitions
  counts       word 0     visits * ONE_VISIT + in_flight; one atomic operation moves      in_flight +1 on the way down;
                          a simulation from one to the other                              visits +1, in_flight -1 on the way up
  value_sum    word 1     sum of rewards, fixed point, unit 1 / SCALE; written together   any, within visits * SCALE
                          with `counts` (16-byte compare-and-swap), so that a visit
                          without its reward never exists
  first        half 4     start of the first run; by the holder of EXPANDING              0 to a node, once
  children     half 5     how many children, + COMPLETE when no legal move is left,       count up; EXPANDING 0 to 1 by
                          + EXPANDING while one worker adds a child. Released after the   compare-and-swap, back by the same
                          child's move is written, so that who reads a count sees moves   worker; COMPLETE, BY_CHANCE 0 to 1,
                          + BY_CHANCE when they are outcomes of a chance event            once
  move         half 6     the move that leads here; by the creator, before `children`     once
  next         half 7     start of a later run of the same family (kernels/runs.py);     0 to a node, once
                          by the holder of EXPANDING

Columns of their own:

  extra        int32      how many simulations ended here beyond the one that created     +1, atomic, after the visit
                          the node (every node but the root counts that one), modulo
                          2^32. Most nodes never touch it
  locks        int32      only with node-locks: 0, or 1 + slot of the worker inside       compare-and-swap; back by the same

Columns that a tree has only when its search uses them (elsewhere they have one element):

  high         int32      upper half of `move`, of games with more than 2^31 moves; by    once
                          the creator, before `children`; so are the next three
  hashes       int64      chance="hashed": the hash of an outcome's position              once
  priors       float32    PUCT: of a move; solver, or games in Python: the probability    once
                          of an outcome
  keys         int32      RAVE: what the move is filed under                              once
  rave         int64 x 2  RAVE: visits and sum of rewards; two atomic adds                any; sum within visits * SCALE
  squares      int64      UCB1-Tuned: sum of squared rewards, unit 1 / SCALE; atomic      only up
  proofs       int32      solver: 0, or PROOF_ZERO + the exact value, unit 1 / SCALE;     0 to a value, once
                          who writes it twice writes the same
  players      int32      games in Python: who is to move, + PLAYER_ZERO                  0 to a player, once

What is in `rave` and `squares` guides selection and is no part of the result: a worker that is killed may leave one simulation
half counted there. In everything else nothing is ever lost.

`visits` and `value_sum` hold finished simulations only; nothing in them is ever undone. Virtual loss and WU-UCT are two ways
of reading `in_flight` (select.py). The value of a node is seen by the player who moved into it; the root's by the player
before the one to move. An outcome of chance is seen by who moved into the chance node, whose value so is the mean of its
outcomes. So extra turns, chance and more than two players are no special cases.

At rest: visits = 1 + extra + visits of the children, for every node (without the 1 for the root); in_flight = 0.
tree/audit.py checks it. Nodes that are added all at once (outcomes, or moves with priors) start with extra = -1: nobody has
evaluated them yet.

The journal. Each worker has a slot, and writes there what it is about to do before it does it. When it is killed, at any
instruction, tree/repair.py reads the slot and finishes or takes back what was under way. Only the worker writes to its
slot while it lives.
"""

from typing import NamedTuple

import numpy as np

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

ROOT = 0
NONE = 0  # no node has the root as a child, so its index can say "none"

IN_FLIGHT_BITS = 20
ONE_VISIT = 1 << IN_FLIGHT_BITS
IN_FLIGHT_MASK = ONE_VISIT - 1
SCALE = 1 << 22  # 2^40 visits of reward 1 fill 62 bits: exact up to 10^12 simulations

EXPANDING = 1 << 30
COMPLETE = 1 << 29
BY_CHANCE = 1 << 28
CHILD_COUNT_MASK = BY_CHANCE - 1

PROOF_ZERO = 2 * SCALE  # of `proofs`: 0 stays "not proven"
PROOF_WON = PROOF_ZERO + SCALE
PLAYER_ZERO = 3  # of `players`: 0 stays "not known", CHANCE and OVER are negative

# Optional columns: dtype, elements a node
OPTIONAL = {
    "high": ("i4", 1),
    "hashes": ("i8", 1),
    "priors": ("f4", 1),
    "keys": ("i4", 1),
    "rave": ("i8", 2),
    "squares": ("i8", 1),
    "proofs": ("i4", 1),
    "players": ("i4", 1),
}

FIRST_RUN = 2
RUN_LIMIT = 1024
MAX_NODES = 1 << 31  # an index is an int32
MAX_DEPTH = 1024  # a longer path is evaluated where it stands
MAX_PLAYERS = 8

# ---- the heap of a tree (int64 array of 8) --------------------------------------------------------------------------------

ALLOCATED = 0  # nodes handed out in chunks so far; atomic add; only up
CAPACITY = 1
CHUNK = 2  # nodes a worker reserves at a time
HEAP_WORDS = 8

# ---- control words of a search (int64 array; each on a cache line of its own) ---------------------------------------------

PAUSE = 0  # set by the owner of the search: 1: return at the next simulation; ABANDON: the leaf leader leaves even this one
TICKETS = 8  # simulations not yet taken; workers take some at a time; may go below 0
GLOBAL_LOCK = 16  # 0, or 1 + slot of the worker inside
ROUND = 24  # leaf scheme: number of the leaf being played out, or ROUNDS_CLOSED; the leader writes it, its owner opens it
ROUND_PLAYOUTS = 32  # leaf scheme: how many playouts this leaf gets
ROOT_MOVER = 33  # the player by whom the root's value is seen; changes between searches only
CONTROL_WORDS = 40

ABANDON = 2
ROUNDS_CLOSED = -1
ANSWER_WORDS = 16  # leaf scheme: a worker's last round, then its rewards in it; two cache lines each

# ---- a worker's slot (int64 array) ----------------------------------------------------------------------------------------

STAGE = 0  # IDLE, DESCENT or BACKUP
DEPTH = 1  # nodes on `path`
BEGUN = 2  # in BACKUP: last position on the path whose update was begun; goes from DEPTH down to 0
DONE = 3  # in BACKUP: last position whose update was finished; BEGUN, or one more
BACKED_UP = 4  # in BACKUP: how many visits each node of the path gets
EXPANDING_NODE = 5  # 1 + node being given a child; 0: none
PENDING_RUN = 6  # start of a run that is reserved but may not be linked yet
PENDING_SIZE = 7
REDO_COUNTS = 8  # where a plain store is used: what will be written
REDO_VALUE = 9
CHUNK_NEXT = 10  # the worker's own reserve of nodes
CHUNK_END = 11
TAKEN = 12  # tickets taken and not yet used
FINISHED = 13  # simulations finished in this search
LOCKED_NODE = 14  # 1 + node whose lock is wanted or held
LOCKED_CHILD = 15  # 1 + child whose lock is wanted or held at the same time
LOCK_SPINS = 16  # turns spent waiting for locks
CLASHES = 17  # times a node was being expanded by another worker
FULL = 18  # times there was no room for a child
STAMP = 19  # marks moves that a node already has (expand.py)
HEARTBEAT = 20  # grows while the worker is alive
BORN = 21  # 1 when the last node on the path is new: created by this simulation
SLOT_INDEX = 22  # 1 + number of this worker, as it stands in locks
DOING = 23  # what the worker is at, for those who look on: SELECTING, PLAYING, ...; no part of the journal
BREACH = 24  # how the game broke its contract, or FINE
RAVE_STAMP = 25  # marks moves played in this simulation (rave.py)
EVALUATIONS = 26  # asked of the game
CACHE_HITS = 27  # found in the cache instead
BEYOND = 29  # 1 when `state` has gone beyond the last node of the path: to an outcome of chance that could not be added
BOUND_AT = 28  # in BACKUP, solver: 1 + position on the path whose bound counts from there up; 0: none yet
SLOT_WORDS = 32

NO_BOUND = 1 << 62

IDLE = 0
DESCENT = 1
BACKUP = 2

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

LOCK_FREE = 0
NODE_LOCKS = 1
ONE_LOCK = 2

READ_NOTHING = 0  # selection does not look at in_flight
READ_VIRTUAL_LOSS = 1
READ_WU_UCT = 2

ENUMERATED = 0  # chance: all outcomes are added with their probabilities
HASHED = 1  # chance: outcomes are added as they come, told apart by the hash of their position


class Tree(NamedTuple):
    """One tree. All arrays lie in the segment."""

    words: np.ndarray  # int64 [capacity * WORDS]
    halves: np.ndarray  # int32 [capacity * HALVES], the same bytes
    extra: np.ndarray  # int32 [capacity]
    locks: np.ndarray  # int32 [capacity], or [1] when locks are not used
    heap: np.ndarray  # int64 [HEAP_WORDS]
    # As in OPTIONAL: [capacity * elements], or [1] when the search does not use it
    high: np.ndarray
    hashes: np.ndarray
    priors: np.ndarray
    keys: np.ndarray
    rave: np.ndarray
    squares: np.ndarray
    proofs: np.ndarray
    players: np.ndarray


class Worker(NamedTuple):
    """What one worker writes to. All arrays lie in the segment, so that others can read them when it is dead."""

    slot: np.ndarray  # int64 [SLOT_WORDS]
    path: np.ndarray  # int32 [MAX_DEPTH], nodes from the root down
    movers: np.ndarray  # int32 [MAX_DEPTH], the player who moved into each
    rewards: np.ndarray  # int64 [MAX_PLAYERS], of the simulation being backed up; unit 1 / SCALE
    results: np.ndarray  # float64 [MAX_PLAYERS], as the game writes them
    rng: np.ndarray  # uint64 [2]
    state: np.ndarray  # uint64 [state_words of the game]
    moves: np.ndarray  # int64 [list_length of the game]
    marks: np.ndarray  # int64 [mark_count of the game]
    outcomes: np.ndarray  # int64 [max_outcomes of the game]
    probabilities: np.ndarray  # float64 [max_outcomes of the game]
    trial: np.ndarray  # uint64 [2 * state_words of the game]: positions looked at and left again
    priors: np.ndarray  # float64 [max_moves of the game], PUCT; else [1]
    played: np.ndarray  # int64 [players * rave_keys of the game], RAVE; else [1]
    bounds: np.ndarray  # int64 [MAX_DEPTH], solver: what a node of the path is worth by a proof, or NO_BOUND; else [1]


class Shared(NamedTuple):
    """What all workers of a search read."""

    control: np.ndarray  # int64 [CONTROL_WORDS]
    root_state: np.ndarray  # uint64 [state_words of the game]
    leaf_state: np.ndarray  # uint64 [state_words of the game], leaf scheme
    answers: np.ndarray  # int64 [workers * ANSWER_WORDS], leaf scheme; each worker writes its own line
    cache: np.ndarray  # uint64 [entries * (1 + players of the game)], evaluation cache (evaluation.py); else [1]


class Settings(NamedTuple):
    """How to search. Plain numbers: a change of settings compiles nothing."""

    c: float  # exploration constant
    reading: int  # of in_flight: READ_NOTHING, READ_VIRTUAL_LOSS, READ_WU_UCT
    weight: float  # of one simulation in flight
    cutoff: int  # moves in a playout before the evaluation is asked; -1: play to the end
    synchronisation: int  # LOCK_FREE, NODE_LOCKS, ONE_LOCK
    chance: int = ENUMERATED  # or HASHED
    # What follows is read only by searches with the feature (modes.py):
    urgency: float = np.inf  # of a move not tried yet
    widening: float = 0.0  # k and alpha of progressive widening: k * visits^alpha children; 0: no limit
    widening_power: float = 0.5
    chance_widening: float = 0.0  # the same of outcomes
    chance_widening_power: float = 0.5
    samples: int = 1  # K of best-of-K expansion
    rave: float = 0.0  # k of RAVE: so many visits weigh as much as RAVE
