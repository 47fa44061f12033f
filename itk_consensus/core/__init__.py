"""What every filter is made of; knows no votes and no method."""
