"""The constants of the solvers that were tuned, and why each has its value.

Thresholds of rounding stay beside the code that they guard. "Measured" means measured
with RBF kernels on one core, by ``benchmarks/bench_solvers.py`` where not said
otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["DEFAULT", "Tuning"]


@dataclass(frozen=True)
class Tuning:
    """Every tuned constant; ``dataclasses.replace(Tuning(), ...)`` changes some.

    Sizes are numbers of rows unless the name says otherwise.
    """

    # ---------------------------------------------------------------- all solvers
    # Below this size a second BLAS thread costs more than it gains.
    threaded_size: int = 1500
    # Problems up to this size are solved on to the vertex, or to a gap of this share
    # of tol: a gap bounds the objective, and decision values only by its square root.
    polished_size: int = 500
    polished_gap: float = 1e-5
    # Where kernels have almost no rank left on a face, the proximal method stops short
    # of the vertex, and more of its steps gain little. `auto` asks the interior point
    # as well if the gap of a small problem is above this share of tol (5 % at n = 300).
    near_vertex: float = 1e-3

    # Kinds of hard constraints, by their columns in the balance equations, that are
    # told apart when the interval of a bias is sought; each costs a pass.
    bias_kinds: int = 64

    # ----------------------------------------------------------- choice of solver
    # Loading the compiled working-set steps takes half a second once per process.
    working_set_size: int = 150
    # Working sets are the fastest for two functions from this size on, as long as the
    # mean cost of a row times the mean of K_ii/ρ is at most this.
    working_set_size_two_functions: int = 3000
    working_set_largest_cost: float = 3.0
    # Kernels whose ranks sum up to this share of the rows are solved in features, where
    # a step of the interior point costs n times the square of that sum.
    # Nothing is gained where the rank of one kernel alone exceeds the last share.
    low_rank: float = 0.6
    low_rank_if_costly: float = 2.0
    low_rank_each: float = 0.7
    costly: float = 1e3
    # Time of the interior point in working-set steps: this times Σn³/Σn over the
    # functions, plus a part that does not grow.
    interior_price: float = 0.03
    interior_overhead: int = 10_000
    # Iterations at most, and those of the proximal method within `auto`.
    max_newton_steps: int = 200
    max_working_set_steps: int = 2_000_000
    max_faces: int = 200

    # ------------------------------------------------------------- interior point
    # The usual share of the step to the boundary.
    step_to_boundary: float = 0.995
    # Steps without progress before giving up, and those once tol has been reached.
    patience: int = 30
    polishing_patience: int = 6
    # Steps after the products of multipliers and slacks sum up to less than tol.
    last_steps: int = 15
    # Shares of tol at which the vertex is tried, on problems up to polished_size.
    vertex_tried_at: tuple[float, ...] = (1e-2, 1e-5)
    # The same for larger problems, whose vertex only has to be as good as tol: it has
    # fewer support vectors. Multipliers that vanish are small enough to be dropped at
    # the second.
    large_vertex_tried_at: tuple[float, ...] = (1.0, 1e-5)
    # A multiplier whose barrier outweighs its kernel by this much hardly moves with the
    # others and leaves the factorization.
    decoupled: float = 1e7
    # Energy of the error of a Newton step, relative to the step.
    newton_accuracy: float = 1e-9
    # From this size on problems in features are solved in blocks of rows, with a start
    # near the end of the path; that is found on a sample of this share of the rows,
    # with so many rows of every function at least and so many in all at most.
    many_rows: int = 20_000
    sample_share: float = 0.1
    smallest_sample: int = 100
    largest_sample: int = 50_000
    # A sample is solved to this gap: its functions are only a start.
    sample_gap: float = 1e-4
    # μ in units of what a unit of slack costs, Newton steps for each at most, and the
    # gain per row, in units of μ, below which the next μ follows, or the last ends.
    smoothed_path: tuple[float, ...] = (1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5)
    smoothed_steps: int = 6
    smoothed_gain: float = 0.1
    last_smoothed_gain: float = 1e-3
    # Values of features in a block: with what is computed from them, they stay in cache
    # (4096 rows of 20 + 20 features; measured between 1024 and 32768 rows). Threads
    # need larger blocks: the interpreter runs in one of them at a time.
    block_values: int = 2**17
    threaded_block_values: int = 2**19
    fewest_block_rows: int = 512

    # ------------------------------------------------------------ proximal method
    # Proximal term in units of the mean of K_ii/ρ.
    proximal: float = 3e-3
    # It starts at this and is narrowed to the former, as the term of the bounds is.
    first_proximal: float = 1.0
    # Where two functions share rows without bounds it starts at the second and is
    # narrowed by that factor, and starts again at the first if that makes no progress.
    first_unbounded: float = 0.054
    # Later it shrinks by the factor for sharpening where an inner problem took at most
    # this many Newton steps and the multipliers still move by this share of the
    # right-hand sides: a larger outer step is within reach.
    easy_steps: int = 2
    slow: float = 1e-3
    # For bounded multipliers at first this over their bound, then a quarter at every
    # outer step until the least: with a small term from the start, all multipliers
    # would jump from one bound to the other.
    wide_proximal: float = 1.5
    narrowing: float = 0.25
    least_wide: float = 0.02
    # Factor of both where the face stays the same and its equations are nearly
    # singular, down to the least.
    sharpening: float = 0.1
    least_proximal: float = 1e-9
    # Where rounding spoils the factors, the term grows by this factor and does not
    # shrink again; so often at most.
    loosening: float = 30.0
    max_failures: int = 3
    # Inner steps at most, and those while the wide term only finds the bounds.
    inner_steps: int = 30
    wide_inner_steps: int = 4
    # Newton steps without half the gap after which the method has stalled.
    stalled_steps: int = 25
    # Eight Newton steps shorter than this together: the line search makes no progress.
    short: float = 0.5
    # Inner steps at most once tol has been reached.
    polishing_steps: int = 15
    # An inner minimum is close enough when the multipliers miss those of their face by
    # this share of the outer step (the second while the wide term only finds the
    # bounds), after a Newton step of this length at least.
    inexact: float = 0.1
    wide_inexact: float = 0.7
    inexact_length: float = 0.5
    # Equations of a face are met to this share of the outer step.
    face_accuracy: float = 1e-2
    # A change of one multiplier costs a solution with the factors of the old face: the
    # new one is factorized when more than n over this many have changed.
    rows_per_change: int = 25
    # Factors in single precision, corrected, are faster from here on.
    single_size: int = 500
    # Accuracy of a vertex: to rounding on small problems, else this share of tol.
    vertex_accuracy: float = 1e-12
    vertex_share: float = 1e-1
    # The inverse of a leaf serves about this many faces; fewer, once the proximal term
    # has changed before and may change again.
    faces_per_inverse: int = 8
    faces_per_later_inverse: int = 3
    # Below this size the many small steps of the elimination by the inverse count more
    # than their operations, by this factor.
    small_leaf: int = 400
    small_leaf_factor: float = 3.0

    # ---------------------------------------------------------------- working sets
    # Largest violation, in units of the largest right-hand side: the first aim, and
    # the factor to the next one.
    first_violation: float = 0.05
    next_violation: float = 0.2
    # Time of n³ operations of a Newton step over n of a working-set step.
    newton_price: float = 0.0015
    # Working-set steps between Newton steps at least, per row.
    least_batch: int = 3
    # Multipliers that may leave their bounds in a Newton step, per free one.
    released_share: float = 0.2
    # A Newton step that leaves this share of the violation is followed by another.
    sharp_newton: float = 0.01
    # Fixing one more multiplier costs 2n², a new factor n³/3: this share may be fixed.
    fixed_share: float = 0.1
    # What is added to H, relative to its diagonal, where kernels are rank deficient:
    # less after a step that gained, more after one that did not.
    ridge: float = 1e-10
    largest_ridge: float = 1e-5

    # --------------------------------------------------------- piecewise problems
    # Entries of a dense block from which on its products pay for a solver of their
    # own, and the number of variables up to which a dense factor does.
    dense_entries: int = 20_000
    dense_variables: int = 6_000

    def aim(self, n_rows: int, tol: float) -> float:
        """Return the relative gap to reach: that of the vertex on small problems."""
        return tol * (self.polished_gap if n_rows <= self.polished_size else 1.0)


DEFAULT = Tuning()
