"""The tuned constants of the solvers, with the reasons for their values.

Thresholds of rounding errors are in the modules that use them. Unless stated otherwise,
values were measured with RBF kernels on one core, by ``benchmarks/bench_solvers.py``.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["DEFAULT", "Tuning"]


@dataclass(frozen=True)
class Tuning:
    """All tuned constants; ``dataclasses.replace(Tuning(), ...)`` changes some.

    Sizes are numbers of rows unless stated otherwise.
    """

    # ---------------------------------------------------------------- all solvers
    # Size below which a second BLAS thread costs more time than it saves.
    threaded_size: int = 1500
    # Problems up to this size are solved up to the vertex, or to a gap of this share of
    # tol: the gap bounds the error of the objective, but that of decision values only
    # by its square root.
    polished_size: int = 500
    polished_gap: float = 1e-5
    # If kernels are almost rank deficient on a face, the proximal method stops before
    # the vertex and further steps improve little. `auto` tries the interior-point
    # method as well if the gap of a small problem is above this share of tol (5 % of
    # the problems at n = 300).
    near_vertex: float = 1e-3
    # The same for a solution of the interior-point method, since the gap of the stored
    # model can be larger than that in features.
    recovered: float = 0.1

    # ----------------------------------------------------------- choice of solver
    # Kernels whose ranks sum up to at most this share of the rows are solved in
    # features, where a step of the interior-point method costs n times the square of
    # that sum; the second share is for relative costs of at least `costly`. The rank of
    # a single kernel must not exceed the third share.
    low_rank: float = 0.6
    low_rank_if_costly: float = 2.0
    low_rank_each: float = 0.7
    costly: float = 1e3
    # Time of the interior-point method in steps of LIBSVM: this factor times n², plus a
    # constant.
    interior_price: float = 0.03
    interior_overhead: int = 10_000
    # Limits on the iterations; the last is for the proximal method within `auto`, whose
    # steps on neighboring faces cost a hundredth of another solver.
    max_newton_steps: int = 200
    max_faces: int = 150
    max_libsvm_steps: int = 10_000_000

    # ------------------------------------------------------- interior-point method
    # The usual share of the step to the boundary.
    step_to_boundary: float = 0.995
    # Number of steps without progress after which the method stops, before and after
    # tol has been reached.
    patience: int = 30
    polishing_patience: int = 6
    # Number of steps after the sum of the products of multipliers and slacks is below
    # tol.
    last_steps: int = 15
    # Shares of tol at which the vertex is tried, for problems up to polished_size.
    vertex_tried_at: tuple[float, ...] = (1e-2, 1e-5)
    # The same for larger problems, for which a vertex with a gap of tol is sufficient
    # and has fewer support vectors. At the second share, vanishing multipliers are
    # small enough to be set to zero.
    large_vertex_tried_at: tuple[float, ...] = (1.0, 1e-5)
    # A multiplier whose barrier exceeds its kernel by this factor is almost independent
    # of the others and is left out of the factorization.
    decoupled: float = 1e7
    # Energy norm of the error of a Newton step, relative to the step.
    newton_accuracy: float = 1e-9
    # From this size on problems in features start near the end of the path, from a
    # sample of this share of the rows, with at least this many rows of every function
    # and at most this many in all.
    many_rows: int = 20_000
    sample_share: float = 0.1
    smallest_sample: int = 100
    largest_sample: int = 50_000
    # Share of the rows up to which those with violated hard constraints are added.
    sifted_share: float = 0.35
    # Gap of the solution on the sample, which is only a start.
    sample_gap: float = 1e-4
    # Values of μ relative to the cost of a slack, maximum number of Newton steps for
    # each on some of the rows and of passes over all rows, and the gain, in units of μ
    # and the sum of the costs, at which the next μ follows: that of all rows, and of
    # some of them. With 1e-3 for all rows, the primal–dual method takes more steps.
    smoothed_path: tuple[float, ...] = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
    smoothed_steps: int = 12
    smoothed_passes: int = 30
    smoothed_gain: float = 1e-4
    sampled_gain: float = 1e-6
    # Random directions that estimate the leverage of the rows, and rows per weight in a
    # sample by leverage. With 12 the Newton steps lead away from the solution. Where
    # that is more than `sifted_share` of all rows, the steps are those of all rows,
    # with this gain, up to the last μ but one.
    leverage_directions: int = 6
    rows_per_weight: int = 50
    rough_gain: float = 3e-3
    # Number of feature values in a block that fits into the cache with intermediate
    # results (13 000 rows of 20 + 20 features; smaller blocks take time of the
    # interpreter, which runs in one thread at a time: a quarter more with 2**17).
    block_values: int = 2**19
    # The same on a GPU: large, but with memory left for scaled copies.
    device_block_values: int = 2**26
    fewest_block_rows: int = 512

    # -------------------------------------------------------------------- LIBSVM
    # Relative costs up to which the gap is at most the violation at which LIBSVM stops
    # over the second value.
    libsvm_cost: float = 3.0
    libsvm_violation: float = 10.0
    # Violation if the gap requires less than the second value, which rounding in single
    # precision does not allow: the proximal method follows.
    first_violation: float = 1e-2
    least_violation: float = 5e-6
    # Relative gap of the proximal method in place of LIBSVM, on a GPU.
    first_gap: float = 1e-2
    # Relative size of the kernel of a function that counts as flexible as slacks.
    flexible: float = 100.0
    # Proximal term where such functions are zero at the start, or functions without
    # slacks at this relative cost, and the relative gap of the problem with slacks in
    # place of flexible functions if there are others.
    flexible_proximal: float = 0.01
    flexible_cost: float = 30.0
    relaxed_gap: float = 1e-4
    # Values of a correcting function, by the multiplier of one row, up to which pairs
    # start at the bound of their slack.
    raised: float = 1.2
    # Relative cost from which hard constraints are solved from the SVM with slacks,
    # which halves the time from C = 3 on with kernels of one size; below it costs more
    # than it saves.
    near_cost: float = 3.0
    # Cost in place of that of hard constraints, times the mean of K_ii.
    hard_cost: float = 1e4
    # Proximal term relative to the mean of K_ii/ρ after LIBSVM on a plain SVM.
    near_proximal: float = 3e-3

    # ------------------------------------------------------------ proximal method
    # First proximal term relative to the mean of K_ii/ρ, without a start; the second is
    # for multipliers without bounds, which restarts at the first if there is no
    # progress.
    first_proximal: float = 1.0
    first_unbounded: float = 0.054
    # Value from which it is only reduced if that is easy: if the last Newton steps had
    # their full length, at most n over the second number of the multipliers have become
    # free or bound, and they still change by the third share of the right-hand sides.
    # With a smaller term, more multipliers change from one bound to the other.
    proximal: float = 0.15
    unbounded_proximal: float = 3e-3
    rows_per_narrowing: int = 50
    slow: float = 0.3
    # Largest factor of a reduction after reductions that led to short steps.
    mildest: float = 0.5
    # Factors of the term: the second if a Newton step was shorter than the fourth
    # value, the third if all were, and the last if the face does not change and its
    # equations are nearly singular, down to `least_proximal`.
    narrowing: float = 0.2
    widening: float = 3.0
    escaping: float = 10.0
    short_step: float = 0.1
    sharpening: float = 0.1
    least_proximal: float = 1e-9
    # Value to which it is reduced where that is easy: with 1e-6 the faces of problems
    # with 20 000 rows alternate. The second is relative to the largest function, whose
    # equations would be singular in single precision.
    narrowest: float = 1e-4
    narrowest_stiff: float = 1e-6
    # Number of easy steps with this value after which it is reduced further.
    easy_steps: int = 2
    # Curvature of an equation with a squared slack, relative to the mean of K_ii/ρ,
    # from which its multiplier needs no proximal term. The inverse of its function is
    # then the same for all terms.
    curved: float = 1e-3
    # Factor by which the term increases, permanently, if the factors are inaccurate,
    # and how often that may happen.
    loosening: float = 30.0
    max_failures: int = 3
    # Maximum number of inner steps; the second is without a start or without bounds,
    # where a center that is not nearly a minimum leads away from the solution (of SVM+
    # with γ ≤ 1e-2).
    inner_steps: int = 3
    first_inner_steps: int = 30
    # Number of Newton steps without half the gap after which the method has stalled;
    # the second is for single precision once the gap is below this value.
    stalled_steps: int = 25
    single_patience: int = 3
    single_gap: float = 1e-4
    # Sum of the lengths of eight Newton steps below which there is no progress.
    short: float = 0.5
    # Maximum number of Newton steps after tol has been reached.
    polishing_steps: int = 15
    # An inner minimum is accurate enough if the multipliers differ from those of their
    # face by this share of the outer step, after a Newton step of at least this length.
    inexact: float = 0.7
    inexact_length: float = 0.5
    # Residual of the equations of a face, as a share of the Newton step.
    face_accuracy: float = 1e-2
    # Each changed multiplier costs a solution with the factors of the old face: the new
    # face is factorized if more than n over this number have changed.
    rows_per_change: int = 40
    # Number of conjugate gradients after which factors are given up; those of an old
    # face, or for an old proximal term, after half as many that do not lead half of the
    # way. They are used again if half as many were sufficient.
    most_corrections: int = 8
    # Size from which corrected factors in single precision are faster.
    single_size: int = 500
    # Accuracy of a vertex: the first for small problems, otherwise this share of tol.
    vertex_accuracy: float = 1e-12
    vertex_share: float = 1e-1
    # Largest ratio of a leaf to its proximal term for an inverse in single precision.
    stiffest: float = 2e3
    # Below this size, the overhead of the elimination by the inverse multiplies its
    # cost by this factor.
    small_leaf: int = 400
    small_leaf_factor: float = 3.0

    # --------------------------------------------------------- piecewise problems
    # Number of entries of a dense block from which the dense solver is faster, and
    # number of variables up to which a dense factor is.
    dense_entries: int = 20_000
    dense_variables: int = 6_000

    def aim(self, n_rows: int, tol: float) -> float:
        """Return the relative gap to reach, which is smaller for small problems."""
        return tol * (self.polished_gap if n_rows <= self.polished_size else 1.0)

    def block_aim(self, n_rows: int, tol: float) -> float:
        """Return the relative gap to reach in features, where no vertex is computed."""
        return tol * (self.polished_gap if n_rows < self.many_rows else 1.0)


DEFAULT = Tuning()
