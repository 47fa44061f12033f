"""The simulated cohorts and atlases that `samples` hands out; each is a function of its seed."""
