"""The reference training probe: a small network trained for real in its own process under the target interpreter."""
