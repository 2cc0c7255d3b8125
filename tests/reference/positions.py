"""Positions with known best moves, found by random play and solved by the exact solvers beside this file.

test_reference.py solves them again. They were chosen so that a plain UCT search finds the answer: in connect four with
20,000 simulations and more, exploration constants from 0.7 to 2; in awale with 15,000 and constants of 0.7 and 1.4. In
some of them a few hundred simulations are not enough, and the average of random play points to a wrong move.
"""

from typing import NamedTuple


class OnlyMove(NamedTuple):
    """A connect-four position with one winning move; every other legal move draws or loses."""

    columns: str  # the columns played so far, 1 to 7
    winning_column: int  # 1 to 7
    plies: int  # stones until the line is complete under best play of both, the winning move included


class Endgame(NamedTuple):
    """An awale endgame under oware rules, without a past, in which some legal moves are worse than others."""

    pits: tuple[int, ...]
    captures: tuple[int, int]
    mover: int
    value: int  # for the player to move: 1 wins, 0 draws
    best_moves: tuple[int, ...]  # numbers of pits in the mover's row, from 0


# By plies; among equals roughly the hardest for a search first.
CONNECT_FOUR_ONLY_MOVES = (
    OnlyMove("73655546311257667", 4, 1),
    OnlyMove("433622446371417455", 5, 1),
    OnlyMove("4517323246567336654", 4, 1),
    OnlyMove("331124353425332225567", 6, 1),
    OnlyMove("35756174423451266615774141", 3, 3),
    OnlyMove("4447334244732335522531676712", 6, 3),
    OnlyMove("17534161511375643373", 7, 3),
    OnlyMove("7534661276366327", 4, 3),
    OnlyMove("72241765354431655766", 3, 3),
    OnlyMove("23736551626627146", 4, 5),
    OnlyMove("111432354352576666", 4, 5),
    OnlyMove("2133254375755635771647", 2, 5),
    OnlyMove("2466162667637133744132411", 2, 5),
    OnlyMove("345652147255613373", 7, 5),
    OnlyMove("523571646722217324", 6, 5),
    OnlyMove("22725522564375634332", 7, 5),
    OnlyMove("3151643251117564571", 4, 5),
    OnlyMove("5222322764675466556771", 4, 5),
    OnlyMove("4776431331211442433347", 1, 7),
    OnlyMove("1125267222434567441677374337", 4, 7),
    OnlyMove("5267236411767577266", 5, 7),
    OnlyMove("21237754344345557332", 4, 7),
    OnlyMove("7365274174121241667531772", 4, 7),
    OnlyMove("517571135764215475", 3, 7),
    OnlyMove("1315246263542447115416", 5, 7),
    OnlyMove("4526134314375777665", 5, 7),
    OnlyMove("4667341246122622571124", 4, 9),
    OnlyMove("53656732127221664617", 3, 9),
    OnlyMove("6617242766513452", 5, 9),
    OnlyMove("22722741456561441452276666", 5, 9),
    OnlyMove("54637435321442222562335", 4, 9),
    OnlyMove("2556674166326327121244772", 4, 9),
    OnlyMove("4742676532666222143577775655", 4, 11),
    OnlyMove("61715474144322353442333", 2, 11),
    OnlyMove("727634167741735564", 6, 11),
    OnlyMove("462342442756212217416", 1, 13),
    OnlyMove("222735251462766555274331", 3, 13),
    OnlyMove("3655613356747772144427523455", 2, 13),
)

