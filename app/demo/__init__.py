"""The main job, shown on a virtual screen."""
