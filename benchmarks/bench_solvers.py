"""Solver × model × n × easy, random, hard: what each solver gains, what auto does.

    python benchmarks/bench_solvers.py                    everything, about 20 minutes
    python benchmarks/bench_solvers.py --parts auto --rows 300 --draws 100

Four parts. *solvers*: every solver that takes a problem on the same problems; a solver
that is nowhere at least twice as fast as the others has no reason to stay. *auto*: how
often ``solver="auto"`` falls back on a second solver, the share of the time that goes
into attempts whose answer is not the one returned, and the 95th percentile of the times
over their median. *delta*: SVCDeltaPlus over SVCPlus with the same parameters. *rival*:
PIQP (``pip install piqp``), dense and with eps_rel = 1e-8, on the QP of SVM+ in 2n
variables.

Easy problems have C = γ = 1 and RBF kernels of the usual width. Random ones draw C, γ
and both widths (relative to the usual ones) from 1e-2 to 1e2, and now and then a linear
or polynomial kernel. Hard ones are the extremes: separable classes with C up to 1e6,
duplicated rows of both classes, widths of 1e±6, weights over 12 decades, linear kernels
of features scaled by 1e8.

Times are processor times, from the finished problem to the answer; with
OPENBLAS_NUM_THREADS=1 they are those of one thread. Targets over all three kinds
together: fall-backs ≤ 10 %, discarded time ≤ 15 %, p95 ≤ 5 × median at n = 300 and
1000; SVCDeltaPlus ≤ 4 × SVCPlus; PIQP ≥ 8 × at n = 1000 and ≥ 15 × at n = 2000.
"""

import argparse
import importlib
import time
import warnings
from collections import defaultdict
from unittest import mock

import numpy as np
from small import parsed, part_of, two_tables

import lupi.svm as svm
from lupi._convex import one_thread, solve
from lupi._convex.proximal.faces import unsuited as unsuited_for_proximal
from lupi.svm import _machine

SOLVE = importlib.import_module("lupi._convex.solve")
ATTEMPTS = SOLVE._attempts
SOLVERS = ("interior", "proximal")
UNSUITED = {"interior": lambda problem: None, "proximal": unsuited_for_proximal}
TWO_STAGES = ("MarginTransferSVC", "DeviationSVCPlus")
KINDS = ("easy", "random", "hard")


def models(C, reg, kernels):
    """Every kernel model with these parameters, and whether it is given X*."""
    own = {name: value for name, value in kernels.items() if name[:10] != "privileged"}
    both = {"C": C, "privileged_reg": reg, **kernels}
    # The second function of X* has the kernel of the first.
    similar = {
        name.replace("privileged", "similarity"): value
        for name, value in kernels.items()
        if name not in own
    }
    return {
        "SVC": (svm.SVCPlus(C=C, **own), False),
        "SVCPlus": (svm.SVCPlus(**both), True),
        "SVCDeltaPlus": (svm.SVCDeltaPlus(delta=10.0, **both), True),
        "SVCDeltaPlus hinge": (
            svm.SVCDeltaPlus(delta=10.0, slack="hinge", **both),
            True,
        ),
        "UnifiedSVC": (
            svm.UnifiedSVC(similarity_reg=reg, **both, **similar),
            True,
        ),
        "SVRPlus": (svm.SVRPlus(**both), True),
        "FairSVCDeltaPlus": (
            svm.FairSVCDeltaPlus(covariance_threshold=0.01, **both),
            True,
        ),
        "L2SVCPlus": (svm.L2SVCPlus(**both), True),
        "MarginTransferSVC": (
            svm.MarginTransferSVC(C=C, privileged_C=reg, **kernels),
            True,
        ),
        "DeviationSVCPlus": (svm.DeviationSVCPlus(privileged_C=reg, **both), True),
    }


MODELS = list(models(1.0, 1.0, {}))


def overlapping(n_rows, rng):
    """Two classes in 20 + 20 or 5 + 5 features, some rows on the wrong side."""
    if rng.random() < 0.5:
        X, P, target = two_tables(n_rows, int(rng.integers(2**31)))
        return X, P, np.where(target, 1.0, -1.0)
    hidden = rng.normal(size=(n_rows, 5))
    y = np.where(hidden[:, 0] + 0.5 * rng.normal(size=n_rows) > 0, 1.0, -1.0)
    return hidden + rng.normal(size=(n_rows, 5)), hidden, y


