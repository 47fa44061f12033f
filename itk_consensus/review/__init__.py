"""Where raters differ, decided by a person: disputes, decisions, their record, and an application.

Everything but the application works on plain arrays and knows no screen, so that the page, the
application and the module of 3D Slicer mean the same by a decision. The room carries the name of
its front door: ``itk_consensus.review(filter)`` opens the application.
"""

from itk_consensus.core.callable_modules import make_callable

make_callable(__name__, "itk_consensus.review.opening")
