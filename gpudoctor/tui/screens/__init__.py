"""The screens: they lay out widgets, turn keys into wishes, and hand data to the views."""