def separable(n_rows, rng):
    """Two classes apart from each other, X* without a meaning."""
    y = np.where(np.arange(n_rows) % 2, 1.0, -1.0)
    return (
        rng.normal(size=(n_rows, 2)) * 0.5 + 1.5 * y[:, None],
        rng.normal(size=(n_rows, 2)),
        y,
    )


def draw(kind, n_rows, seed):
    """Data, C, γ, kernels and weights of one problem."""
    rng = np.random.default_rng([n_rows, seed, KINDS.index(kind)])
    X, P, y = overlapping(n_rows, rng)
    C = reg = width = privileged_width = 1.0
    kernels, weight = {}, None
    if kind == "random":
        C, reg, width, privileged_width = 10.0 ** rng.uniform(-2, 2, 4)
        names, share = ["rbf", "linear", "poly"], [0.7, 0.2, 0.1]
        kernels = {
            "kernel": str(rng.choice(names, p=share)),
            "privileged_kernel": str(rng.choice(names, p=share)),
        }
    if kind == "hard":
        C, reg = 10.0 ** rng.uniform(-6, 6), 10.0 ** rng.uniform(-2, 2)
        which = seed % 5
        if which == 0:
            (X, P, y), C = separable(n_rows, rng), 10.0 ** rng.uniform(3, 6)
            kernels = {"kernel": str(rng.choice(["linear", "rbf"]))}
        elif which == 1:
            half = n_rows // 2
            X[half : 2 * half], P[half : 2 * half] = X[:half], P[:half]
        elif which == 2:
            width, privileged_width = 10.0 ** rng.uniform(-6, 6, 2)
        elif which == 3:
            weight = 10.0 ** rng.uniform(-6, 6, n_rows)
        else:
            kernels = {"kernel": "linear", "privileged_kernel": "linear"}
            X, P = 1e8 * X, 1e8 * P
    usual = 1.0 / (X.shape[1] * X.var()), 1.0 / (P.shape[1] * P.var())
    kernels["gamma"] = width * usual[0]
    kernels["privileged_gamma"] = privileged_width * usual[1]
    return X, P, y, C, reg, kernels, weight


class Captured(Exception):
    """The problem of interest has been made."""


def problem_of(name, X, P, y, C, reg, kernels, weight):
    """The convex problem of a fit; the last one of a model with two stages."""
    estimator, with_privileged = models(C, reg, kernels)[name]
    seen = []

    def record(problem, **options):
        seen.append(problem)
        if len(seen) == 1 + (name in TWO_STAGES):
            raise Captured
        return solve(problem, **options)

    extra = {}
    if name == "FairSVCDeltaPlus":
        extra["sensitive_features"] = (X[:, 0] > 0).astype(float)
    target = X[:, 0] / X[:, 0].std() + P[:, 0] if name == "SVRPlus" else y
    with mock.patch.object(_machine, "solve", record):
        try:
            estimator.fit(
                X,
                target,
                privileged=P if with_privileged else None,
                sample_weight=weight,
                **extra,
            )
        except Captured:
            return seen[-1]
    return None  # a first stage that is no problem at all


def timed_auto(problem):
    """Seconds of every attempt of ``auto``, of all together, and the answer."""
    seconds = []

    def clocked(attempt):
        def run(*arguments, **options):
            start = time.process_time()
            answer = attempt(*arguments, **options)
            seconds.append(time.process_time() - start)
            return answer

        return run

    def attempts(*arguments):
        for attempt, limit in ATTEMPTS(*arguments):
            yield clocked(attempt), limit

    with mock.patch.object(SOLVE, "_attempts", attempts):
        start = time.process_time()
        answer = solve(problem)
        return seconds, time.process_time() - start, answer


def drawn_problems(kind, n_rows, draws, names):
    """Problems of this kind, the models in turn, with what to print of them."""
    for seed in range(draws):
        name = names[seed % len(names)]
        parameters = draw(kind, n_rows, seed)
        problem = problem_of(name, *parameters)
        if problem is not None:
            yield name, parameters[3:6], problem


def mark(name, value, limit, good):
    print(f"  {'PASS' if good else 'MISS'}  {name}: {value} (to reach: {limit})")


