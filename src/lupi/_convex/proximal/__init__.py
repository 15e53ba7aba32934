"""Proximal method of multipliers: semismooth Newton steps on the faces of the box."""
