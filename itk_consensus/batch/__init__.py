"""Many cases."""
