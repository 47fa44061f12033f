"""From votes to one result; knows no method."""
