"""Simulated cohorts and atlases for the module `samples`, each a function of its seed."""
