"""The wrapper: run the user's command, record what its training does into a session, change nothing about it."""
