"""Files: checked before reading, written atomically, locked, hashed; JSON records in them."""
