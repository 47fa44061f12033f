"""The recommended fusion method: keep the detail that raters share, and smooth the rest."""
