#include "base/replaced.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const ics_replaced ics_replaced_rows[] = {
    {"the command top", "0.3.0", "icestream status DIR --watch"},
    {"the command report", "0.3.0", "python -m icestream report DIR -o FILE"},
    {"the command import", "0.3.0", "python -m icestream import ppc|clsim DIR [F2K] -o FILE"},
    {"the option --select of trace", "0.3.0",
     "--hits FILE with the chosen hits, which numpy.save writes"},
    {"the key 'graph.compact.method'", "0.3.0", "stages.compact"},
    {"the key 'sink.rotate'", "0.3.0", "icestream merge"},
    {"the action slice of table", "0.3.0", "icestream.tables.Table(FILE).slice() in Python"},
    {"the action project of table", "0.3.0", "icestream.tables.Table(FILE).project() in Python"},
    {"the action compare of table", "0.3.0",
     "icestream.tables.compare() or permutation_test() in Python"},
    {"the action plot of table", "0.3.0", "icestream.tables.Table(FILE).plot() in Python"},
    {"the action convert of table", "0.3.0",
     "icestream.tables.Table(FILE).to_hdf5() or to_fits() in Python"},
    {"the option --against of table", "0.3.0", "icestream.tables.permutation_test() in Python"},
    {"the option --level of table", "0.3.0",
     "the probability that icestream.tables.compare() in Python returns"},
    {"the ending .h5 of convert", "0.3.0", "icestream.convert.to_hdf5() or from_hdf5() in Python"},
    {"the ending .hdf5 of convert", "0.3.0",
     "icestream.convert.to_hdf5() or from_hdf5() in Python"},
    {"the ending .vtp of convert", "0.3.0",
     "icestream.scene.hits(), paths() or surfaces() in Python"},
    {"the option --detector of convert", "0.3.0", "icestream.scene.hits() in Python"},
    {"the ending .obj of geometry", "0.3.0", "icestream.scene.surfaces() in Python"},
    {"the ending .vtp of geometry", "0.3.0", "icestream.scene.surfaces() in Python"},
    {"the option --reference of bench", "0.3.0",
     "scripts/reference_clsim.py --files FOLDER and FOLDER/run.yaml"},
    {"the option --roofline of bench", "0.3.0", "bench/roofline.py"},
    {"the option --profiler of bench", "0.3.0", "bench/roofline.py, which counts with ncu"},
    {"the option --impact of bench", "0.3.0", "bench/impact.py PART"},
    {"the option --shapes of bench", "0.3.0", "icestream-lab shapes"},
    {"the option --stages of bench", "0.3.0", "icestream-lab stages"},
    {"the option --sweep of bench", "0.3.0", "icestream-lab sweep"},
    {"the option --profile of compare", "0.3.0", "bench/roofline.py --files"},
    {"the option --profiler of compare", "0.3.0", "bench/roofline.py, which counts with ncu"},
    {.what = NULL},
};

bool ics_replaced_say(char *buffer, size_t size, const char *format, ...)
{
    char what[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    for (const ics_replaced *row = ics_replaced_rows; row->what != NULL; ++row) {
        if (strcmp(row->what, what) == 0) {
            snprintf(buffer, size, "%s left in version %s; use %s", what, row->since, row->instead);
            return true;
        }
    }
    return false;
}
