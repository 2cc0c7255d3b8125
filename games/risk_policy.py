"""The playout policy of Risk: the simulation policy of the paper on sampled expansion, its section 3.1.1.

  recruit    all troops go to a random territory on the frontier, which becomes the active one
  attack     the first enemy neighbour of the active territory, in the order of the map, that would be conquered with a chance
             above 1/2 if the battle went on is attacked once; until there is none. After a conquest a random number of troops
             moves in, and the conquered territory is the active one
  manoeuvre  from the territory with the most troops (the first of equals) to a connected one with the fewest (a random one of
             equals), so that both hold the same, the source an odd one more

A playout may begin within a turn: recruits that are left join the active territory; an attack without a good target, which only
a tree would begin, takes the first. With moves in steps the policy keeps to those: one, half or all troops move in, and a
manoeuvre goes to the frontier.

`policy_playout` plays the same game as steps do, random number by random number. Fewer attackers are never better, so it need
not look again at the neighbours before the one it attacks.
"""

import numpy as np

from distmcts.kernels.bits import lowest_one
from distmcts.kernels.jit import kernel
from distmcts.kernels.rng import random_below
from distmcts.kernels.rules import apply, playout_step, sample_outcome
from games.risk_dice import needed, throw_dice
from games.risk_map import NEIGHBOURS, around, bit, connected, edge_number, recruits
from games.risk_recruit import rank_of_one_place, recruited_at_once
from games.risk_rules import END_ATTACK, manoeuvre_number
from games.risk_state import (
    ATTACK,
    ATTACK_TARGET,
    FINISHED,
    LEFT,
    MANOEUVRE,
    MANOEUVRE_TARGET,
    MOVE_IN,
    NOWHERE,
    OWNED,
    PHASE,
    PLAYER,
    RECRUIT,
    RECRUIT_NUMBER,
    SOURCE,
    TURN,
    finish,
    other,
    own,
    pick,
    troops,
)
from games.risk_steps import ALL, END, EVEN, HALF, share

_0 = np.uint64(0)
_1 = np.uint64(1)


@kernel
def good_target(state, source, theirs):
    """The first neighbour that would be conquered with a chance above 1/2; -1 if there is none."""
    attackers = troops(state, source) - 1
    targets = NEIGHBOURS[source] & theirs
    while targets != _0:
        target = lowest_one(targets)
        if attackers >= needed(troops(state, target)):
            return target
        targets &= targets - _1
    return np.int64(-1)


@kernel
def richest(state, territories):
    """The territory with the most troops, the first of equals."""
    best = 0
    most = -1
    while territories != _0:
        territory = lowest_one(territories)
        if troops(state, territory) > most:
            most = troops(state, territory)
            best = territory
        territories &= territories - _1
    return best


@kernel
def poorest(state, territories):
    """All territories that have the fewest troops, as a set."""
    found = _0
    fewest = 1 << 62
    while territories != _0:
        here = territories & (~territories + _1)
        number = troops(state, lowest_one(territories))
        if number < fewest:
            fewest = number
            found = here
        elif number == fewest:
            found |= here
        territories &= territories - _1
    return found


@kernel
def even_targets(game, state, source, mine, theirs):
    """The connected territories with the fewest troops, if the source has so many more that some should be moved."""
    found = connected(bit(source), mine) & ~bit(source)
    if game.in_steps:
        found &= around(theirs)
    if found != _0:
        found = poorest(state, found)
        if troops(state, source) - troops(state, lowest_one(found)) < 2:
            found = _0
    return found


@kernel
def recruiting_place(state, rng):
    """The active territory if there is one, or else a random one on the frontier."""
    if state[SOURCE] != NOWHERE:
        return np.int64(state[SOURCE])
    return pick(own(state) & around(other(state)), rng)


