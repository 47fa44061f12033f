"""Where raters differ, decided by a person: disputes, decisions and their record.

All of it works on plain arrays and knows no screen, so that the page, the application and the
module of 3D Slicer mean the same by a decision.
"""
