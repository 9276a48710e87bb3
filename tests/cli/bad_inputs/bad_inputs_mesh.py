"""Cases for bad_inputs.py: meshes of modules. To join: one more mesh(name, data, message) for a file, or
mesh_type(name, type, message) for the type in YAML."""

from bad_inputs_files import case

VERTICES = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\no body\n"
CLOSED = VERTICES + b"f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"


def mesh_type(name, kind, says, ending="m.obj", data=CLOSED, more=""):
    case("meshes", name, "validate -s 'detector.types={m: {%s}}'" % kind + more, 2, says, {ending: data})


def mesh(name, data, says, ending="m.obj"):
    mesh_type(name, "shape: mesh, radius: 2, mesh: " + ending, says, ending, data)


def mesh_cases():
    mesh("empty", b"", "m.obj: error: found an empty file, expected a mesh")
    mesh("another format", b"x", "expected a name that ends with .obj, .stl or .ply", "m.step")
    mesh("a letter", b"dear friend, this is no mesh\n", "m.obj: error: found no triangles")
    mesh("a vertex that is missing", VERTICES + b"f 1 2 9\n", "OBJ: vertex index out of range")
    for number in (b".5", b"-.5", b"+.5"):
        mesh("a number that begins with a point: " + number.decode(), CLOSED + b"v 0 " + number + b" 0\n",
             "m.obj:10: error: found a number that begins with a point, expected a digit in front of it, as in 0.1")
    mesh("a vertex of nan", VERTICES + b"v nan 0 0\nf 1 2 5\n", "triangle 1 of object 'body': found a vertex (nan, 0, 0)")
    mesh("too large", VERTICES + b"v 0 0 9\nf 1 2 5\n", "found a vertex 9 m from the centre, expected at most 2 m")
    mesh("no area", VERTICES + b"f 1 2 2\n", "found no area, as in all 1 triangles")
    mesh("inside out", VERTICES + b"f 1 2 3\nf 1 4 2\nf 1 3 4\nf 2 4 3\n", "object body: found a volume of -0.167 m3")
    mesh("a cut STL", b"solid x\nfacet normal 0 0 1\nouter loop\nvertex 0", "m.stl: error: found", "m.stl")
    mesh("PLY without an end of its head", b"ply\nformat ascii 1.0\n", "found no head that ends", "m.ply")
    mesh("PLY of zeros", b"ply\n" + bytes(500) + b"\nend_header\n", "found no head that ends", "m.ply")
    mesh_type("no mesh", "shape: mesh, radius: 2", "found no mesh, which the shape mesh needs")
    mesh_type("no file", "shape: mesh, radius: 2, mesh: none.obj", "none.obj: error: No such file")
    mesh_type("a mesh of a sphere", "shape: sphere, radius: 2, mesh: m.obj", "mesh: is for the shape mesh")
    mesh_type("a list as mesh", "shape: mesh, radius: 2, mesh: [m.obj]", "mesh: found a list of 1")
    mesh_type("a list of parts", "shape: mesh, radius: 2, mesh: m.obj, parts: [1]", "parts: found a list of 1")
    mesh_type("a part that is nothing", "shape: mesh, radius: 2, mesh: m.obj, parts: {body: steel}",
        "parts: found 'steel', expected glass, absorber, or the number of a PMT")
    mesh_type("a part that the file has not", "shape: mesh, radius: 2, mesh: m.obj, parts: {eye: glass, body: glass}",
        "found no triangles for the part 'eye'")
    mesh_type("an object without a part", "shape: mesh, radius: 2, mesh: m.obj, parts: {eye: glass}", "found no part for object 'body'")
    mesh_type("a PMT that the type has not", "shape: mesh, radius: 2, mesh: m.obj, parts: {body: 1}, pmts: [[180, 0]]",
        "parts: found PMT 1, expected a number below 1")
    mesh_type("a unit of 0", "shape: mesh, radius: 2, mesh: m.obj, unit: 0", "unit: found '0', expected a number from 1e-06 to 10")
    body = "shape: mesh, radius: 2, mesh: m.obj, pmts: [[180, 0], [0, 0]]"
    place = " -s stages.detect=pmt-place -s light.acceptance=standard"
    says = 'pmt-place needs to know which triangles of a mesh are windows of PMTs, and no part of the type m is the number of a PMT'
    mesh_type("pmt-place without parts", body, says, more=place)
    mesh_type("pmt-place with parts of glass", body + ", parts: {body: glass}", 'in parts, as in parts: {window_0: 0, window_1: 1, "*": glass}', more=place)
    mesh_type("pmt-place and a mesh without PMTs", "shape: mesh, radius: 2, mesh: m.obj", "pmt-place: found no type with a PMT whose efficiency is above 0", more=place)
    mesh_type("pmt-plane and a mesh", body + ", parts: {body: 1}", "pmt-plane needs the area of a module in all directions, which the mesh of the type m does not have",
              more=" -s stages.detect=pmt-plane -s light.acceptance=standard")
    mesh_type("pmt-table and a mesh without a table", body + ", parts: {body: 1}", "pmt-table needs the effective areas of the PMTs, and the type m has none; expected table in detector.types",
              more=" -s stages.detect=pmt-table -s light.acceptance=standard")
    mesh_type("a table for a mesh that is no table", body + ", parts: {body: 1}, table: m.obj", "m.obj:1: error: ")
