"""Evaluations of Risk positions, each from -1 to 1 and the opposite for the other player.

  resource   (mine - theirs) / (mine + theirs), where each counts territories, troops and whole continents, equally weighted
  border     the same, with border strength added to each side: for every pair of neighbouring territories of different owners
             the stronger one's lead in troops counts for its owner
  features   a linear function x of thirteen features of the player whose turn it is (Wolf 2005; all from 0 to 1), brought to
             [-1, 1] by x / sqrt(4 + x^2). That is close to the expected result 2 / (1 + exp(-x)) - 1 of logistic regression,
             and rounds alike in compiled code and in plain Python

The features, in the order of FEATURES. A battle is won with the chances of risk_dice.py, a reinforcement is what would be
recruited now.

   0  armies                      share of all troops
   1  best_enemy                  the enemy's strength: the mean of its shares of troops and of territories
   2  continent_safety            threat by the enemy to the player's whole continents: of the troops on both sides of a
                                  continent's border the share that is outside, weighted by the bonus of 24 in all
   3  continent_threat            the same threat by the player to the enemy's continents
   4  distance_to_frontier        d / (1 + d), d the average distance of the player's troops from the frontier
   5  enemy_reinforcement         of the largest there is
   6  enemy_continents            share of the continents that the enemy holds whole
   7  hinterland                  share of the player's territories that have no enemy neighbour
   8  maximum_threat              the best chance to win of all battles that the player could begin
   9  more_than_one_army          share of the player's territories that hold more than one troop
  10  territories                 share of the world
  11  own_reinforcement
  12  own_continents
"""

import math

import numpy as np

from distmcts.kernels.bits import count_ones, lowest_one
from distmcts.kernels.jit import kernel
from games.risk_dice import win_chance
from games.risk_map import ALL_BONUSES, BONUSES, CONTINENT_SETS, NEIGHBOURS, TERRITORIES, around, recruits
from games.risk_recruit import MOST
from games.risk_state import DEAL, OWNED, PHASE, PLAYER, army, other, own, troops

# Printed by risk_fit.py, which says how they were found.
WEIGHTS = {
    "armies": 8.49,
    "best_enemy": -12.76,
    "continent_safety": -0.78,
    "continent_threat": 1.31,
    "distance_to_frontier": -1.26,
    "enemy_reinforcement": -6.76,
    "enemy_continents": -3.21,
    "hinterland": 1.11,
    "maximum_threat": 0.58,
    "more_than_one_army": 1.00,
    "territories": 1.82,
    "own_reinforcement": 5.35,
    "own_continents": 3.07,
}
FEATURES = tuple(WEIGHTS)

_0 = np.uint64(0)
_1 = np.uint64(1)


@kernel
def whole_continents(mine):
    count = 0
    for continent in range(CONTINENT_SETS.size):
        if mine & CONTINENT_SETS[continent] == CONTINENT_SETS[continent]:
            count += 1
    return count


@kernel
def threat(state, mine, theirs):
    """How much `theirs` threaten the continents that are wholly in `mine`."""
    total = 0.0
    for continent in range(CONTINENT_SETS.size):
        whole = CONTINENT_SETS[continent]
        if mine & whole == whole:
            outside = around(whole) & theirs
            attackers = army(state, outside)
            if attackers > 0:
                total += BONUSES[continent] * attackers / (attackers + army(state, whole & around(outside)))
    return total / ALL_BONUSES


@kernel
def distance_to_frontier(state, mine, theirs):
    """The average distance of troops from the frontier, as a share."""
    layer = mine & around(theirs)
    rest = mine & ~layer
    distance = 0
    total = 0
    while rest != _0 and layer != _0:
        distance += 1
        layer = around(layer) & rest
        rest &= ~layer
        total += distance * army(state, layer)
    return total / (army(state, mine) + total)


@kernel
def maximum_threat(state, mine, theirs):
    best = 0.0
    sources = mine & around(theirs)
    while sources != _0:
        source = lowest_one(sources)
        sources &= sources - _1
        targets = NEIGHBOURS[source] & theirs
        while targets != _0:
            best = max(best, win_chance(troops(state, source) - 1, troops(state, lowest_one(targets))))
            targets &= targets - _1
    return best


@kernel
def more_than_one_army(state, mine):
    count = 0
    rest = mine
    while rest != _0:
        count += state[lowest_one(rest)] > _1
        rest &= rest - _1
    return count / count_ones(mine)


@kernel
def features(state, mine, theirs):
    """The thirteen features of the owner of `mine`; both players must have territories."""
    armies = army(state, mine) / (army(state, mine) + army(state, theirs))
    territories = count_ones(mine) / TERRITORIES
    return (
        armies,
        1.0 - (armies + territories) / 2.0,
        threat(state, mine, theirs),
        threat(state, theirs, mine),
        distance_to_frontier(state, mine, theirs),
        recruits(theirs) / MOST,
        whole_continents(theirs) / CONTINENT_SETS.size,
        1.0 - count_ones(mine & around(theirs)) / count_ones(mine),
        maximum_threat(state, mine, theirs),
        more_than_one_army(state, mine),
        territories,
        recruits(mine) / MOST,
        whole_continents(mine) / CONTINENT_SETS.size,
    )


def evaluate_features(game, state, rewards):
    mine = own(state)
    theirs = other(state)
    value = 0.0
    if state[PHASE] != DEAL and mine != _0 and theirs != _0:
        found = features(state, mine, theirs)
        for i in range(len(FEATURES)):
            value += game.weights[i] * found[i]
        value /= math.sqrt(4.0 + value * value)
    sign = 1.0 if state[PLAYER] == _0 else -1.0
    rewards[0] = sign * value
    rewards[1] = -sign * value


@kernel
def resources(state, mine):
    return count_ones(mine) + army(state, mine) + whole_continents(mine)


def evaluate_resource(game, state, rewards):
    mine = resources(state, state[OWNED])
    theirs = resources(state, state[OWNED + 1])
    value = (mine - theirs) / max(mine + theirs, 1)
    rewards[0] = value
    rewards[1] = -value


def evaluate_border(game, state, rewards):
    mine = resources(state, state[OWNED])
    theirs = resources(state, state[OWNED + 1])
    sources = state[OWNED] & around(state[OWNED + 1])
    while sources != _0:
        source = lowest_one(sources)
        sources &= sources - _1
        targets = NEIGHBOURS[source] & state[OWNED + 1]
        while targets != _0:
            lead = troops(state, source) - troops(state, lowest_one(targets))
            targets &= targets - _1
            if lead > 0:
                mine += lead
            else:
                theirs -= lead
    value = (mine - theirs) / max(mine + theirs, 1)
    rewards[0] = value
    rewards[1] = -value
