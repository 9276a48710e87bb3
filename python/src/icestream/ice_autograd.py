"""The light of `icestream.ice.expected` as a function of the parameters of the ice, with its gradient, for PyTorch and JAX, so
that
the ice may be calibrated inside the training of a network. Neither is imported before it is asked for."""
from __future__ import annotations

from typing import Any, Callable

import numpy as np

from ._arrays import Table
from ._convert import needed
from .ice import BinsOrIndex, Gradient, expected


def torch_light(hits: Table, bins: BinsOrIndex, gradient: Gradient, scale: float = 1.0) -> Callable[[Any], Any]:
    """A function of a tensor x, shape [P], that returns the light of the bins as a tensor of the type and on the device of x,
    shape [B]. It may be
    differentiated once. The light is computed in double precision on the CPU."""
    torch = needed("torch", "icestream.ice_autograd.torch_light")

    class Light(torch.autograd.Function):  # type: ignore[name-defined, misc]
        """expected() and its derivatives."""

        @staticmethod
        def forward(context: Any, x: Any) -> Any:
            """The light at x."""
            light = expected(hits, bins, x.detach().cpu().double().numpy(), gradient=gradient, scale=scale)
            context.save_for_backward(torch.as_tensor(light.derivatives).to(x))
            return torch.as_tensor(light.values).to(x)

        @staticmethod
        @torch.autograd.function.once_differentiable  # type: ignore[misc]
        def backward(context: Any, outer: Any) -> Any:
            """What the derivative of a number by the light makes of that by x."""
            return outer @ context.saved_tensors[0]
    return Light.apply


def jax_light(hits: Table, bins: BinsOrIndex, gradient: Gradient, scale: float = 1.0) -> Callable[[Any], Any]:
    """A function of an array x, shape [P], that returns the light of the bins, shape [B], in the type of x. It works under jit
    and has a gradient (reverse
    mode). The light is computed in double precision on the CPU."""
    jax = needed("jax", "icestream.ice_autograd.jax_light")
    count, size = len(expected(hits, bins, gradient=gradient).values), len(gradient.parameters)

    def both(x: Any) -> Any:
        light = expected(hits, bins, np.asarray(x, np.float64), gradient=gradient, scale=scale)
        return light.values.astype(x.dtype), light.derivatives.astype(x.dtype)

    def forward(x: Any) -> Any:
        shapes = (jax.ShapeDtypeStruct((count,), x.dtype), jax.ShapeDtypeStruct((count, size), x.dtype))
        return jax.pure_callback(both, shapes, x)

    @jax.custom_vjp  # type: ignore[misc]
    def light(x: Any) -> Any:
        return forward(x)[0]
    light.defvjp(forward, lambda derivatives, outer: (outer @ derivatives,))
    return light  # type: ignore[no-any-return]
