"""File handling: checks before reading, atomic writing, locks, hashes, and JSON records."""
