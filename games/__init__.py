"""The games that come with distmcts, one file each."""

BUILT_IN = {
    "awale": "games.awale:Awale",
    "connect_four": "games.connect_four:ConnectFour",
    "hex": "games.hex:Hex",
    "othello": "games.othello:Othello",
    "risk": "games.risk:Risk",
    "tic_tac_toe": "games.tic_tac_toe:TicTacToe",
    "ur": "games.ur:Ur",
}
