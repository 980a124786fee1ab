"""Types that all packages use: page references and folios, boxes, flags, results."""
