"""What a row of each big table holds. Apart from the look-ups, so that a table and its look-ups do not import each other."""
