"""Cases for bad_inputs.py: step files. To join: one more steps(name, content, message), or field_case() for the
value of a field."""

import struct

from bad_inputs_files import (GOOD_STEP, INFINITY, NAN, STEP_FIELDS, case, crc32c, descr, folder, good, link, locked, npy, npy_header,
                              sparse, step, trailer)


def steps(name, content, says, exit_status=3, command="run -q -s ice.model=uniform", **more):
    case("steps", name, command + " -s source.files=a.steps.npy", exit_status, says if isinstance(says, list) else ["a.steps.npy: ", says],
        {"a.steps.npy": content}, **more)


def field_case(name, says, **changes):
    steps(name, npy(step(), step(step_id=1, **changes)), ["a.steps.npy: row 1, field", says])


def header_cases():
    two = npy(step(), step(step_id=1))
    steps("empty", b"", "found an empty file, expected an .npy file")
    steps("text", b"x,y,z\n1,2,3\n",
        ["byte 0: found no .npy magic string", "begins like text, and lists of particles are given as particles.file"])
    steps("a .npz archive", b"PK\x03\x04" + bytes(200), "byte 0: found no .npy magic string")
    steps("an HDF5 file", b"\x89HDF\r\n\x1a\n" + bytes(2000),
        ["byte 0: found no .npy magic string", "of which icestream.convert.from_hdf5() in Python makes .npy"])
    for size, says in (
        (3, "found 3 bytes, expected a complete .npy header"),
        (9, "found 9 bytes, expected a complete .npy header"),
        (60, "expected"),
        (two.index(b"\n"), "1 bytes more of the header"),
        (len(two) - 144, "found 0 complete rows, expected 2"),
        (len(two) - 73, "found 0 complete rows, expected 2"),
        (len(two) - 1, "found 1 complete rows, expected 2"),
    ):
        steps("cut after %d bytes" % size, two[:size], ["a.steps.npy: ", says])
    steps("version 9", npy(step(), version=(9, 0)), "byte 6: found .npy version 9.0")
    steps("a header of 2 GB", npy(step(), version=(2, 0), length=(1 << 31)), "byte 8: found a header of 2147483648 bytes, expected at most")
    steps("a header of 2 GB in a sparse file", sparse(npy(step(), version=(2, 0), length=(1 << 31) - 1), 1 << 32),
        "byte 8: found a header of")
    steps("no header text", npy_header("", length=0), "byte 8: found a header of 0 bytes")
    steps("2^64 rows", npy(step(), shape="(18446744073709551616,)"), "header byte")
    steps("2^60 rows", npy(step(), shape="(1152921504606846976,)"),
        "header: found 1152921504606846976 rows of 72 bytes, expected less than 2^63 bytes")
    steps("2^50 rows", npy(step(), shape="(1125899906842624,)"), "found 1 complete rows, expected")
    steps("-1 rows", npy(step(), shape="(-1,)"), "expected a shape of one dimension")
    steps("two dimensions", npy(step(), shape="(1, 1)"), "expected a shape of one dimension")
    steps("no dimension", npy(step(), shape="()"), "expected a shape of one dimension")
    steps("Fortran order", npy(step(), order="True"), "expected fortran_order False")
    steps("no key shape", npy_header("{'descr': %s, 'fortran_order': False}" % descr()), "found no key 'shape'")
    steps("a key twice", npy(step(), keys="'shape': (1,)"), "found key 'shape' again")
    steps("a further key", npy(step(), keys="'size': 1"), "found key 'size'")
    steps("a program for a header", npy_header("{'descr': __import__('os').system('true')}"), "header byte")
    steps("Python objects", npy(step(), types="'|O'"), "expected a list of fields")
    steps("a field of Python objects", npy(step(), types=descr(weight="|O")), "field weight: found Python objects, expected numbers")
    steps("a plain array of numbers", npy(bytes(64), types="'<f4'"),
        "found an array of plain numbers, type '<f4', expected a list of fields")
    steps("no field", npy(step(), types="[]"), "expected at least one field")
    steps("a field missing", npy(bytes(68), types=descr([f for f in STEP_FIELDS if f[0] != "beta"])), "field beta: found none of this name")
    steps("a field twice", npy(bytes(76), types=descr(STEP_FIELDS + [("x", "<f4")])), "field x: found it twice")
    steps("big-endian", npy(step(), types=descr(x=">f4")), "field x: found type >f4")
    steps("a date", npy(bytes(72), types=descr(t="<M8[ns]")), "field t: found type <M8[ns]")
    steps("a sub-array", npy(bytes(68), types="[('x', '<f4', (2,)), ('photons', '<u4')]"), "field x: found type a sub-array")
    steps("a row of 1 TB", npy(bytes(64), types="[('x', '<f4', (1000000, 1000000))]"), "expected a sub-array of less than 1 MiB")
    steps("structures 100 deep", npy(bytes(64), types="[('x', " * 100 + "'<f4'" + ")]" * 100), "expected structures nested at most 8 deep")
    steps("hits", good.hits, "found a file of hits (its fields are theirs), expected one of steps")
    wide = [(n, "<f8" if n in ("photons", "step_id", "x") else k) for n, k in STEP_FIELDS]
    wide_row = struct.Struct("<d2fd6fdQd2BHQ")

    def converted(**changes):
        return npy(wide_row.pack(*{**GOOD_STEP, **changes}.values()), types=descr(wide))

    steps("1.5 photons, as a double", converted(photons=1.5), "row 0, field photons: found 1.5")
    steps("-1 photons, as a double", converted(photons=-1), "row 0, field photons: found -1")
    steps("NaN for a step id, as a double", converted(step_id=NAN), "row 0, field step_id: found nan")
    steps("1e300 m, as a double", converted(x=1e300), "row 0, field x: found 1e+300")
    steps("an event above 2^53, as a double",
        npy(struct.Struct("<3fI6fddI2BHQ").pack(*{**GOOD_STEP, "event_id": 2.0**53 + 2}.values()), types=descr(event_id="<f8")),
        "row 0, field event_id: found 9007199254740994 in a float of 8 bytes, which rounds whole numbers of this size; expected an integer type")


