"""Quadratic problems with piecewise linear losses: those of the advice models."""