def part_auto(options):
    """Fall-backs, discarded time and the spread of the times of ``auto``."""
    for n in options.rows:
        runs = []
        for kind in KINDS:
            some = []
            drawn = drawn_problems(kind, n, options.draws, options.models)
            for name, (C, reg, _), problem in drawn:
                seconds, whole, answer = timed_auto(problem)
                some.append((seconds, whole, answer.converged))
                if options.verbose:
                    print(
                        f"  {name:<20} {kind:<7} C={C:<8.2g} γ={reg:<8.2g} "
                        f"{whole:7.3f} s  {answer.solver:<12} attempts {len(seconds)}"
                        f"  gap {answer.relative_gap:.1e}"
                        f"{'' if answer.converged else '  !'}",
                        flush=True,
                    )
            summary(f"auto, n = {n}, {kind}", some)
            runs += some
        fell, discarded, spread = summary(f"auto, n = {n}, all", runs)
        mark("fall-backs", f"{fell:.0%}", "≤ 10 %", fell <= 0.1)
        mark("discarded time", f"{discarded:.0%}", "≤ 15 %", discarded <= 0.15)
        mark("p95 / median", f"{spread:.1f}", "≤ 5", spread <= 5)


def summary(title, runs):
    """Print what happened in these runs; the three figures with targets."""
    whole = np.array([seconds for _, seconds, _ in runs])
    fell = np.mean([len(attempts) > 1 for attempts, _, _ in runs])
    lost = sum(sum(attempts[:-1]) for attempts, _, _ in runs) / whole.sum()
    median, late = np.quantile(whole, (0.5, 0.95))
    converged = np.mean([good for _, _, good in runs])
    print(
        f"{title}: {len(runs)} problems, median {median:.3f} s, p95 {late:.3f} s, "
        f"longest {whole.max():.2f} s, fall-backs {fell:.0%}, discarded time "
        f"{lost:.0%}, converged {converged:.0%}",
        flush=True,
    )
    return fell, lost, late / median


def part_solvers(options):
    """Every solver on the same problems; where each is the fastest."""
    gains = defaultdict(list)
    for n in options.rows:
        for kind in KINDS:
            times = defaultdict(lambda: defaultdict(list))
            for name in options.models:
                drawn = drawn_problems(kind, n, options.each, [name])
                for _, parameters, problem in drawn:
                    found = run_each(problem)
                    for solver, seconds in found.items():
                        times[name][solver].append(seconds)
                    for solver, seconds in found.items():
                        others = [t for s, t in found.items() if s != solver]
                        gain = min(others, default=np.inf) / seconds
                        if np.isfinite(seconds):
                            gains[solver].append((gain, name, n, kind, parameters))
            print(f"\nn = {n}, {kind}: median seconds (solved / tried)")
            for name, row in times.items():
                print(f"  {name:<20}" + "".join(cell(row, s) for s in SOLVERS))
    print("\nfastest by a factor of 2 or more:")
    for solver in SOLVERS:
        found = gains[solver]
        wins = [gain for gain, *_ in found if gain >= 2]
        best = max(found, key=lambda one: min(one[0], 1e9), default=None)
        print(
            f"  {solver:<12} {len(wins)} of {len(found)} problems"
            + (f", at best {best[0]:.1f} × ({best[1]}, n = {best[2]})" if best else "")
        )


def run_each(problem):
    """Seconds of every solver that takes the problem; infinite where it fails."""
    found = {}
    for solver in SOLVERS:
        if UNSUITED[solver](problem) is None:
            start = time.process_time()
            answer = solve(problem, solver=solver)
            seconds = time.process_time() - start
            found[solver] = seconds if answer.converged else np.inf
    return found


def cell(row, solver):
    if solver not in row:
        return f"{'-':>26}"
    solved = [seconds for seconds in row[solver] if np.isfinite(seconds)]
    median = f"{np.median(solved):.3f}" if solved else "-"
    return f"{solver:>13} {median:>6} ({len(solved)}/{len(row[solver])})"


