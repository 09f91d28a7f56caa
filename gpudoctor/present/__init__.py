"""The report as text or JSON; presents what was concluded and concludes nothing."""
