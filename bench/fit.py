#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Fixed cost of a transfer: R(n) = n/(t0 + n/Rinf)."""

from dataclasses import dataclass


@dataclass(frozen=True)
class FixedCost:
    """Fixed cost t0 in seconds and asymptotic rate Rinf in bytes per second."""
    t0:   float
    rinf: float

    @property
    def half_peak(self):
        """Bytes of a transfer that reaches half of Rinf."""
        return self.t0*self.rinf

    def rate(self, size):
        return size/(self.t0 + size/self.rinf)


def fit(rates):
    """Returns the ``FixedCost`` of ``rates``: bytes per second by bytes of a transfer.

    Fits a straight line through the times n/R(n) by least squares of the relative error. Short transfers determine t0,
    and with relative errors they weigh as much as long ones. Raises ``ValueError`` with fewer than two sizes.
    """
    if len(rates) < 2:
        raise ValueError("a fit needs at least two sizes")
    # t0/T + n/(Rinf*T) = 1, with T the measured time: normal equations in t0 and 1/Rinf.
    aa = ab = bb = a1 = b1 = 0.0
    for size, rate in rates.items():
        a, b = rate/size, rate
        aa += a*a
        ab += a*b
        bb += b*b
        a1 += a
        b1 += b
    determinant = aa*bb - ab*ab
    t0          = (a1*bb - b1*ab)/determinant
    slope       = (aa*b1 - ab*a1)/determinant
    return FixedCost(t0, 1/slope)
