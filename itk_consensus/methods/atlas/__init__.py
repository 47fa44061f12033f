"""Atlases whose images are compared with the target: local and joint weights."""
