"""Adapters for image libraries, one per library.

To support another library, add a member to `Family` in `image_family.py`, a module here with its
adapter, and a line to `_ADAPTERS` in `images/convert.py`.
"""
