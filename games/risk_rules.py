"""Risk with whole moves: a recruitment, an attack, moving in, a manoeuvre are each one decision.

Moves are numbers from 0, in each phase their own:

  RECRUIT    a rank among all ways to place the troops (risk_recruit.py)
  ATTACK     a directed border, 0 to 165, as listed in risk_map.py; END_ATTACK
  MOVE_IN    how many troops follow the one that occupies the conquered territory; at least one stays behind
  MANOEUVRE  0: none. Then all (source, target, number): by connected part of the player's territories, in the order of
             their first territories; in a part by source, by target, by number

So all but the attacks are 0 to count - 1, listed or not.
"""

import numpy as np

from distmcts.kernels.bits import count_ones, lowest_one
from distmcts.kernels.jit import kernel
from distmcts.kernels.rules import move_count as count_moves
from games.risk_map import EDGE_SOURCE, EDGE_TARGET, EDGES, NEIGHBOURS, TERRITORIES, around, bit, connected, edge_number, nth
from games.risk_recruit import recruit, recruit_count, recruited_at_once
from games.risk_state import (
    ATTACK,
    DICE,
    LEFT,
    MANOEUVRE,
    MOVE_IN,
    PHASE,
    RECRUIT,
    SOURCE,
    army,
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

END_ATTACK = 2 * len(EDGES)
MAX_MOVES = 1024  # longer lists are ranks

# RAVE keys: attacks as they are, then recruitments by their favourite territory, the others by what they are about.
KEY_RECRUIT = END_ATTACK + 1
KEY_MOVE_IN = KEY_RECRUIT + TERRITORIES  # less than half of the troops, or more
KEY_MANOEUVRE = KEY_MOVE_IN + 2  # by target, then none
RAVE_KEYS = KEY_MANOEUVRE + TERRITORIES + 1

_0 = np.uint64(0)
_1 = np.uint64(1)
_PLACED = np.uint64(1)
_ONLY_LOOKED_AT = np.uint64(0)


@kernel
def attack_sources(state):
    """The player's territories that border on the other's and have a troop to spare."""
    sources = _0
    rest = own(state) & around(other(state))
    while rest != _0:
        source = lowest_one(rest)
        if state[source] > _1:
            sources |= bit(source)
        rest &= rest - _1
    return sources


@kernel
def spare_troops(state, territories):
    """All troops of a set of territories but one each."""
    return army(state, territories) - count_ones(territories)


@kernel
def manoeuvre_count(state):
    mine = own(state)
    total = 1
    rest = mine
    while rest != _0:
        part = connected(rest & (~rest + _1), mine)
        total += (count_ones(part) - 1) * spare_troops(state, part)
        rest &= ~part
    return total


@kernel
def manoeuvre_at(state, move):
    """Source, target and number of a manoeuvre."""
    mine = own(state)
    move -= 1
    rest = mine
    while True:
        part = connected(rest & (~rest + _1), mine)
        rest &= ~part
        targets = count_ones(part) - 1
        moves = targets * spare_troops(state, part)
        if move < moves:
            break
        move -= moves
    sources = part
    while True:
        source = lowest_one(sources)
        sources &= sources - _1
        spare = troops(state, source) - 1
        if move < targets * spare:
            break
        move -= targets * spare
    target = lowest_one(nth(part & ~bit(source), move // spare))
    return source, target, move % spare + 1


@kernel
def manoeuvre_number(state, source, target, number):
    """The move that is this manoeuvre."""
    mine = own(state)
    move = 1
    rest = mine
    while True:
        part = connected(rest & (~rest + _1), mine)
        rest &= ~part
        targets = count_ones(part) - 1
        if part & bit(source) != _0:
            break
        move += targets * spare_troops(state, part)
    before = count_ones(part & ~bit(source) & (bit(target) - _1))
    return move + targets * spare_troops(state, part & (bit(source) - _1)) + before * (troops(state, source) - 1) + number - 1


def move_count(game, state):
    phase = state[PHASE]
    if phase == RECRUIT:
        return np.int64(recruit_count(own(state), np.int64(state[LEFT])))
    if phase == MOVE_IN:
        return troops(state, np.int64(state[SOURCE]))
    if phase == MANOEUVRE:
        return manoeuvre_count(state)
    count = 0
    if phase == ATTACK:
        count = 1
        theirs = other(state)
        sources = attack_sources(state)
        while sources != _0:
            count += count_ones(NEIGHBOURS[lowest_one(sources)] & theirs)
            sources &= sources - _1
    return count


def legal_moves(game, state, moves):
    count = 0
    if state[PHASE] == ATTACK:
        theirs = other(state)
        sources = attack_sources(state)
        while sources != _0:
            source = lowest_one(sources)
            targets = NEIGHBOURS[source] & theirs
            while targets != _0:
                moves[count] = edge_number(source, lowest_one(targets))
                count += 1
                targets &= targets - _1
            sources &= sources - _1
        moves[count] = END_ATTACK
        return count + 1
    count = count_moves(game, state)
    for move in range(count):
        moves[move] = move
    return count


def apply(game, state, move):
    phase = state[PHASE]
    if phase == DICE:
        fight(state, move)
    elif phase == ATTACK:
        if move == END_ATTACK:
            end_attack(state)
        else:
            start_attack(state, EDGE_SOURCE[move], EDGE_TARGET[move])
    elif phase == MOVE_IN:
        move_in(state, move)
    elif phase == RECRUIT:
        mine = own(state)
        number = recruited_at_once(mine, np.int64(state[LEFT]))
        state[SOURCE] = np.uint64(recruit(state, mine, number, move, _PLACED))
        state[LEFT] -= np.uint64(number)
        if state[LEFT] == _0:
            state[PHASE] = ATTACK
    elif phase == MANOEUVRE:
        if move == 0:
            end_turn(game, state)
        else:
            source, target, number = manoeuvre_at(state, move)
            move_troops(game, state, source, target, number)
    else:
        deal_out(state, move)


def rave_key(game, state, move):
    phase = state[PHASE]
    if phase == ATTACK:
        return np.int64(move)
    if phase == RECRUIT:
        mine = own(state)
        number = recruited_at_once(mine, np.int64(state[LEFT]))
        return np.int64(KEY_RECRUIT + recruit(state, mine, number, move, _ONLY_LOOKED_AT))
    if phase == MOVE_IN:
        return np.int64(KEY_MOVE_IN + (2 * move >= troops(state, np.int64(state[SOURCE]))))
    if phase == MANOEUVRE and move > 0:
        return np.int64(KEY_MANOEUVRE + manoeuvre_at(state, move)[1])
    return np.int64(RAVE_KEYS - 1)
