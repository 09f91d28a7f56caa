"""What stands on the screen, as pure functions from data and size to lines: tested without a terminal, drawn by `widgets`."""
