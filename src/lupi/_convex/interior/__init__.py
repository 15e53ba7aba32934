"""Interior-point method: the central path, its start and end, and the Newton step."""
