"""The compiled inner loop of :mod:`.outer`; importing this module imports numba.

Multipliers are sorted by class: class c is ``starts[c]:starts[c + 1]``. Multiplier m
acts on at most J functions: on function ``fn[j, m]`` at ``pos[j, m]`` with coefficient
``a[j, m]`` (0 if there are fewer). The values ``K_k v_k/ρ_k`` of all functions are one
flat vector, in which ``at[j, m]`` is the position of (fn, pos). ``grams`` may be longer
than there are functions: compiled code depends on its length.
"""

from __future__ import annotations

import numpy as np

from lupi._jit import jit

__all__ = ["descend", "hessian"]

QUICK = {"reassoc", "contract", "arcp", "nsz"}
# Smallest relative curvature, so that the gain of a flat direction is finite.
FLAT = 1e-12


@jit(fastmath=QUICK)
def curvature(grams, scale, fn, pos, a, i, j):
    """Return the entry ``H_ij = Σ_k a_ik a_jk K_k/ρ_k`` of the dual Hessian."""
    total = 0.0
    for s in range(a.shape[0]):
        for t in range(a.shape[0]):
            if fn[s, i] == fn[t, j] and a[s, i] != 0.0 and a[t, j] != 0.0:
                k = fn[s, i]
                entry = grams[k][pos[s, i], pos[t, j]]
                total += a[s, i] * a[t, j] * scale[k] * entry
    return total


@jit(fastmath=QUICK)
def hessian(grams, scale, fn, pos, a, members):
    """Return H on some multipliers; only the upper triangle is set."""
    size = members.size
    matrix = np.empty((size, size))
    for i in range(size):
        for j in range(i, size):
            matrix[i, j] = curvature(grams, scale, fn, pos, a, members[i], members[j])
    return matrix


@jit(fastmath=QUICK)
def add_column(grams, scale, offsets, fn, pos, a, m, weight, touched, image):
    """Add ``weight · H e_m``, as values of the functions, to image."""
    for j in range(a.shape[0]):
        if a[j, m] == 0.0:
            continue
        k = fn[j, m]
        row = grams[k][pos[j, m]]
        start, factor = offsets[k], weight * a[j, m] * scale[k]
        if touched[k]:
            for at_row in range(row.size):
                image[start + at_row] += factor * row[at_row]
        else:
            for at_row in range(row.size):
                image[start + at_row] = factor * row[at_row]
            touched[k] = True


@jit(fastmath=QUICK)
def gradients(value, at, a, width, rhs, starts, gradient):
    """Set ``Σ_j a_jm value[at_jm] − r_m`` for every multiplier."""
    for c in range(width.size):
        for m in range(starts[c], starts[c + 1]):
            gradient[m] = a[0, m] * value[at[0, m]] - rhs[m]
        for j in range(1, width[c]):
            for m in range(starts[c], starts[c + 1]):
                gradient[m] += a[j, m] * value[at[j, m]]


