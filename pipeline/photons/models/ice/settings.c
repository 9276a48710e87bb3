/* cfg.txt of a ppc ice folder: numbers in a fixed order, one a line (physics.md 4.4). */
#include "base/error.h"
#include "pipeline/photons/models/ice/features.h"
#include "pipeline/photons/models/ice/sources.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SETTINGS_LEAST = 4, SETTINGS_MOST = 28 };

/* The index of each number in the file. */
enum {
    OVERSIZE,
    EFFICIENCY,
    LIU_FRACTION,
    MEAN_COSINE,
    FLOW_AZIMUTH,
    ANISOTROPY,      /* 2 numbers */
    HOLE_RADIUS = 7, /* in units of the radius of a module */
    HOLE_SCATTERING,
    HOLE_ABSORPTION,
    HOLE_LIU_FRACTION,
    HOLE_MEAN_COSINE,
    ABSORPTION_ANISOTROPY, /* 3 numbers */
    ABSORPTION_EXPONENT = 15,
    BIREFRINGENCE /* 12 numbers */
};

typedef struct settings_file {
    ics_text_reader reader;
    double numbers[SETTINGS_MOST];
    size_t lines[SETTINGS_MOST];
    size_t count;
} settings_file;

static bool begins_number(const ics_text_field *field)
{
    size_t i = 0;
    while (i < field->length && field->start[i] != 0 && strchr("+-.", field->start[i]) != NULL) {
        ++i;
    }
    return i < field->length && field->start[i] >= '0' && field->start[i] <= '9';
}

/* Warns of numbers behind the last group that is whole. ppc reads whole groups (ini.cxx). */
static void warn_of_rest(const settings_file *file, ics_warnings *warnings)
{
    static const size_t lengths[] = {SETTINGS_LEAST, 7, 10, 12, 15, 16, SETTINGS_MOST};
    size_t used = 0;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; ++i) {
        used = lengths[i] <= file->count ? lengths[i] : used;
    }
    if (used != file->count) {
        ics_warnings_add(warnings,
                         "%s: found %zu numbers, of which ppc and icestream use the first "
                         "%zu: groups end at 4, 7, 10, 12, 15, 16 and 28 numbers",
                         file->reader.name, file->count, used);
    }
}

/* Reads the first number of every line. Lines that do not begin with a number are comments. */
static int read_numbers(settings_file *file, ics_warnings *warnings)
{
    ics_text_reader *reader = &file->reader;
    ics_text_line line;
    char shown[48];
    while (ics_text_next(reader, &line)) {
        if (!begins_number(&line.fields[0])) {
            ics_warnings_add(
                warnings, "%s:%zu: %s is not a number, so the line is read as a comment",
                reader->name, line.number, ics_text_field_show(&line.fields[0], shown));
            continue;
        }
        double value = 0;
        ics_text_number(reader, &line, 0, "first number of the line", &value);
        if (file->count < SETTINGS_MOST) {
            file->numbers[file->count] = value;
            file->lines[file->count] = line.number;
        }
        ++file->count;
    }
    if (file->count < SETTINGS_LEAST) {
        ics_text_fault(reader, 0, 0, "found %zu numbers, expected at least 4", file->count);
    }
    ICS_TRY(ics_text_status(reader));
    warn_of_rest(file, warnings);
    return ICESTREAM_OK;
}

/* Reports a number outside its range. With `open` the low end is excluded. */
static void check_range(settings_file *file, size_t at, const char *what, double low, bool open,
                        double high, const char *unit)
{
    double value = file->numbers[at];
    if (value <= high && (open ? value > low : value >= low)) {
        return;
    }
    if (open) {
        ics_text_fault(&file->reader, file->lines[at], 0,
                       "%s: found %.10g, expected more than %g%s, at most %g%s", what, value, low,
                       unit, high, unit);
    } else {
        ics_text_fault(&file->reader, file->lines[at], 0, "%s: found %.10g, expected %g .. %g%s",
                       what, value, low, high, unit);
    }
}

static void check_property(settings_file *file, size_t at, const char *property)
{
    char place[512];
    snprintf(place, sizeof place, "%s:%zu", file->reader.name, file->lines[at]);
    if (ics_ice_property_check(place, property, file->numbers[at], file->reader.error)) {
        ++file->reader.faults;
    }
}

