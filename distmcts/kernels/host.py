"""Rules that run on the host, in Python: the kernels are the same, and where they need a rule they call back.

A state of such a game holds no position. It says how to get there: the moves from the root's position on.

  word 0   ADDRESS   of the function on the host (parallel/hosting.py) that replies to questions; the same for all workers
  word 1   REPLY     to the last question, + PLAYER_ZERO; 0: no reply, something went wrong
  word 2   LENGTH    how many moves follow
  word 3   MOVES     the moves and outcomes played since the root

So `apply` only writes down a move; the host replays what it has not replayed yet when it is asked something. It knows by the
place of the state in memory which worker asks, and writes lists into that worker's own buffers. Who is to move at a node, and how
likely an outcome is, is kept in the tree (`players`, `priors`): a simulation asks nothing on its way down through nodes that are
known, and once or twice at its end. A call costs a fraction of a microsecond.
"""

import ctypes

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

from distmcts.kernels.atomics import load, store
from distmcts.kernels.jit import inner, switch
from distmcts.kernels.layout import BREACH, MAX_DEPTH, PLAYER_ZERO, RULES_FAILED
from distmcts.kernels.rules import player
from distmcts.kernels.tags import in_python

ADDRESS = 0
REPLY = 1
LENGTH = 2
MOVES = 3
STATE_WORDS = MOVES + MAX_DEPTH + 2  # the last node may be followed by an outcome, and by a move that is only looked at

# Questions
PLAYER = 0
LEGAL_MOVES = 1
CHANCE_OUTCOMES = 2
PLAYOUT = 3
RETURNS = 4
EVALUATION = 5
PRIORS = 6

NO_REPLY = -PLAYER_ZERO  # what a question without a reply seems to say

_0 = np.uint64(0)
_1 = np.uint64(1)

# What the host must offer: called with the place of the state in memory, and the question.
CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64)

if config.DISABLE_JIT:

    def call_host(state, question):
        CALLBACK(int(state[ADDRESS]))(state.ctypes.data, question)

else:

    @intrinsic
    def call_host(typing_context, state, question):
        """Call the function whose address is the state's first word."""

        def generate(context, builder, signature, args):
            word = ir.IntType(64)
            place = make_array(signature.args[0])(context, builder, args[0]).data
            function = ir.FunctionType(ir.VoidType(), [word, word])
            first = builder.load(cgutils.gep_inbounds(builder, place, ADDRESS))
            builder.call(builder.inttoptr(first, function.as_pointer()), [builder.ptrtoint(place, word), args[1]])
            return context.get_dummy_value()

        return types.void(state, types.int64), generate


@inner
def ask(state, question):
    """The host's reply, or NO_REPLY."""
    state[REPLY] = _0
    call_host(state, question)
    return np.int64(state[REPLY]) - PLAYER_ZERO


# ---- the rules of every game in Python ----------------------------------------------------------------------------------------


def initial(game, state):
    state[LENGTH] = _0


def legal_moves(game, state, moves):
    return ask(state, LEGAL_MOVES)


def apply(game, state, move):
    state[MOVES + np.int64(state[LENGTH])] = np.uint64(move)
    state[LENGTH] += _1


def ask_player(game, state):
    return ask(state, PLAYER)


def returns(game, state, rewards):
    ask(state, RETURNS)


def evaluate(game, state, rewards):
    ask(state, EVALUATION)


def chance_outcomes(game, state, moves, probabilities):
    return ask(state, CHANCE_OUTCOMES)


def priors(game, state, moves, count, priors):
    ask(state, PRIORS)


# ---- what kernels do differently ----------------------------------------------------------------------------------------------


@switch
def player_at(game, tree, worker, node):
    """Who is to move at a node, whose position is `worker.state`; NO_REPLY: the rules failed, and BREACH is set."""
    return player(game, worker.state)


@player_at.when(in_python)
def _known_player(game, tree, worker, node):
    known = np.int64(load(tree.players, node))
    if known == 0:
        known = ask(worker.state, PLAYER) + PLAYER_ZERO
        if known == 0:
            worker.slot[BREACH] = RULES_FAILED
        else:
            store(tree.players, node, known)
    return known - PLAYER_ZERO


@inner
def play_on_host(worker):
    """The host plays on from `worker.state` as the settings say, and writes `worker.results`."""
    if ask(worker.state, PLAYOUT) == NO_REPLY:
        worker.slot[BREACH] = RULES_FAILED