@jit(fastmath=QUICK)
def descend(
    grams,
    scale,
    offsets,
    fn,
    pos,
    at,
    a,
    width,
    rhs,
    diagonal,
    lower,
    upper,
    starts,
    circuits,
    value,
    expansion,
    multipliers,
    tol,
    max_steps,
):
    """Take working-set steps until the largest violation is at most tol.

    Changes value, expansion and multipliers in place; returns the number of steps and
    the largest remaining violation.
    """
    n_classes, n_circuits = width.size, circuits.shape[0]
    size = rhs.size
    gradient = np.empty(size)
    image = np.zeros(value.size)
    touched = np.zeros(scale.size, dtype=np.bool_)
    low, high = np.empty(n_classes), np.empty(n_classes)
    up, down = np.empty(n_classes, np.int64), np.empty(n_classes, np.int64)
    chosen = np.empty(max(n_classes, 2), np.int64)
    weight = np.empty(max(n_classes, 2))
    worst = 0.0
    for step in range(max_steps + 1):
        gradients(value, at, a, width, rhs, starts, gradient)
        for c in range(n_classes):
            low[c], high[c], up[c], down[c] = np.inf, -np.inf, -1, -1
            for m in range(starts[c], starts[c + 1]):
                g = gradient[m]
                if g < low[c] and multipliers[m] < upper[m]:
                    low[c], up[c] = g, m
                if g > high[c] and multipliers[m] > lower[m]:
                    high[c], down[c] = g, m
        # Choose the direction with the largest gain, by its extreme members.
        worst, most, kind = 0.0, -1.0, -1
        for c in range(n_classes):
            slope = high[c] - low[c]
            if slope <= 0.0 or up[c] < 0 or down[c] < 0:
                continue
            worst = max(worst, slope)
            i, j = up[c], down[c]
            bend = diagonal[i] + diagonal[j]
            bend -= 2.0 * curvature(grams, scale, fn, pos, a, i, j)
            gain = slope * slope / max(bend, FLAT * (diagonal[i] + diagonal[j]))
            if gain > most:
                most, kind = gain, c
        for r in range(n_circuits):
            slope, total, possible, count = 0.0, 0.0, True, 0
            for c in range(n_classes):
                w = circuits[r, c]
                if w == 0.0:
                    continue
                m = up[c] if w > 0.0 else down[c]
                if m < 0:
                    possible = False
                    break
                slope -= w * gradient[m]
                total += abs(w)
                chosen[count], weight[count] = m, w
                count += 1
            if not possible or slope <= 0.0:
                continue
            worst = max(worst, 2.0 * slope / total)
            bend, size_of_bend = 0.0, 0.0
            for s in range(count):
                own = weight[s] ** 2 * diagonal[chosen[s]]
                bend += own
                size_of_bend += own
                for t in range(s):
                    between = curvature(grams, scale, fn, pos, a, chosen[s], chosen[t])
                    bend += 2.0 * weight[s] * weight[t] * between
            gain = slope * slope / max(bend, FLAT * size_of_bend)
            if gain > most:
                most, kind = gain, n_classes + r
        if worst <= tol or step == max_steps or kind < 0:
            return step, worst
        # All members but the last are given; the last is chosen by its gain.
        count = 0
        if kind < n_classes:
            chosen[0], weight[0], count, seek, w = up[kind], 1.0, 1, kind, -1.0
        else:
            seek, w = -1, 0.0
            for c in range(n_classes):
                if abs(circuits[kind - n_classes, c]) > abs(w):
                    seek, w = c, circuits[kind - n_classes, c]
            for c in range(n_classes):
                other = circuits[kind - n_classes, c]
                if other != 0.0 and c != seek:
                    chosen[count] = up[c] if other > 0.0 else down[c]
                    weight[count] = other
                    count += 1
        touched[:] = False
        slope = bend = size_of_bend = 0.0
        for s in range(count):
            m = chosen[s]
            add_column(grams, scale, offsets, fn, pos, a, m, weight[s], touched, image)
            slope += weight[s] * gradient[m]
        for s in range(count):
            m = chosen[s]
            size_of_bend += weight[s] ** 2 * diagonal[m]
            for j in range(a.shape[0]):
                if a[j, m] != 0.0:
                    bend += weight[s] * a[j, m] * image[at[j, m]]
        for k in range(scale.size):
            if not touched[k]:
                for at_row in range(offsets[k], offsets[k] + grams[k].shape[0]):
                    image[at_row] = 0.0
        most, partner, partner_bend = -1.0, -1, 0.0
        for m in range(starts[seek], starts[seek + 1]):
            if w > 0.0:
                if multipliers[m] >= upper[m]:
                    continue
            elif multipliers[m] <= lower[m]:
                continue
            total = slope + w * gradient[m]
            if total >= 0.0:
                continue
            cross = a[0, m] * image[at[0, m]]
            for j in range(1, width[seek]):
                cross += a[j, m] * image[at[j, m]]
            floor = FLAT * (size_of_bend + w * w * diagonal[m])
            q = max(bend + 2.0 * w * cross + w * w * diagonal[m], floor)
            gain = total * total / q
            if gain > most:
                most, partner, partner_bend = gain, m, q
        if partner < 0:
            return step, worst  # the slope is lost to rounding
        chosen[count], weight[count] = partner, w
        slope += w * gradient[partner]
        count += 1
        touched[:] = True
        add_column(grams, scale, offsets, fn, pos, a, partner, w, touched, image)
        length = -slope / partner_bend if partner_bend > 0.0 else np.inf
        for s in range(count):
            m = chosen[s]
            if weight[s] > 0.0:
                length = min(length, (upper[m] - multipliers[m]) / weight[s])
            else:
                length = min(length, (lower[m] - multipliers[m]) / weight[s])
        if not length < np.inf:
            return step, worst
        for s in range(count):
            m = chosen[s]
            moved = multipliers[m] + length * weight[s]
            # A multiplier that reaches its bound is set to it exactly.
            if weight[s] > 0.0 and length >= (upper[m] - multipliers[m]) / weight[s]:
                moved = upper[m]
            elif weight[s] < 0.0 and length >= (lower[m] - multipliers[m]) / weight[s]:
                moved = lower[m]
            change = moved - multipliers[m]
            multipliers[m] = moved
            for j in range(a.shape[0]):
                expansion[at[j, m]] += a[j, m] * change
        for at_row in range(value.size):
            value[at_row] += length * image[at_row]
    return max_steps, worst
