"""One description of the path, two drivers: `steps` says what is needed, `drive` does it, plain or async."""
