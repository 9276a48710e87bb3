"""Cases for bad_inputs.py: lists of modules and spectra of light. To join: one more geometry(name, data,
message), or spectrum(name, data, message) for a file of a spectrum."""

from bad_inputs_files import case, folder, link


def geometry(name, data, says, ending="detector.csv", exit_status=2):
    case("detector (geo-f2k)" if ending.endswith("f2k") else "detector (CSV)", name, "validate -s detector.file=" + ending, exit_status,
        says, {ending: data})


def geometry_cases():
    header = b"string,module,x,y,z\n"
    geometry("empty", b"", "detector.csv: error: found no rows of numbers")
    geometry("only the header", header, "detector.csv: error: found no rows of numbers")
    geometry("another header", b"row,tube,x,y,z\n1,1,0,0,0\n", "detector.csv:1:1: error: found column 'row'")
    geometry("a column missing", b"string,module,x,y\n1,1,0,0\n", "found no column 'z'")
    geometry("a module twice", header + b"1,1,0,0,0\n1,1,0,0,50\n",
        "detector.csv:3: error: found string 1, module 1 again (first on line 2)")
    geometry("modules inside each other", header + b"1,1,0,0,0\n1,2,0,0,0.1\n",
        "detector.csv:3: error: string 1, module 2: found 0.1 m from string 1, module 1 (line 2)")
    geometry("semicolons and decimal commas", header.replace(b",", b";") + b"1;1;0,5;0;0\n",
        "detector.csv:2:5: error: x: found '0,5', expected a finite number; a decimal comma is not read")
    geometry("blanks between the columns", header.replace(b",", b" ") + b"1 1 0 0 0\n",
        "detector.csv:1: error: found blanks between the columns, expected commas between them")
    geometry("names in capitals", b"String,module,x,y,z\n1,1,0,0,0\n",
        "detector.csv:1:1: error: found column 'String', expected columns string,module,x,y,z[,efficiency]; did you mean 'string'?")
    geometry("no header", b"1,1,0,0,0\n",
        "detector.csv:1:1: error: found column '1', expected columns string,module,x,y,z[,efficiency]: their names in the first line")
    geometry("line ends of an old Mac", header.replace(b"\n", b"\r") + b"1,1,0,0,0\r",
        "detector.csv:1: error: found lines that end with CR alone")
    geometry("a geo-f2k named CSV", b"AA 0x1 0 0 -1948 1 1\n",
        "detector.csv:1: error: found 7 fields with blanks between them, as in geo-f2k, expected CSV")
    geometry("a CSV named geo-f2k", header + b"1,1,0,0,0\n",
        "geo-f2k:1: error: found commas between the columns, expected blanks between them", ending="geo-f2k")
    geometry("UTF-16", header.decode().encode("utf-16"), "found text in UTF-16, expected text in UTF-8")
    geometry("NaN", header + b"1,1,nan,0,0\n", "detector.csv:2:5: error: x: found 'nan'")
    geometry("infinity", header + b"1,1,0,0,-inf\n", "detector.csv:2:9: error: z: found '-inf'")
    geometry("100 km away", header + b"1,1,100000,0,0\n", "x: found 100000 m, expected -10000 .. 10000 m")
    geometry("string 65536", header + b"65536,1,0,0,0\n", "string: found 65536, expected a whole number")
    geometry("module 1.5", header + b"1,1.5,0,0,0\n", "module: found 1.5, expected a whole number")
    geometry("an efficiency of 0", b"string,module,x,y,z,efficiency\n1,1,0,0,0,0\n", "efficiency: found 0")
    geometry("a line cut short", header + b"1,1,0,0,0\n1,2,0", "detector.csv:3: error: found 3 columns")
    geometry("binary junk", bytes(range(256)) * 16, "detector.csv:")
    geometry("not there", link("nowhere"), "error: detector.file: detector.csv: No such file")
    geometry("a folder", folder(), "detector.csv: error: found a folder")
    geometry("a device without end", link("/dev/zero"), "detector.csv: error: found a device or pipe")
    geometry("a list of Prometheus without a medium", b"### Modules ###\n0 0 0 0 0\n",
             "detector.geo: error: found no line 'Medium: ice' or 'Medium: water' before ### Modules ###", "detector.geo")
    geometry("a list of Prometheus with a short row", b"Medium: ice\n### Modules ###\n0 0 0 0\n",
             "detector.geo:3: error: found 4 fields, expected 5 or 6: x, y, z, string, module", "detector.geo")
    geo = "geo-f2k"
    geometry("empty", b"", "geo-f2k: error: found no modules in the deep ice", geo)
    geometry("no module in the ice", b"A 0x1 0 0 0 1 61\nB 0x2 0 0 0 1 64\n", "geo-f2k: error: found no modules in the deep ice", geo)
    geometry("six fields", b"A 0x1 0 0 0 1\n", "geo-f2k:1: error: found 6 fields, expected 7", geo)
    geometry("a module twice", b"A 0x1 0 0 0 1 1\nB 0x2 50 0 0 1 1\n", "geo-f2k:2: error: found string 1", geo)
    geometry("modules inside each other", b"A 0x1 0 0 0 1 1\nB 0x2 0 0 0.2 1 2\n", "geo-f2k:2: error: string 1, module 2: found 0.2 m", geo)
    geometry("a word for a coordinate", b"A 0x1 0 zero 0 1 1\n", "geo-f2k:1:9: error: y: found 'zero'", geo)

    def spectrum(name, data, says):
        case("light", name, "validate -s 'light.spectra=[{file: led.txt}]'", 2, says, {"led.txt": data})

    spectrum("one point", b"400 1\n", "led.txt: error: found one point, expected at least two")
    spectrum("wavelengths that fall", b"400 1\n390 1\n", "led.txt:2: error: wavelength: found 390 after 400")
    spectrum("nothing but zeros", b"400 0\n410 0\n", "led.txt: error: density: found nothing but zeros")
    spectrum("a negative density", b"400 -1\n410 1\n", "led.txt:1: error: density: found -1")
    spectrum("an infrared lamp", b"900 1\n910 1\n", "led.txt:1: error: wavelength: found 900")
    spectrum("columns that are swapped", b"1 400\n1 410\n", "led.txt:1: error: found wavelengths in column 2, expected them in column 1: the columns are swapped")
    case("light", "an acceptance that is not there", "validate -s light.acceptance=none.dat", 2,
        "error: light.acceptance: none.dat: No such file")