def step_cases():
    field_case("NaN", "x: found nan, expected a value in [-10000, 10000] m", x=NAN)
    field_case("a time since 1970",
        "t: found 1.7e+18, expected a value in [-8796093022208, 8796093022208] ns, so that hits keep their times to within 0.001 ns",
        t=1.7e18)
    field_case("infinitely late", "t: found inf, expected a value in [-8796093022208, 8796093022208] ns", t=INFINITY)
    field_case("11 km away", "z: found -11000", z=-11000)
    field_case("no direction", "found a vector of length 0", dx=0, dy=0, dz=0)
    field_case("a direction of NaN", "dy: found nan", dy=NAN)
    field_case("a direction of length 2", "found a vector of length 2", dz=2)
    field_case("a direction of 1e38", "found a vector of length 1e+38", dx=1e38)
    field_case("negative length", "length: found -1", length=-1)
    field_case("faster than light", "beta: found 1.5, expected a value in (0, 1]", beta=1.5)
    field_case("at rest", "beta: found 0, expected a value in (0, 1]", beta=0)
    field_case("a negative weight", "weight: found -1", weight=-1)
    case("steps", "a weight that its bias makes infinite", "run -q -s device.backend=cpu", 3,
        ["a.steps.npy: event 0, step 0, field weight: found 3.4e+38", "1 of 1 files quarantined"],
        {"steps/a.steps.npy": npy(step(weight=3.4e38, photons=3000, z=8))})
    field_case("unknown kind", "kind: found 9, expected 0 (track)", kind=9)
    field_case("unknown spectrum", "spectrum: found 7, expected a spectrum of the run, 0 to 6", spectrum=7)
    field_case("unknown flags", "flags: found 1024, expected bits of 1 (isotropic)", flags=1024)
    field_case("a surface without a beam", "flags: found 256, expected a pulse, surface or glass", flags=256)
    # Profiles: 4 cascade, 8 cloud, 12 gauss, 16 lab, 28 clsim, 44 exact; 64 LED, 128 rectangle.
    field_case("profile 13", "flags: found 52, expected bits of 1 (isotropic)", flags=52)
    field_case("pulse 3", "flags: found 204, expected a pulse of 0", flags=204, spectrum=3)
    field_case("a profile of isotropic light", "found 13, expected 1 (isotropic) only", flags=13)
    field_case("a pulse of a cascade", "found 68, expected no pulse", flags=68, length=0.6, beta=5)
    field_case("a cascade of an LED", "spectrum: found 3, expected 0", flags=4, beta=5, spectrum=3)
    field_case("depths of 11 m", "length: found 11, expected a scale", flags=4, length=11, beta=5)
    field_case("depths of shape 0.0625", "beta: found 0.0625", flags=4, length=0.6, beta=0.0625)
    field_case("a slow cloud", "beta: found 0.5, expected 1", flags=8, beta=0.5)
    field_case("a beam of Cherenkov light", "spectrum: found 0, expected 1 or more", flags=44)
    field_case("clsim's beam of a laser", "spectrum: found 6, expected an LED", flags=28, spectrum=6)
    field_case("a beam of 10 rad", "beta: found 10, expected a sigma from 1e-5 to 3.1415927 rad", flags=12, spectrum=3, beta=10, length=0)
    field_case("a width of an exact beam", "beta: found 0.125, expected 1", flags=44, spectrum=3, beta=0.125)
    field_case("an LED of width 128", "length: found 128, expected the width of an LED", flags=12 + 64, spectrum=3, beta=0.2, length=128)
    field_case("a duration of 2 s", "length: found 2e+09, expected a duration from 0 to 1e9 ns", flags=44 + 128, spectrum=3, length=2e9)
    field_case("a length of an instant beam", "length: found 3, expected 0", flags=44, spectrum=3, length=3)
    field_case("glass and surface", "found 784, expected one of", flags=16 + 256 + 512, spectrum=3)
    field_case("glass around a Gaussian beam", "found 524, expected glass", flags=12 + 512, spectrum=3)
    steps("a step id twice", npy(step(), step(step_id=1), step()), "row 2, field step_id: found 0 again in event 0 (as in row 0)")
    many = struct.pack("<I", 0xFFFFFFFF)
    steps("2^62 photons", npy(*[step(step_id=i).replace(struct.pack("<I", 10), many, 1) for i in range(3)]).replace(b"(3,)", b"(9,)"),
        "found 3 complete rows, expected 9")
    steps("bytes behind the rows", npy(step()) + b"junk", "trailer: found 4 bytes after the last row that do not end in ISTRAIL1")
    metadata = b'{"schema":"icestream.steps","version":1,"rows":1,"crc32c":{"block_bytes":1048576,"values":[%d]}}'
    body = npy(step())
    right = metadata % crc32c(step())
    steps("a trailer of version 2", trailer(body, right, version=2), "trailer: found version 2, expected 1")
    steps("a trailer that starts elsewhere", trailer(body, right, offset=1 << 63), "trailer: found metadata at byte")
    steps("a trailer with another checksum", trailer(body, right, checksum=1), "trailer: found metadata with CRC-32C")
    steps("a trailer that is no JSON", trailer(body, b"{schema"), "trailer: byte")
    steps("a trailer that is a list", trailer(body, b"[1]"), "found another JSON value, expected a JSON object")
    steps("a trailer of brackets", trailer(body, b"[" * 100000), "trailer: byte")
    steps("a trailer of something else", trailer(body, right.replace(b"steps", b"hits")),
        'trailer: schema: found "icestream.hits", expected icestream.steps')
    steps("a trailer for more rows", trailer(body, right.replace(b'"rows":1', b'"rows":2')), "trailer: rows: found 2, expected 1")
    steps("a trailer without checksums", trailer(body, b'{"schema":"icestream.steps","version":1,"rows":1}'),
        "trailer: crc32c.block_bytes: found nothing")
    steps("a checksum of rows that differs", trailer(body, metadata % 1), "rows 0 to 14563: found CRC-32C")
    for name, at in (
        ("in a row", 1024 + 72 * 20 + 40),
        ("in the metadata", -100),
        ("in the tail", -30),
    ):
        flipped = bytearray(good.steps)
        flipped[at] ^= 1
        steps("one bit flipped " + name, bytes(flipped), ["a.steps.npy: ", "found"])
    steps("a trailer cut short", good.steps[:-1], "trailer: found")
    steps("a .part of a killed writer", good.steps[:1024].replace(b" 40,)", b"  0,)") + good.steps[1024:3000],
        "trailer: found 1976 bytes after the last row that do not end in ISTRAIL1")
    steps("a link to nowhere", link("nowhere"), "found a link to nowhere, which leads to no file, expected a file")
    steps("a folder", folder(), "found a folder, expected a regular file")
    steps("a device without end", link("/dev/zero"), "found a device, expected a regular file")
    steps("unreadable", locked(npy(step())), "cannot open: Permission denied", unprivileged=True)
    case("steps", "an output over an input", "run --force -s sink.directory=. -s 'source.files=[a.npy, a.hits.npy]'", 2,
        ["a.hits.npy would be overwritten by the output ./a.hits.npy"], {"a.npy": good.steps, "a.hits.npy": good.steps})
    case("steps", "not there", "run -s 'source.files=[none.npy]'", 2,
        "--set source.files: error: source.files: none.npy: No such file or directory")
    case("steps", "one bad file among good ones", "run -q -s ice.model=uniform", 3,
        ["steps/b.steps.npy: found an empty file", "1 of 3 files quarantined"],
        {"steps/a.steps.npy": good.steps, "steps/b.steps.npy": b"", "steps/c.steps.npy": good.steps})
    case("steps", "two names, one output", "run -s 'source.files=[a.npy, a.steps.npy]'", 2, ["would both be written to hits/a.hits.npy"],
        {"a.npy": good.steps, "a.steps.npy": good.steps})
    case("steps", "one file under two names", "run -s 'source.files=[a.npy, b.npy]'", 2, ["the same file is named twice"],
        {"a.npy": good.steps, "b.npy": link("a.npy")})
