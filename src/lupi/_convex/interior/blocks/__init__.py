"""The interior point on blocks of rows: the outer loop sees nothing but sums."""
