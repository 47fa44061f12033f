"""Assessment of results: findings, verdicts, agreement between raters, and scores."""
