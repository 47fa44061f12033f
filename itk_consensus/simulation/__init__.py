"""Simulated cohorts and atlases for the module `samples`, each determined by its seed."""
