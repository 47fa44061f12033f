"""Files of any kind: read with care, written in one step, locked, told apart; records in them."""
