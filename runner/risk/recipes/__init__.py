"""Commands in files that are no programs by their ending: recipes, pipelines, notebooks, SQL."""
