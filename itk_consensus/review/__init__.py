"""Manual review of disagreements: disputes, decisions, their record, and an application.

Everything except the application works on plain arrays and is independent of the display, so that
the report page, the application and the 3D Slicer module interpret a decision in the same way. The
package is named after its entry point: ``itk_consensus.review(filter)`` opens the application.
"""

from itk_consensus.core.callable_modules import make_callable

make_callable(__name__, "itk_consensus.review.opening")
