"""Assessment of results: findings, verdicts, agreement of raters, and scores."""
