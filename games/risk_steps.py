"""Risk with moves in small steps: a decision for each territory and for each number, and no decision that cannot matter.

Steps of a turn, and what is left out:

  RECRUIT           a territory on the frontier: troops in the hinterland neither attack nor defend
  RECRUIT_NUMBER    one, half, or all of the troops that are left; then RECRUIT again, until none are left
  ATTACK            a territory to attack from, or END
  ATTACK_TARGET     the territory to attack, for one throw of dice
  MOVE_IN           one, half, or all troops that need not stay behind
  MANOEUVRE         a territory to move from, or END
  MANOEUVRE_TARGET  a connected territory on the frontier: nothing is ever moved into the hinterland
  MANOEUVRE_NUMBER  as many as make both equal (the source keeps an odd one), or all but one

Half is rounded up. A step with a single choice is skipped, unless END is among its choices.
Moves are territories, 0 to 41, or END; numbers are ONE, HALF, ALL and EVEN, ALL.
"""

import numpy as np

from distmcts.kernels.bits import count_ones, lowest_one
from distmcts.kernels.jit import kernel
from games.risk_map import NEIGHBOURS, TERRITORIES, around, bit, connected
from games.risk_rules import attack_sources
from games.risk_state import (
    ATTACK,
    ATTACK_TARGET,
    DICE,
    FINISHED,
    LEFT,
    MANOEUVRE,
    MANOEUVRE_NUMBER,
    MANOEUVRE_TARGET,
    MOVE_IN,
    PHASE,
    RECRUIT,
    RECRUIT_NUMBER,
    SOURCE,
    TARGET,
    deal_out,
    end_attack,
    end_turn,
    fight,
    move_in,
    move_troops,
    other,
    own,
    start_attack,
    troops,
)

END = TERRITORIES
STEP_MOVES = TERRITORIES + 1
ONE, HALF, ALL = 0, 1, 2
EVEN = 0
STEP_RAVE_KEYS = STEP_MOVES * 8  # by phase

_0 = np.uint64(0)
_1 = np.uint64(1)


@kernel
def share(available, choice):
    """How many of the available troops a choice of number takes."""
    if choice == ONE:
        return np.int64(1)
    return np.int64((available + 1) // 2 if choice == HALF else available)


@kernel
def manoeuvre_targets(state, source):
    """The connected territories on the frontier, without the source."""
    mine = own(state)
    return connected(bit(source), mine) & around(other(state)) & ~bit(source)


@kernel
def manoeuvre_sources(state):
    """The territories that have a troop to spare and somewhere to go with it."""
    mine = own(state)
    frontier = mine & around(other(state))
    sources = _0
    rest = mine
    while rest != _0:
        part = connected(rest & (~rest + _1), mine)
        rest &= ~part
        targets = part & frontier
        sources |= part if count_ones(targets) > 1 else part & ~targets
    rest = sources
    while rest != _0:
        if state[lowest_one(rest)] == _1:
            sources &= ~(rest & (~rest + _1))
        rest &= rest - _1
    return sources


@kernel
def evening(state, source, target):
    """How many troops to move so that both territories hold the same, the source an odd one more; not above 0 if it has fewer."""
    return (troops(state, source) - troops(state, target)) // 2


@kernel
def place(state, number):
    """Put recruits on the active territory."""
    state[np.int64(state[SOURCE])] += np.uint64(number)
    state[LEFT] -= np.uint64(number)
    state[PHASE] = RECRUIT if state[LEFT] != _0 else ATTACK


@kernel
def head_for(game, state, target):
    """The target of a manoeuvre is known; its number may be."""
    source = np.int64(state[SOURCE])
    if evening(state, source, target) > 0:
        state[PHASE] = MANOEUVRE_NUMBER
        state[TARGET] = np.uint64(target)
    else:
        move_troops(game, state, source, target, troops(state, source) - 1)


def legal_moves(game, state, moves):
    phase = state[PHASE]
    available = np.int64(state[LEFT])
    if phase == MOVE_IN:
        available = troops(state, np.int64(state[SOURCE]))
    count = 0
    if phase in (RECRUIT_NUMBER, MOVE_IN):
        moves[0] = ONE
        count = 1
        if available > 2:
            moves[1] = HALF
            count = 2
        moves[count] = ALL
        return count + 1
    if phase == MANOEUVRE_NUMBER:
        moves[0] = EVEN
        moves[1] = ALL
        return 2
    if phase == RECRUIT:
        choices = own(state) & around(other(state))
    elif phase == ATTACK:
        choices = attack_sources(state)
    elif phase == ATTACK_TARGET:
        choices = NEIGHBOURS[np.int64(state[SOURCE])] & other(state)
    elif phase == MANOEUVRE:
        choices = manoeuvre_sources(state)
    else:
        choices = manoeuvre_targets(state, np.int64(state[SOURCE]))
    while choices != _0:
        moves[count] = lowest_one(choices)
        count += 1
        choices &= choices - _1
    if phase in (ATTACK, MANOEUVRE):
        moves[count] = END
        count += 1
    return count


def apply(game, state, move):
    phase = state[PHASE]
    if phase == DICE:
        fight(state, move)
    elif phase < FINISHED:
        deal_out(state, move)
    elif phase == RECRUIT:
        state[SOURCE] = np.uint64(move)
        if state[LEFT] > _1:
            state[PHASE] = RECRUIT_NUMBER
        else:
            place(state, 1)
    elif phase == RECRUIT_NUMBER:
        place(state, share(np.int64(state[LEFT]), move))
    elif phase == ATTACK:
        if move == END:
            end_attack(state)
        else:
            targets = NEIGHBOURS[move] & other(state)
            if targets & (targets - _1) == _0:
                start_attack(state, move, lowest_one(targets))
            else:
                state[PHASE] = ATTACK_TARGET
                state[SOURCE] = np.uint64(move)
    elif phase == ATTACK_TARGET:
        start_attack(state, np.int64(state[SOURCE]), move)
    elif phase == MOVE_IN:
        move_in(state, share(troops(state, np.int64(state[SOURCE])), move) - 1)
    elif phase == MANOEUVRE_NUMBER:
        source = np.int64(state[SOURCE])
        target = np.int64(state[TARGET])
        number = evening(state, source, target) if move == EVEN else troops(state, source) - 1
        move_troops(game, state, source, target, number)
    elif move == END:
        end_turn(game, state)
    else:
        target = move
        if phase == MANOEUVRE:
            state[SOURCE] = np.uint64(move)
            targets = manoeuvre_targets(state, move)
            target = lowest_one(targets)
            if targets & (targets - _1) != _0:
                state[PHASE] = MANOEUVRE_TARGET
                return
        head_for(game, state, target)


def rave_key(game, state, move):
    """A move by its phase; outcomes of chance, which have no key, share one."""
    if state[PHASE] <= FINISHED:
        return np.int64(0)
    return np.int64((np.int64(state[PHASE]) - 3) * STEP_MOVES + move)
