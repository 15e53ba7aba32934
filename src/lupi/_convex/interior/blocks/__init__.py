"""Interior-point method on blocks of rows; the outer loop only uses sums over them."""
