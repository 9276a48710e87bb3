"""icestream follows photons through the ice or the water of a neutrino telescope, here in memory.

    import icestream
    cascade = {"type": "e-", "energy": 1e3, "x": 0, "y": 0, "z": -300, "zenith": 50, "azimuth": 0}
    hits = icestream.run(None, particles=[cascade])

Units: metres, nanoseconds, nanometres, GeV, degrees. The origin is the centre of the detector; z points up.
docs/python.md describes the package.
"""
from . import convert, ice, io, plot, scene, tables
from ._abi import VERSION as __version__
from ._arrays import HIT, PATH_POINT, STEP, WAVEFORM_BIN, Account, Hits, Steps, Table, WeightSum, steps, weight_sum
from ._client import Client, send
from ._commands import LAYER, MODULE, compare, generate, geometry, layers, load, stages, trace
from ._config import Config, Particles, Settings, effective
from ._library import (LIBRARY_PATH, ConfigError, DeviceError, DifferentError, Error, FailedError, IcestreamWarning,
                       InputError, InterruptedTicketError, NoMemoryError, OutputError, UnfinishedError, UsageError, build)
from ._session import Progress, Session, run

__all__ = [
    "Account", "Client", "Config", "ConfigError", "DeviceError", "DifferentError", "Error", "FailedError", "HIT", "Hits",
    "IcestreamWarning", "InputError", "InterruptedTicketError", "LAYER", "LIBRARY_PATH", "MODULE", "NoMemoryError",
    "OutputError", "PATH_POINT", "Particles", "Progress", "STEP", "Session", "Settings", "Steps", "Table", "UnfinishedError",
    "UsageError", "WAVEFORM_BIN", "WeightSum", "__version__", "build", "compare", "convert", "effective", "generate", "geometry", "ice", "io",
    "layers", "load", "plot", "run", "scene", "send", "stages", "steps", "tables", "trace", "weight_sum",
]
