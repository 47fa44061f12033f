"""Pools of opinions: how probabilities become one."""