def part_delta(options):
    """SVCDeltaPlus (C = γ = 1, Δ = 10) over SVCPlus (C = γ = 1)."""
    ratios = []
    for n in options.delta_rows:
        seconds = {"SVCPlus": np.inf, "SVCDeltaPlus": np.inf}
        for _ in range(3 if n < 3000 else 2):
            for name in seconds:
                problem = problem_of(name, *draw("easy", n, 0))
                seconds[name] = min(seconds[name], timed_auto(problem)[1])
        ratios.append(seconds["SVCDeltaPlus"] / seconds["SVCPlus"])
        print(
            f"n = {n}: SVCPlus {seconds['SVCPlus']:.3f} s, SVCDeltaPlus "
            f"{seconds['SVCDeltaPlus']:.3f} s, {ratios[-1]:.1f} ×",
            flush=True,
        )
    worst = max(ratios)
    mark("SVCDeltaPlus / SVCPlus, worst", f"{worst:.1f}", "≤ 4", worst <= 4)


def solve_by_piqp(piqp, problem):
    """The dual of SVM+, written out in (α, β); its optimal value."""
    decision, correcting = problem.functions
    y, C = problem.families[0].on[0], correcting.cost
    n = len(y)
    K = decision.space.matrix
    Ks = correcting.space.matrix / correcting.weight
    solver = piqp.DenseSolver()
    solver.settings.eps_rel = solver.settings.eps_abs = 1e-8
    solver.settings.max_iter = 500
    solver.setup(
        np.block([[np.outer(y, y) * K + Ks, Ks], [Ks, Ks]]),
        np.r_[-np.ones(n), np.zeros(n)] - np.tile(Ks @ C, 2),
        A=np.block([[y[None], np.zeros((1, n))], [np.ones((1, 2 * n))]]),
        b=np.array([0.0, C.sum()]),
        x_l=np.zeros(2 * n),
    )
    solver.solve()
    return -solver.result.info.primal_obj - 0.5 * C @ Ks @ C


def part_rival(options):
    """PIQP over ``auto`` on SVM+ with (C, γ) = (1, 1), (10, 0.1); medians of three."""
    piqp = part_of("piqp", "the comparison with PIQP")
    if piqp is None:
        return
    # The first solution of a process imports modules.
    timed_auto(problem_of("SVCPlus", *draw("easy", 100, 0)))
    for n in options.rival_rows:
        ratios = []
        for C, reg in [(1.0, 1.0), (10.0, 0.1)]:
            X, P, y, _, _, kernels, weight = draw("easy", n, 0)
            problem = problem_of("SVCPlus", X, P, y, C, reg, kernels, weight)
            seconds = []
            for _ in range(3):
                _, own, answer = timed_auto(problem)
                start = time.process_time()
                value = solve_by_piqp(piqp, problem)
                seconds.append((own, time.process_time() - start))
            ours, theirs = np.median(seconds, axis=0)
            ratios.append(theirs / ours)
            print(
                f"n = {n}, C = {C:g}, γ = {reg:g}: PIQP {theirs:.2f} s, "
                f"auto {ours:.2f} s, {ratios[-1]:.1f} ×, dual values {value:.8g} and "
                f"{answer.dual_value:.8g} (gap {answer.relative_gap:.0e})",
                flush=True,
            )
        mean = float(np.exp(np.mean(np.log(ratios))))
        wanted = 8 if n < 2000 else 15
        mark(f"PIQP / auto, n = {n}", f"{mean:.1f}", f"≥ {wanted}", mean >= wanted)


PARTS = {
    "solvers": part_solvers,
    "auto": part_auto,
    "delta": part_delta,
    "rival": part_rival,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--rows", type=int, nargs="+", default=[300, 1000])
    parser.add_argument(
        "--delta-rows", type=int, nargs="+", default=[500, 1000, 2000, 4000]
    )
    parser.add_argument("--rival-rows", type=int, nargs="+", default=[1000, 2000])
    parser.add_argument("--models", nargs="+", choices=MODELS, default=MODELS)
    parser.add_argument("--draws", type=int, default=60, help="problems of each kind")
    parser.add_argument(
        "--each", type=int, default=5, help="of each model in *solvers*"
    )
    parser.add_argument("--verbose", action="store_true")
    options = parsed(
        parser, rows=[60], delta_rows=[100], rival_rows=[60], draws=2, each=1
    )
    warnings.simplefilter("ignore")
    with one_thread():
        for part in options.parts:
            PARTS[part](options)


if __name__ == "__main__":
    main()
