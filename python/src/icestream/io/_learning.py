"""Hits with their truth for programs that learn: Prometheus' Parquet, and Parquet by event. Needs pyarrow."""
from __future__ import annotations

import os
from typing import Any, Dict, List, Optional, Union

import numpy as np

from .._arrays import HIT, STEP, Table
from .._commands import MODULE, geometry
from .._convert import needed
from .._library import fault, usage
from . import PARTICLE, UNITS

Path = Union[str, "os.PathLike[str]"]
# Fields of Prometheus' Parquet, as GraphNeT's PrometheusTruthExtractor and PrometheusFeatureExtractor read them.
TRUTH = ["interaction"] + ["initial_state_" + name for name in ("energy", "type", "zenith", "azimuth", "x", "y", "z")]
PHOTONS = ["sensor_pos_x", "sensor_pos_y", "sensor_pos_z", "string_id", "sensor_id", "t"]
FINAL = ["final_state_" + name for name in ("energy", "type", "zenith", "azimuth", "x", "y", "z", "parent")]
WHOLE = {"interaction", "initial_state_type", "string_id", "sensor_id", "id_idx"}
# Truth of to_parquet in addition to the fields of hits: the particle, and the step that the light came from.
SOURCE = {"particle": "1", "source_type": "1", "source_energy": "GeV", "emission_x": "m", "emission_y": "m", "emission_z": "m",
          "emission_dx": "1", "emission_dy": "1", "emission_dz": "1", "emission_t": "ns", "emission_length": "m"}


def _checked(hits: Any, particles: Any, steps: Any) -> None:
    for name, table, dtype in (("hits", hits, HIT), ("particles", particles, np.dtype(PARTICLE)), ("steps", steps, STEP)):
        if table is not None and not (isinstance(table, np.ndarray) and table.dtype == dtype and table.ndim == 1):
            raise usage("%s: found %s, expected an array with the dtype of icestream.%s"
                        % (name, type(table).__name__, {"hits": "HIT", "particles": "io.PARTICLE", "steps": "STEP"}[name]))
    if particles is not None and np.any(np.diff(particles["event"].astype(np.int64)) < 0):
        raise usage("particles: found events that decrease, expected ascending events")


def _steps_of(hits: Table, steps: Table) -> Any:
    """The index of the step of each hit."""
    events = np.unique(steps["event_id"])
    keys = np.searchsorted(events, steps["event_id"]).astype(np.uint64) << np.uint64(32) | steps["step_id"]
    order = np.argsort(keys, kind="stable")
    at = np.minimum(np.searchsorted(events, hits["event_id"]), max(len(events) - 1, 0))
    wanted = at.astype(np.uint64) << np.uint64(32) | hits["step_id"]
    found = order[np.minimum(np.searchsorted(keys[order], wanted), max(len(steps) - 1, 0))] if len(steps) else np.zeros(len(hits), int)
    bad = np.full(len(hits), True) if not len(steps) else (keys[found] != wanted) | (steps["event_id"][found] != hits["event_id"])
    if np.any(bad):
        first = hits[bad][0]
        raise usage("steps: found no step %d of event %d, which a hit has, expected the steps of the run"
                    % (first["step_id"], first["event_id"]))
    return found


def _rows_of(steps: Table, particles: Table) -> Any:
    """The row in `particles` of each step: source_id is the number of a listed particle in its event."""
    listed = np.flatnonzero(particles["listed"])
    events = particles["event"][listed]
    at = np.searchsorted(events, steps["event_id"]) + steps["source_id"].astype(np.int64)
    bad = at >= len(listed)
    at = np.minimum(at, max(len(listed) - 1, 0))
    bad |= events[at] != steps["event_id"] if len(listed) else True
    if np.any(bad):
        first = steps[bad][0]
        raise usage("particles: found no particle %d of event %d, which a step has, expected the particles of the run"
                    % (first["source_id"], first["event_id"]))
    return listed[at]


