"""Facts from outside, one file a source; knows nothing of checks. A source that fails becomes a reason, never an error."""
