"""What looks some mm around: arrays only."""