def _interaction(first: Any, children: Table) -> int:
    """Prometheus' number: 0 Glashow resonance, 1 charged current, 2 neutral current, 3 two muons; -1: no neutrino."""
    kind = int(first["type"])
    if abs(kind) not in (12, 14, 16):
        return -1
    types = children["type"].tolist()
    muons = types.count(13) + types.count(-13)
    if muons > 1 and abs(kind) == 14:
        return 3
    if kind - (1 if kind > 0 else -1) in types:
        return 1
    if kind in types:
        return 2
    if kind == -12:
        return 0
    raise fault("particles: event %d: found a neutrino %d with the products %s, expected its lepton or itself"
                % (first["event"], kind, types[:6]))


def _angles(rows: Table) -> Dict[str, Any]:
    """theta and phi of the direction of travel, which Prometheus calls zenith and azimuth (particle.py)."""
    return {"zenith": np.arccos(np.clip(rows["dz"], -1, 1)), "azimuth": np.arctan2(rows["dy"], rows["dx"])}


def _truth_of(rows: Table) -> Dict[str, Any]:
    """mc_truth of one event. The initial state is the first particle."""
    record: Dict[str, Any] = {"interaction": _interaction(rows[0], rows[rows["parent"] == 0])}
    columns = {**{name: rows[name] for name in ("energy", "type", "x", "y", "z")}, **_angles(rows)}
    for name, values in columns.items():
        record["initial_state_" + name] = values[0].item()
        record["final_state_" + name] = values[1:].astype(float).tolist()
    record["final_state_parent"] = np.maximum(rows["parent"][1:], 0).astype(float).tolist()
    return record


def _modules(hits: Any, modules: Optional[Table]) -> Table:
    if modules is None:
        about = getattr(hits, "metadata", None)
        if not about or "configuration" not in about:
            raise usage("modules: found hits without metadata, expected modules=icestream.geometry(CONFIG) for them")
        modules = geometry(about["configuration"])
    if not isinstance(modules, np.ndarray) or modules.dtype != MODULE:
        raise usage("modules: found %s, expected what icestream.geometry() returns" % type(modules).__name__)
    return modules


def to_prometheus(hits: Table, particles: Table, path: Path, *, modules: Optional[Table] = None,
                  steps: Optional[Table] = None) -> None:
    """Writes hits as Prometheus' Parquet, a row for each event of `particles`, with the structs mc_truth and photons, as GraphNeT's
    PrometheusReader reads them; docs/learning.md has the fields.

    hits: photo-electrons of weight 1 (`stages: {detect: pe}` or a variant with PMTs). particles: a table of icestream.io whose
    first row of each event is the initial state. modules: of geometry(); None: of the configuration in the metadata of the hits.
    steps: of generate(); with them photons has id_idx, the particle that made the light. Raises UsageError, InputError, and
    ImportError without pyarrow."""
    pyarrow, parquet = needed("pyarrow", "to_prometheus"), needed("pyarrow.parquet", "to_prometheus")
    _checked(hits, particles, steps)
    odd = np.abs(np.asarray(hits["weight"]) - 1) > 1e-6
    if np.any(odd):
        raise usage("hits: found the weight %g, expected photo-electrons of weight 1 (stages.detect: pe)" % hits["weight"][odd][0])
    table = _modules(hits, modules)
    keys = table["string"].astype(np.uint32) << np.uint32(16) | table["module"]
    order = np.argsort(keys)
    wanted = hits["string"].astype(np.uint32) << np.uint32(16) | hits["module"]
    at = order[np.minimum(np.searchsorted(keys[order], wanted), len(keys) - 1)]
    if np.any(keys[at] != wanted):
        first = hits[keys[at] != wanted][0]
        raise usage("modules: found no module %d of string %d, which a hit has, expected the modules of the run"
                    % (first["module"], first["string"]))
    columns = {"sensor_pos_" + axis: table[axis][at] for axis in "xyz"}
    columns.update(string_id=hits["string"].astype(np.int64), sensor_id=hits["module"].astype(np.int64), t=np.asarray(hits["t"]))
    events, begins = np.unique(particles["event"], return_index=True)
    if steps is not None:
        rows = _rows_of(steps, particles)[_steps_of(hits, steps)]
        columns["id_idx"] = rows - begins[np.searchsorted(events, particles["event"][rows])]
    unknown = np.setdiff1d(hits["event_id"], events)
    if len(unknown):
        raise usage("particles: found no event %d, which has hits, expected all events" % unknown[0])
    by_event = np.argsort(hits["event_id"], kind="stable")
    ends = np.searchsorted(hits["event_id"][by_event], events, side="right")
    offsets = pyarrow.array(np.concatenate([[0], ends]).astype(np.int64))

    def kind(name: str) -> Any:
        return pyarrow.int64() if name in WHOLE else pyarrow.float64()

    lists = [pyarrow.LargeListArray.from_arrays(offsets, pyarrow.array(values[by_event], kind(name))) for name, values in columns.items()]
    photons = pyarrow.StructArray.from_arrays(lists, list(columns))
    layout = pyarrow.struct([(name, kind(name)) for name in TRUTH] + [(name, pyarrow.large_list(pyarrow.float64())) for name in FINAL])
    truth = pyarrow.array([_truth_of(rows) for rows in np.split(particles, begins[1:])] if len(events) else [], layout)
    parquet.write_table(pyarrow.table({"mc_truth": truth, "photons": photons}), os.fspath(path))


