"""The front door: detail that raters share is kept, the rest is smoothed."""
