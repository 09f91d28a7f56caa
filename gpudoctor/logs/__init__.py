"""Text of a run to typed events; matches messages, never `file.cc:line`, which change with every release."""