static void read_basics(settings_file *file, ice_medium *properties, ics_ppc_settings *out)
{
    check_range(file, OVERSIZE, "oversize", 0, true, 1000, "");
    check_range(file, EFFICIENCY, "efficiency", 0, true, 100, "");
    check_property(file, LIU_FRACTION, "liu_fraction");
    check_property(file, MEAN_COSINE, "mean_cosine");
    out->oversize = file->numbers[OVERSIZE];
    out->oversize_line = file->lines[OVERSIZE];
    out->efficiency = file->numbers[EFFICIENCY];
    out->efficiency_line = file->lines[EFFICIENCY];
    properties->liu_fraction = file->numbers[LIU_FRACTION];
    properties->mean_cosine = file->numbers[MEAN_COSINE];
}

static void read_anisotropy(settings_file *file, ice_medium *properties, ics_ppc_settings *out)
{
    const double *numbers = file->numbers;
    if (file->count <= ANISOTROPY + 1) {
        return;
    }
    check_range(file, FLOW_AZIMUTH, "azimuth of the flow", -360, false, 360, " degrees");
    for (size_t i = 0; i < 2; ++i) {
        check_range(file, ANISOTROPY + i, "logarithm of an anisotropy", -3, false, 3, "");
        out->anisotropy[i] = numbers[ANISOTROPY + i];
    }
    properties->flow_azimuth = numbers[FLOW_AZIMUTH] * M_PI / 180;
    /* If the file does not scale the absorption that belongs to k1 and k2, its exponent is 1. */
    properties->absorption_exponent = 1;
    if (file->count > ABSORPTION_EXPONENT) {
        check_range(file, ABSORPTION_EXPONENT, "scaling of the old absorption anisotropy", -10,
                    false, 10, "");
        properties->absorption_exponent = numbers[ABSORPTION_EXPONENT];
    }
    if (file->count <= ABSORPTION_ANISOTROPY + 2) {
        return;
    }
    for (size_t i = 0; i < 3; ++i) {
        check_range(file, ABSORPTION_ANISOTROPY + i, "logarithm of an absorption anisotropy", -3,
                    false, 3, "");
    }
    ics_ice_absorption_anisotropy_scale(&numbers[ABSORPTION_ANISOTROPY],
                                        properties->absorption_anisotropy);
}

static void read_hole(settings_file *file, ice_medium *properties)
{
    if (file->count <= HOLE_ABSORPTION) {
        return;
    }
    check_range(file, HOLE_RADIUS, "hole ice radius", 0, false, 100, " radii of a module");
    /* Without a hole the values of its ice are not checked. */
    if (!(file->numbers[HOLE_RADIUS] > 0)) {
        return;
    }
    check_range(file, HOLE_SCATTERING, "hole ice scattering length", 0, true, 1e6, " m");
    check_range(file, HOLE_ABSORPTION, "hole ice absorption length", 0, true, 1e6, " m");
    properties->hole = (ice_hole){.radius = file->numbers[HOLE_RADIUS] * ICE_MODULE_RADIUS,
                                  .effective_scattering = file->numbers[HOLE_SCATTERING],
                                  .absorption = file->numbers[HOLE_ABSORPTION],
                                  .mean_cosine = properties->mean_cosine,
                                  .liu_fraction = properties->liu_fraction};
    if (file->count <= HOLE_MEAN_COSINE) {
        return;
    }
    check_property(file, HOLE_LIU_FRACTION, "liu_fraction");
    check_property(file, HOLE_MEAN_COSINE, "mean_cosine");
    properties->hole.liu_fraction = file->numbers[HOLE_LIU_FRACTION];
    properties->hole.mean_cosine = file->numbers[HOLE_MEAN_COSINE];
}

static void read_birefringence(settings_file *file, ice_medium *properties)
{
    ice_birefringence *birefringence = &properties->birefringence;
    if (file->count < SETTINGS_MOST) {
        return;
    }
    memcpy(birefringence->along, &file->numbers[BIREFRINGENCE], sizeof birefringence->along);
    memcpy(birefringence->across, &file->numbers[BIREFRINGENCE + 4], sizeof birefringence->across);
    memcpy(birefringence->mean, &file->numbers[BIREFRINGENCE + 8], sizeof birefringence->mean);
    char place[512];
    snprintf(place, sizeof place, "%s:%zu", file->reader.name, file->lines[BIREFRINGENCE]);
    if (ics_ice_birefringence_check(place, birefringence, file->reader.error)) {
        ++file->reader.faults;
    }
}

int ics_ice_ppc_settings_read(const ics_text *text, ice_medium *properties, ics_ppc_settings *out,
                              ics_warnings *warnings, icestream_error *error)
{
    settings_file file = {.reader = ics_text_open(text, ' ', error)};
    ICS_TRY(read_numbers(&file, warnings));
    *out = (ics_ppc_settings){0};
    read_basics(&file, properties, out);
    read_anisotropy(&file, properties, out);
    read_hole(&file, properties);
    read_birefringence(&file, properties);
    return ics_text_status(&file.reader);
}
