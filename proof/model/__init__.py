"""What everything speaks of: page references and folios, boxes, flags, results."""
