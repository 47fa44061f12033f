"""How well raters agree: statistics of decision patterns, and distances between contours."""
