"""Cases for bad_inputs.py: outputs that would destroy a file of somebody else, and names that only a shell
understands. To join: one more keeps() with the file that must stay as it is, or path() for a value."""

import os

from bad_inputs_files import case, npy, step

GROUP = "outputs"
RUN = b"particles: { list: [{type: e-, x: 0, y: 0, z: 0, zenith: 1, azimuth: 2, energy: 1}] }\n"
LIST = b"type,x,y,z,zenith,azimuth,energy\ne-,0,0,0,1,2,1\n"
NOTES = b"a text of mine\n"


def keeps(name, command, says, exit_status=2, **files):
    """The command is refused, and no file changes."""
    content = {key.replace("_yaml", ".yaml").replace("_csv", ".csv"): value for key, value in files.items()}
    content["a.steps.npy"] = npy(step())

    def check(where):
        faults = []
        for path, data in content.items():
            with open(os.path.join(where, path), "rb") as file:
                faults += [] if file.read() == data else [path + " was changed"]
        return faults

    case(GROUP, name, command, exit_status, says, content, check=check)


def path(name, setting, says):
    case(GROUP, name, "run -q -s workload.steps=1 -s '%s'" % setting, 2, "--set %s: error: %s" % (setting, says))


def record_cases():
    """Journal, summary and metrics."""
    run = "run -q -s source.files=a.steps.npy "
    steps = "found a.steps.npy, a name of step and hit files, expected another name for "
    notes = "found notes, a file that is something else, expected "
    keeps("a step file as the journal", run + "-s sink.journal=a.steps.npy", "--set sink.journal: error: sink.journal: " + steps + "a journal")
    keeps("a step file for metrics", run + "-s metrics.file=a.steps.npy", "--set metrics.file: error: metrics.file: " + steps + "metrics")
    keeps("a step file for metrics, by an option", run + "--metrics a.steps.npy", "--metrics: " + steps)
    keeps("a text as the journal", run + "-s sink.journal=notes", "sink.journal: " + notes + "a journal of runs, or a name that is free", notes=NOTES)
    keeps("a text for metrics", "validate -s metrics.file=notes", "metrics.file: " + notes, notes=NOTES)
    keeps("standard output for metrics", run + "-s metrics.file=-", "metrics.file: found -, which is standard output, expected the name of a file")
    keeps("standard output for metrics, by an option", run + "--metrics -", "--metrics: found -, which is standard output")
    keeps("standard output for kept steps", "run -q -s workload.steps=1 --keep-steps=-", "--keep-steps: found -, which is standard output")
    keeps("the run file as the summary", "run -q run.yaml --summary run.yaml", "--summary: found run.yaml, a file that is something else", run_yaml=RUN)
    keeps("one name for two records", run + "--summary x --metrics x", "x: found the same name for a summary of a run and metrics of a run")


def input_cases():
    """Inputs that the option --force would replace."""
    keeps("a list replaced by its steps", "generate -s particles.file=p.csv -o p.csv --force", "--output: found p.csv, which is an input (particles.file), expected another name", p_csv=LIST)
    keeps("a run file replaced by its steps", "run -q run.yaml --keep-steps=run.yaml --force", "--keep-steps: found run.yaml, which is an input (the run file)", run_yaml=RUN)
    keeps("a detector replaced by its modules", "geometry -s detector.file=d.csv -o d.csv --force", "--output: found d.csv, which is an input (detector.file)", d_csv=b"string,module,x,y,z\n1,1,0,0,0\n")
    keeps("steps replaced by paths", "trace --steps a.steps.npy --photon 0:0:1 -o a.steps.npy --force", "--output: found a.steps.npy, which is an input")


def output_cases():
    path("a folder of the user, for a shell", "sink.directory=~/hits", "sink.directory: found '~/hits', expected the whole path")
    path("a variable of a shell", "sink.directory=$HOME/hits", "sink.directory: found '$HOME/hits', expected the whole path")
    path("step files of the user, for a shell", "source.files=~/a.npy", "source.files: found '~/a.npy', expected the whole path")
