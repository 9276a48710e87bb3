"""Cases for bad_inputs.py: photon tables. To join: one more damaged(name, bytes, message) for a file, or
wrong_table(name, message, key=value) for a key of the metadata."""

from bad_inputs_files import case
from table_file import AXES, cells_of, header_of, table


def damaged(name, data, says):
    case("photon tables", name, "table info a.npy", 3, "a.npy: " + says, {"a.npy": data})


def damaged_info(name, data, says):
    case("photon tables", name, "info --verify a.npy", 3, "a.npy: " + says, {"a.npy": data})


def wrong_table(name, says, **changes):
    damaged(name, table(**changes), says)


def axis(**changes):
    """The four axes, with changes of the first one."""
    return [dict(AXES[0], **changes)] + AXES[1:]


def wrong_axis(title, says, **changes):
    """The sums are those of the right axes, so only the axis is wrong."""
    wrong_table(title, says, sums=[0] * cells_of(AXES), axes=axis(**changes), header=header_of(AXES, False))


def file_cases():
    good = table()
    damaged("empty", b"", "found 0 bytes, expected a photon table")
    damaged("cut", good[:2000], "found no trailer at the end")
    damaged("cut sums", good[:1024] + good[1032:], "trailer: found metadata at byte")
    damaged("another array", b"\x93NUMPY\x01\x00" + bytes(2000), "found no trailer at the end")
    damaged("a wrong sum", good[:1100] + b"\x01" + good[1101:], "rows 0 to 131071: found CRC-32C")
    wrong_table("another shape", "header: found other bytes", header=header_of(axis(bins=3), False))
    wrong_table("a negative sum", "cell 3: found the sum -1", sums=[0, 0, 0, -1] + [0] * (cells_of(AXES) - 4))
    wrong_table("another schema", "trailer: schema: found", schema="icestream.hits")


def info_cases():
    good = table()
    damaged_info("info of a table that was cut", good[:2000], "found no trailer at the end, expected a photon table")
    damaged_info("info of a table with a wrong sum", good[:1100] + b"\x01" + good[1101:], "rows 0 to 131071: found CRC-32C")
    damaged_info("info of a negative sum", table(sums=[-1] + [0] * (cells_of(AXES) - 1)), "cell 0: found the sum -1")


def key_cases():
    wrong_table("no axes", "trailer: axes: found []", axes=[])
    wrong_axis("no bins", "trailer: bins: found 0, expected a whole number from 1", bins=0)
    wrong_axis("2^40 bins", "trailer: bins: found 1099511627776", bins=1 << 40)
    wrong_axis("2^31 cells", "found 480 sums, expected 2013266160", bins=1 << 24, power=1, to=1e9)
    wrong_axis("bins that do not fit", "found 480 sums, expected 600", bins=3)
    wrong_axis("a wrong order", "axis r: found the range 8 to 0", **{"from": 8.0, "to": 0.0})
    wrong_axis("edges that descend", "axis r: found the edges 9 and 8 of bin 2", edges=[0, 9, 8])
    wrong_axis("a missing edge", "trailer: edges: found [0,8]", edges=[0, 8])
    wrong_axis("an infinite edge", "trailer: byte", to=float("inf"))
    wrong_axis("an infinite power", "trailer: power: found 99", power=99)
    wrong_axis("a unit of two lines", "axis r: found the unit ''\\n!ls\\n', expected 1 to 7 letters", unit="'\n!ls\n")
    wrong_axis("two axes of a name", "axis 2: found the name 'azimuth'", name="azimuth")
    wrong_table("no step length", "trailer: found step_length 0", step_length=0)
    wrong_table("a part that is no digest", "trailer: parts: photon table: found the part 'x'", parts=["x"])


def merge(name, says, first, second):
    case("photon tables", name, "table merge a.npy b.npy -o c.npy", 3, says, {"a.npy": first, "b.npy": second})


def command(name, line, says, status=2):
    case("photon tables", name, line, status, says, {"a.npy": table()})


def useless(name, text, says):
    """A key of a run file that would have no effect."""
    case("photon tables", name, "validate run.yaml", 2, "run.yaml:1:" + says, {"run.yaml": text.encode()})


def useless_cases():
    useless("an axis without a table", "table: {axes: [{name: r, from: 0, to: 9, bins: 9}]}", "15: error: table.axes: is for")
    useless("a position of sources that are steps", "table: {position: [1, 2, 3]}\nstages: {tabulate: spherical}\n",
        "19: error: table.position: is for table.source: fixed")
    useless("a whole turn without an azimuth",
        "table: {azimuth: full, axes: [{name: r, from: 0, to: 9, bins: 9}]}\nstages: {tabulate: spherical}\n",
        "18: error: table.azimuth: found full, and table.axes has no azimuth")
    useless("samples outside of angles only",
        "table: {outside: end, axes: [{name: cosine, from: -1, to: 1, bins: 9}]}\nstages: {tabulate: spherical}\n",
        "18: error: table.outside: found end")
    useless("an acceptance twice",
        "table: {acceptance: detector, axes: [{name: impact, from: -1, to: 1, bins: 9}]}\nstages: {tabulate: spherical}\n",
        "21: error: table.acceptance: found detector, and table.axes has the axis impact")

    pieces = "stages: {tabulate: spherical}\nice: {model: uniform}\nparticles: {cascades: steps, file: %s, format: csv}\ntable: {source: %s}\n"
    particle = b"event,type,x,y,z,zenith,azimuth,energy\n1,e-,0,0,0,0,0,1\n"
    for name, status, values, says in (
        ("a table around parts of a cascade", 3, ("a.csv", "step"), "a.csv: table.source: found steps 0 and 1 of source 0 in event 1"),
        ("a table of particles that come once", 2, ("/dev/stdin", "auto"), "run.yaml:3:36: error: particles.file: found '/dev/stdin', which can be read only once"),
    ):
        files = {"run.yaml": (pieces % values).encode(), "a.csv": particle}
        case("photon tables", name, "tabulate run.yaml -o a.npy", status, says, files, stdin=particle)


def table_cases():
    merge("a part twice", "b.npy: found the part aaaaaaaaaaaaaaaa..., which a.npy holds", table(), table())
    merge("parts of different axes", "b.npy: axis 1: found r with 2 bins from 0 to 9", table(), table(part="b" * 64, axes=axis(to=9.0)))
    merge("parts of another step length", "b.npy: the step length differs", table(), table(part="b" * 64, step_length=2))
    command("an unknown action", "table sum a.npy", "table: found 'sum', expected info or merge")
    command("no output", "table merge a.npy a.npy", "table merge: found the output nowhere, expected --output FILE")
    command("an unknown format", "table merge a.npy a.npy -o b.root", "expected --output FILE with a name that ends in .npy")
    command("one table", "table merge a.npy -o b.npy", "table merge: found one FILE, expected two or more")
    command("an option of info", "table merge a.npy a.npy --json -o b.npy", "table merge: found --json, expected it with table info")
    for action in ("slice", "project", "compare", "plot", "convert"):
        command("an action that left: " + action, "table %s a.npy" % action, "the action %s of table left in version 0.3.0; use icestream.tables." % action)
    command("an option that left", "table compare a.npy a.npy --level 0.1", "the option --level of table left in version 0.3.0; use the probability")
    command("no file", "table info none.npy", "none.npy: cannot open: No such file", 3)
