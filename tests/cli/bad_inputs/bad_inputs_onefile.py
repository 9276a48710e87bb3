"""Command lines of one file in, one file out, that cannot be meant: bad_inputs.py runs them."""
from bad_inputs_files import case, folder, good


def one_file_cases():
    def wrong(name, command, says, exit_status=2):
        files = {"a.steps.npy": good.steps, "b.steps.npy": good.steps, "run.yaml": b"run: { seed: 3 }\n"}
        case("one file", name, "run run.yaml " + command, exit_status, says, {**files, "d": folder()})

    wrong("OUT is the present folder", "a.steps.npy -o .", "found ., which is a folder, expected a file")
    wrong("OUT is a folder", "a.steps.npy -o d", "found d, which is a folder, expected a file")
    wrong("OUT ends with a slash", "a.steps.npy -o o/", "found o/, which is a folder, expected a file")
    wrong("OUT of another format", "a.steps.npy -o x.h5", "found x.h5, expected a name that ends in .npy")
    wrong("OUT with the name of a step file", "a.steps.npy -o b.steps.npy", "not in .steps.npy")
    wrong("OUT that is hidden", "a.steps.npy -o .npy", "does not begin with a dot")
    wrong("OUT with another placeholder", "a.steps.npy -o {name}.npy", "expected no braces but those of {stem}")
    wrong("OUT with {stem} in its folder", "a.steps.npy -o {stem}/x.npy", "in the name of the file only")
    wrong("OUT without a name", "a.steps.npy -o ''", "--output: found an empty text")
    wrong("OUT that is not UTF-8", "a.steps.npy -o \udcff.npy", "--output: found text that is not UTF-8")
    wrong("OUT below a file", "a.steps.npy -o a.steps.npy/x.npy", "a.steps.npy: Not a directory", 74)
    wrong("one OUT for two inputs", "a.steps.npy b.steps.npy -o x.npy", "found x.npy for 2 inputs, expected a name with {stem}")
    wrong("one OUT for a pattern", "'*.steps.npy' -o x.npy", "would both be written to ./x.npy, expected one step file")
    wrong("OUT and sink.directory", "a.steps.npy -o x.npy -s sink.directory=d", "--set sink.directory are both given")
    wrong("OUT is a URL with %XX", "a.steps.npy -o far://h/a%20b.hits.npy", "found far://h/a%20b.hits.npy, expected the name of the file without %XX")
    wrong("OUT is a URL, and sink.url", "a.steps.npy -o far://h/x.hits.npy -s sink.url=far://i/{name}", "--set sink.url are both given")
    wrong("OUT is a URL with a secret, without sink.ship", "a.steps.npy -o far://me:secret@h/x.hits.npy", "--set sink.url: error: sink.url: found 'far://h/{name}', expected a URL that begins with file:")
    wrong("OUT is a URL for S3 without a key", "a.steps.npy -o s3://bucket", "found s3://bucket, expected the name of a file behind its last slash")
    wrong("IN is a URL for S3 without source.fetch", "'s3://bucket/a.steps.npy?x=1' -o x.npy", "found s3://bucket/a.steps.npy, expected source.fetch, a program that fetches it, such as the recipe sites/transfer/curl.sh")
    wrong("IN is a file: URL of another machine", "file://host/a.steps.npy -o x.npy", "expected file:///FOLDER/NAME, with three slashes")
    wrong("IN is a file: URL with a bad %", "file:///x%2/a.steps.npy -o x.npy", "expected two hexadecimal digits behind every %")
    wrong("IN is a URL, and OUT is standard output and sink.url", "a.steps.npy -o - -s sink.url=file:///x/{name}", 'sink.url: is for files, and sink.directory is "-"')
    wrong("IN is a URL that does not exist", "file:///none/a.steps.npy -o x.npy", "file:///none/a.steps.npy: No such file or directory", 74)
    wrong("OUT of claimed files", "-o x.npy -s source.directory=d", "expected a name with {stem} that ends in .hits.npy")
    wrong("IN is a folder", "d -o x.npy", "IN: found d, which is a folder")
    wrong("IN is missing", "none.steps.npy -o x.npy", "IN: none.steps.npy: No such file")
    wrong("IN without a name", "'' -o x.npy", "IN: found an empty text")
    wrong("IN is a pattern of nothing", "'none*.npy' -o x.npy", "found no file of that pattern")
    wrong("IN and source.files", "a.steps.npy -s source.files=b.steps.npy", "--set source.files are both given")
    wrong("standard input twice", "- - -o x-{stem}.npy", 'found "-" 2 times')
    wrong("sink.name with a folder", "a.steps.npy -s sink.name=d/{stem}.npy", "expected a name without a slash")
    case("one file", "no CONFIG", "run a.steps.npy -o x.npy", 2, "CONFIG: found a.steps.npy, expected a run file first")
