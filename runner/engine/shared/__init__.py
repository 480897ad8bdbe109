"""Parts that requests and kept sandboxes both use: files of runs, readings, integrity of packages."""
