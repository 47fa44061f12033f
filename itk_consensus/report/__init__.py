"""Reports: text, JSON, tables, pictures and an HTML page.

The package has the same name as its main function: ``itk_consensus.report(filter, path)`` writes
the page whether or not this package was imported before.
"""

from itk_consensus.core.callable_modules import make_callable

make_callable(__name__, "itk_consensus.report.page")
