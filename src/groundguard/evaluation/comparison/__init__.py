"""Two runs of one golden set, item by item: better, worse, or can't tell."""