def policy_step(game, state, moves, rng):
    """One whole move of the policy."""
    phase = state[PHASE]
    if phase < FINISHED:
        move = np.int64(sample_outcome(game, state, rng))
    elif phase == RECRUIT:
        mine = own(state)
        number = recruited_at_once(mine, np.int64(state[LEFT]))
        move = rank_of_one_place(mine, recruiting_place(state, rng), number)
    elif phase == ATTACK:
        source = np.int64(state[SOURCE])
        target = good_target(state, source, other(state))
        move = edge_number(source, target) if target >= 0 else END_ATTACK
    elif phase == MOVE_IN:
        move = random_below(rng, troops(state, np.int64(state[SOURCE])))
    elif phase == MANOEUVRE:
        move = 0
        mine = own(state)
        source = richest(state, mine)
        targets = even_targets(game, state, source, mine, other(state))
        if targets != _0:
            target = pick(targets, rng)
            move = manoeuvre_number(state, source, target, (troops(state, source) - troops(state, target)) // 2)
    else:
        return np.int64(-1)
    apply(game, state, move)
    return move


def policy_step_in_steps(game, state, moves, rng):
    """One step of the policy."""
    phase = state[PHASE]
    source = np.int64(state[SOURCE])
    if phase < FINISHED:
        move = np.int64(sample_outcome(game, state, rng))
    elif phase == RECRUIT:
        move = recruiting_place(state, rng)
    elif phase == RECRUIT_NUMBER:
        move = ALL
    elif phase in (ATTACK, ATTACK_TARGET):
        theirs = other(state)
        move = good_target(state, source, theirs)
        if phase == ATTACK:
            move = source if move >= 0 else END
        elif move < 0:
            move = lowest_one(NEIGHBOURS[source] & theirs)
    elif phase == MOVE_IN:
        move = share_at_random(troops(state, source), rng)
    elif phase in (MANOEUVRE, MANOEUVRE_TARGET):
        mine = own(state)
        if phase == MANOEUVRE:
            source = richest(state, mine)
        targets = even_targets(game, state, source, mine, other(state))
        if phase == MANOEUVRE:
            move = source if targets != _0 else END
        elif targets != _0:
            move = pick(targets, rng)
        else:
            move = lowest_one(connected(bit(source), mine) & around(other(state)) & ~bit(source))
    elif phase > FINISHED:
        move = EVEN
    else:
        return np.int64(-1)
    apply(game, state, move)
    return np.int64(move)


@kernel
def share_at_random(available, rng):
    """One, half or all of the troops: a choice of number, all equally likely."""
    choice = random_below(rng, min(available, 3))
    return ALL if available == 2 and choice == HALF else choice


def policy_playout(game, state, moves, rng):
    """Both players follow the policy to the end of the game."""
    while state[PHASE] != FINISHED and (state[PHASE] != RECRUIT or state[SOURCE] != NOWHERE):
        playout_step(game, state, moves, rng)
    if state[PHASE] == FINISHED:
        return
    mover = np.int64(state[PLAYER])
    turn = np.int64(state[TURN])
    mine = state[OWNED + mover]
    theirs = state[OWNED + 1 - mover]
    while True:
        active = pick(mine & around(theirs), rng)
        attackers = troops(state, active) + recruits(mine) - 1
        targets = NEIGHBOURS[active] & theirs
        while targets != _0:
            target = lowest_one(targets)
            defenders = troops(state, target)
            if attackers < needed(defenders):
                targets &= targets - _1
                continue
            compared = min(defenders, 2)  # one attacker alone is never good enough
            lost = throw_dice(attackers, defenders, rng)
            attackers -= lost
            defenders -= compared - lost
            state[target] = np.uint64(defenders)
            if defenders == 0:
                mine |= bit(target)
                theirs &= ~bit(target)
                moved = 1
                if attackers > 1 and theirs != _0:
                    if game.in_steps:
                        moved = share(attackers, share_at_random(attackers, rng))
                    else:
                        moved = 1 + random_below(rng, attackers)
                state[active] = np.uint64(attackers + 1 - moved)
                active = target
                attackers = moved - 1
                targets = NEIGHBOURS[active] & theirs
        state[active] = np.uint64(attackers + 1)
        if theirs == _0:
            break
        source = richest(state, mine)
        poor = even_targets(game, state, source, mine, theirs)
        if poor != _0:
            target = pick(poor, rng)
            number = (state[source] - state[target]) >> _1
            state[source] -= number
            state[target] += number
        if turn >= game.turns:
            break
        turn += 1
        mover = 1 - mover
        mine, theirs = theirs, mine
    state[OWNED + mover] = mine
    state[OWNED + 1 - mover] = theirs
    state[PLAYER] = np.uint64(mover)
    state[TURN] = np.uint64(turn)
    state[LEFT] = _0
    finish(state)
