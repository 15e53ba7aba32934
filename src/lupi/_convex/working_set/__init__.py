"""Working sets: steps along few multipliers, compiled."""
