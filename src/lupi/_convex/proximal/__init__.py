"""Proximal method of multipliers, with semismooth Newton steps on faces of a box."""
