"""The widgets: they are handed lines and draw what changed; none of them fetches anything."""