def to_parquet(hits: Table, folder: Path, *, particles: Optional[Table] = None, steps: Optional[Table] = None) -> None:
    """Writes hits into `folder`/hits, and particles into `folder`/particles, as Parquet with one folder event_id=N for each event.

    Columns are the fields of hits and of particles; with steps and particles hits also have those of SOURCE: the row of the
    particle in its event, and the position, direction, time and length of the step that the light came from. The metadata of the
    schema has the units. Raises UsageError, OutputError if the folder has such files, and ImportError without pyarrow."""
    pyarrow, dataset = needed("pyarrow", "to_parquet"), needed("pyarrow.dataset", "to_parquet")
    _checked(hits, particles, steps)
    if (particles is None) != (steps is None):
        raise usage("to_parquet: found only one of particles and steps, expected both or neither")
    from .._arrays import UNITS as OF_HITS
    columns = {name: np.asarray(hits[name]) for name in HIT.names or ()}
    units = dict(OF_HITS)
    tables: List[Any] = [("hits", columns, units)]
    if particles is not None and steps is not None:
        source = np.asarray(steps)[_steps_of(hits, steps)]
        rows = _rows_of(source, particles)
        begins = np.searchsorted(particles["event"], particles["event"][rows])
        columns.update(particle=(rows - begins).astype(np.int32), source_type=particles["type"][rows],
                       source_energy=particles["energy"][rows], emission_length=source["length"],
                       **{"emission_" + name: source[name] for name in ("x", "y", "z", "dx", "dy", "dz", "t")})
        units.update(SOURCE)
        tables.append(("particles", {"event_id" if name == "event" else name: particles[name] for name, _ in PARTICLE},
                       {name: UNITS.get(name, "1") for name, _ in PARTICLE}))
    for name, fields, unit in tables:
        content = pyarrow.table({key: np.ascontiguousarray(values) for key, values in fields.items()})
        content = content.replace_schema_metadata({"unit of " + key: unit.get(key, "1") for key in fields})
        parts = dataset.partitioning(pyarrow.schema([("event_id", pyarrow.uint64())]), flavor="hive")
        target = os.path.join(os.fspath(folder), name)
        if os.path.exists(target):
            raise fault("%s: found an existing folder, expected none" % target, "ICESTREAM_E_OUTPUT")
        dataset.write_dataset(content, target, format="parquet", partitioning=parts, use_threads=False,
                              max_partitions=len(np.unique(fields["event_id"])) + 1)
