"""Pure frozen data: what was measured and what was concluded. Imports the standard library only."""
