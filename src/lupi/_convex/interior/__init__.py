"""Interior point: the central path, its start and its end, and the Newton step."""