# Roughly from easy to hard.
AWALE_ENDGAMES = (
    Endgame((1, 0, 0, 0, 2, 1, 0, 0, 0, 0, 0, 0), (24, 20), 0, 1, (4,)),
    Endgame((1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 1), (21, 23), 0, 1, (0,)),
    Endgame((1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2), (21, 23), 1, 1, (1,)),
    Endgame((0, 0, 1, 0, 1, 1, 0, 0, 0, 0, 1, 0), (23, 21), 0, 1, (2,)),
    Endgame((0, 0, 1, 0, 2, 1, 0, 0, 0, 0, 0, 0), (23, 21), 0, 1, (4,)),
    Endgame((0, 0, 1, 0, 1, 1, 1, 0, 0, 0, 0, 0), (24, 20), 0, 1, (4,)),
    Endgame((0, 1, 0, 0, 0, 2, 1, 0, 0, 0, 0, 0), (22, 22), 0, 0, (1,)),
    Endgame((0, 0, 0, 0, 0, 1, 1, 0, 0, 1, 1, 0), (24, 20), 1, 0, (0,)),
    Endgame((1, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 1), (24, 20), 1, 0, (5,)),
    Endgame((0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 1, 1), (19, 24), 1, 1, (3,)),
    Endgame((1, 0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0), (23, 20), 1, 1, (0,)),
    Endgame((0, 0, 0, 0, 0, 1, 1, 0, 0, 2, 1, 0), (24, 19), 1, 0, (0,)),
    Endgame((0, 0, 0, 0, 1, 1, 2, 1, 0, 1, 0, 0), (23, 19), 1, 1, (0,)),
    Endgame((0, 0, 0, 0, 0, 3, 1, 0, 1, 1, 1, 0), (24, 17), 1, 0, (2,)),
    Endgame((1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1), (22, 22), 1, 0, (4,)),
    Endgame((0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 1), (20, 24), 1, 1, (4,)),
    Endgame((0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 2, 1), (20, 24), 1, 1, (4,)),
    Endgame((1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 1), (22, 21), 0, 1, (0,)),
    Endgame((0, 0, 2, 2, 0, 0, 0, 0, 1, 0, 0, 0), (23, 20), 0, 1, (3,)),
    Endgame((0, 1, 0, 0, 0, 0, 0, 1, 0, 1, 1, 0), (20, 24), 1, 1, (1, 4)),
    Endgame((0, 0, 2, 0, 0, 1, 0, 0, 0, 0, 1, 0), (23, 21), 0, 1, (2,)),
    Endgame((0, 1, 0, 0, 0, 0, 1, 0, 0, 1, 0, 1), (20, 24), 1, 1, (0, 3)),
    Endgame((0, 1, 0, 0, 1, 0, 1, 0, 0, 1, 0, 1), (19, 24), 1, 1, (0, 3)),
    Endgame((0, 0, 1, 2, 0, 1, 0, 0, 0, 0, 1, 0), (24, 19), 0, 1, (2,)),
    Endgame((1, 0, 0, 1, 2, 0, 0, 0, 0, 1, 0, 0), (21, 22), 0, 1, (0, 3)),
    Endgame((0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 1, 1), (20, 24), 1, 1, (2,)),
    Endgame((0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1), (21, 23), 1, 1, (0,)),
    Endgame((1, 0, 0, 0, 0, 1, 0, 1, 0, 0, 1, 1), (20, 23), 0, 1, (0,)),
    Endgame((0, 0, 1, 1, 0, 0, 1, 0, 0, 1, 0, 1), (23, 20), 1, 1, (0, 3)),
    Endgame((0, 0, 2, 0, 0, 1, 0, 0, 0, 1, 0, 1), (23, 20), 0, 1, (2,)),
    Endgame((1, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 1), (21, 23), 0, 1, (0,)),
    Endgame((0, 0, 0, 0, 1, 1, 0, 0, 2, 0, 0, 1), (21, 22), 1, 1, (2,)),
    Endgame((0, 0, 0, 1, 0, 0, 1, 0, 0, 2, 0, 1), (19, 24), 1, 1, (0,)),
    Endgame((0, 0, 1, 0, 1, 2, 1, 0, 0, 0, 0, 0), (22, 21), 0, 0, (2, 4)),
)
