"""From a snapshot to a report: find checks, match facts to their needs, judge, fold symptoms, rank fixes."""
