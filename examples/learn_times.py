#!/usr/bin/env python3
"""Trains a normalising flow for the delay of light at a distance, and compares it with a direct simulation.

    learn_times.py [EVENTS] [PICTURE]        # 240 events and times.png; needs torch and matplotlib

Each event is a flash of 405 nm in the ice of one depth, and each photo-electron gives a distance (m) and a delay (ns) against light
that is not scattered. The flow maps ln(1 ns + delay) by two monotone layers, whose parameters a small network makes of the distance,
to the standard logistic distribution. docs/learning.md explains it.
"""
import sys
import time

import icestream
import numpy as np
import torch
from icestream.torch import SENSOR, Events

INDEX = 1.35  # group index, of which only the zero of the delays depends
LIGHT = 0.299792458  # m/ns
CONFIG = {"run": {"seed": 7}, "stages": {"detect": "pe"}, "detector": {"oversize": 5}}
MODULES = icestream.geometry(CONFIG)
RANGES = [(15, 25), (35, 45), (70, 90)]  # m, of the picture


def flash(_, random):
    """A flash near a module in the middle of the detector."""
    module = MODULES[random.choice(np.flatnonzero(np.hypot(MODULES["x"], MODULES["y"]) < 300))]
    distance, angle = np.exp(random.uniform(np.log(8), np.log(80))), random.uniform(0, 2 * np.pi)
    x, y = module["x"] + distance * np.cos(angle), module["y"] + distance * np.sin(angle)
    return [{"type": "point", "photons": 3e7, "spectrum": 3, "x": x, "y": y, "z": random.uniform(-330, -280)}]


def delays(first, events):
    """Distances and delays of the photo-electrons of some events."""
    data = Events(flash, CONFIG, events=events, first=first, batch=4, fields=("t", *SENSOR), ragged=True, dtype=torch.float64)
    found = []
    for batch in data:
        source = torch.repeat_interleave(batch["truth"][:, :3], batch["counts"], dim=0)
        distance = torch.linalg.norm(batch["hits"][:, 1:4] - source, dim=1)
        found.append(torch.stack([distance, batch["hits"][:, 0] - distance * INDEX / LIGHT], dim=1))
    hits = torch.cat(found)
    return hits[(hits[:, 0] > 5) & (hits[:, 0] < 150)].float()


class Flow(torch.nn.Module):
    """Layers y -> logit(sum of w sigmoid(a (y - b))), with w, a, b from ln(distance)."""

    def __init__(self, layers=2, parts=8, width=64):
        super().__init__()
        self.layers, self.parts = layers, parts
        self.net = torch.nn.Sequential(torch.nn.Linear(1, width), torch.nn.SiLU(), torch.nn.Linear(width, width), torch.nn.SiLU(),
                                       torch.nn.Linear(width, layers * 3 * parts))

    def forward(self, distance, delay):
        """The logarithm of the density of the delay (1/ns), and its cumulative probability."""
        y = torch.log(torch.clamp(delay, min=-0.9) + 1)
        log_density = -y  # dy / d delay
        numbers = self.net((torch.log(distance)[:, None] - 3.5)).view(-1, self.layers, 3, self.parts)
        for at in range(self.layers):
            shares = torch.log_softmax(numbers[:, at, 0], 1)
            slope = torch.nn.functional.softplus(numbers[:, at, 1]) + 0.05
            place = numbers[:, at, 2] * 2 + torch.linspace(-2, 8 if at == 0 else 4, self.parts)
            z = slope * (y[:, None] - place)
            below = torch.logsumexp(shares + torch.nn.functional.logsigmoid(z), 1)
            above = torch.logsumexp(shares + torch.nn.functional.logsigmoid(-z), 1)
            rise = shares + torch.log(slope) + torch.nn.functional.logsigmoid(z) + torch.nn.functional.logsigmoid(-z)
            log_density = log_density + torch.logsumexp(rise, 1) - below - above
            y = below - above
        return log_density + torch.nn.functional.logsigmoid(y) + torch.nn.functional.logsigmoid(-y), torch.sigmoid(y)


def train(flow, hits, passes=30, size=4096):
    optimizer = torch.optim.Adam(flow.parameters(), 3e-3)
    rates = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, passes)
    for _ in range(passes):
        for part in torch.split(hits[torch.randperm(len(hits))], size):
            loss = -flow(part[:, 0], part[:, 1])[0].mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        rates.step()
    return float(loss.detach())


def main():
    events = int(sys.argv[1]) if len(sys.argv) > 1 else 240
    picture = sys.argv[2] if len(sys.argv) > 2 else "times.png"
    torch.manual_seed(1)
    torch.set_num_threads(1)  # the tensors are small
    begin = time.time()
    hits, direct = delays(0, events), delays(events, events // 2)
    simulated = time.time()
    flow = Flow()
    loss = train(flow, hits)
    print("%d photo-electrons of %d events in %.0f s, training %.0f s, mean -ln(density) %.3f"
          % (len(hits), events, simulated - begin, time.time() - simulated, loss))
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    _, axes = pyplot.subplots()
    for low, high in RANGES:
        own = direct[(direct[:, 0] > low) & (direct[:, 0] < high)]
        edges = torch.cat([torch.linspace(-0.5, 20, 20), torch.logspace(np.log10(22), 3.3, 30)])
        with torch.no_grad():
            levels = flow(own[:, 0], own[:, 1])[1].sort().values
            # The mean over the distances of the direct hits of the share of each bin
            few = own[:500, 0]
            below = torch.stack([flow(few, edge.expand(len(few)))[1].mean() for edge in edges])
        counts = np.histogram(own[:, 1], edges)[0]
        width = np.diff(edges)
        ks = float((levels - torch.linspace(0, 1, len(levels))).abs().max())
        print("%3d to %3d m: %6d direct photo-electrons, largest difference of the cumulative distributions %.4f, 1.36/sqrt(n) %.4f"
              % (low, high, len(own), ks, 1.36 / max(len(own), 1) ** 0.5))
        line = axes.stairs(counts / max(counts.sum(), 1) / width, edges, label="%d to %d m, direct" % (low, high))
        axes.plot((edges[1:] + edges[:-1]) / 2, np.diff(below) / width, "--", color=line.get_edgecolor())
    axes.set(xscale="symlog", yscale="log", xlabel="delay (ns)", ylabel="share of the light (1/ns)", ylim=(1e-6, 1))
    axes.legend(title="dashed: the flow")
    axes.figure.savefig(picture)


if __name__ == "__main__":
    main()
