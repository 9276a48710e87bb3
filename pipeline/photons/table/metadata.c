#include "pipeline/photons/table/metadata.h"

#include "base/error.h"
#include "pipeline/photons/files/format/trailer.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- writing --------------------------------------------------------------------------------- */

/* JSON integers end at 2^63, so a number that may pass it is decimal text. */
static json_t *decimal(uint64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, value);
    return json_string(text);
}

static json_t *edges_of(const ics_table_axis *axis)
{
    json_auto_t *edges = json_array();
    int failed = 0;
    for (uint32_t i = 0; i <= axis->bins; ++i) {
        failed |= json_array_append_new(edges, json_real(axis->edges[i]));
    }
    return failed ? NULL : ICS_HAND_OVER(edges);
}

static json_t *axis_object(const ics_table_axis *axis)
{
    json_auto_t *object = json_pack("{s:s, s:s, s:f, s:f, s:I, s:I}", "name", axis->name, "unit",
                                    axis->unit, "from", axis->from, "to", axis->to, "bins",
                                    (json_int_t)axis->bins, "power", (json_int_t)axis->power);
    const bool has_all =
        axis->edges == NULL || json_object_set_new(object, "edges", edges_of(axis)) == 0;
    return has_all ? ICS_HAND_OVER(object) : NULL;
}

static int put_lists(json_t *metadata, const ics_table *table)
{
    json_t *axes = json_array(), *parts = json_array();
    int failed = 0;
    for (uint32_t i = 0; i < table->axis_count; ++i) {
        failed |= json_array_append_new(axes, axis_object(&table->axes[i]));
    }
    for (size_t i = 0; i < table->part_count; ++i) {
        failed |= json_array_append_new(parts, json_string(table->parts[i].digest));
    }
    failed |= json_object_set_new(metadata, "axes", axes);
    failed |= json_object_set_new(metadata, "parts", parts);
    return failed;
}

static int put_facts(json_t *metadata, const ics_table_facts *facts)
{
    int failed = 0;
    failed |= json_object_set_new(metadata, "geometry",
                                  json_string(ics_table_geometry_name(facts->geometry)));
    failed |= json_object_set_new(metadata, "step_length", json_real(facts->step_length));
    failed |= json_object_set_new(metadata, "area", json_real(facts->area));
    failed |= json_object_set_new(metadata, "n_group", json_real(facts->n_group));
    failed |= json_object_set_new(metadata, "n_phase", json_real(facts->n_phase));
    failed |= json_object_set_new(metadata, "source",
                                  json_pack("{s:f, s:f, s:f, s:f, s:i}", "z", facts->z, "zenith",
                                            facts->zenith, "azimuth", facts->azimuth, "energy",
                                            facts->energy, "type", (int)facts->type));
    failed |= json_object_set_new(metadata, "efficiency", json_integer(facts->efficiency));
    failed |= json_object_set_new(metadata, "seed", decimal(facts->seed));
    failed |=
        json_object_set_new(metadata, "digests",
                            json_pack("{s:s, s:s, s:s}", "configuration", facts->configuration,
                                      "ice", facts->ice, "detector", facts->detector));
    return failed;
}

int ics_table_metadata_create(const ics_table *table, json_t **out, icestream_error *error)
{
    json_auto_t *metadata = json_object();
    int failed = put_lists(metadata, table) | put_facts(metadata, &table->facts);
    failed |= json_object_set_new(metadata, "has_squares", json_boolean(table->squares != NULL));
    failed |= json_object_set_new(metadata, "photons", decimal(table->photons));
    failed |= json_object_set_new(metadata, "weight",
                                  json_pack("{s:o, s:I}", "whole", decimal(table->weight.whole),
                                            "fraction", (json_int_t)table->weight.fraction));
    if (table->checkpoint != NULL) {
        failed |= json_object_set_new(metadata, "checkpoint", json_deep_copy(table->checkpoint));
    }
    *out = failed ? NULL : ICS_HAND_OVER(metadata);
    return failed ? ics_error_set(error, ICESTREAM_E_MEMORY,
                                  "out of memory for the metadata of a table")
                  : ICESTREAM_OK;
}

/* ---- reading --------------------------------------------------------------------------------- */

static int read_number(const char *name, const json_t *object, const char *key, double *out,
                       icestream_error *error)
{
    const json_t *found = json_object_get(object, key);
    if (!json_is_number(found)) {
        return ics_trailer_wrong(name, key, found, "a number", error);
    }
    *out = json_number_value(found);
    return ICESTREAM_OK;
}

static int read_whole(const char *name, const json_t *object, const char *key,
                      const int64_t range[2], int64_t *out, icestream_error *error)
{
    const json_t *found = json_object_get(object, key);
    char expected[80];
    snprintf(expected, sizeof expected, "a whole number from %" PRId64 " to %" PRId64, range[0],
             range[1]);
    if (!json_is_integer(found) || json_integer_value(found) < range[0] ||
        json_integer_value(found) > range[1]) {
        return ics_trailer_wrong(name, key, found, expected, error);
    }
    *out = json_integer_value(found);
    return ICESTREAM_OK;
}

static int read_decimal(const char *name, const json_t *object, const char *key, uint64_t *out,
                        icestream_error *error)
{
    const json_t *found = json_object_get(object, key);
    const char *text = json_string_value(found);
    char *end = NULL;
    errno = 0;
    *out = text != NULL ? strtoull(text, &end, 10) : 0;
    if (text == NULL || *text < '0' || *text > '9' || *end != '\0' || errno != 0) {
        return ics_trailer_wrong(name, key, found, "a whole number below 2^64 as text", error);
    }
    return ICESTREAM_OK;
}

/* Copies a text that may be empty. */
static int read_text(const char *name, const json_t *object, const char *key, char *out,
                     size_t size, icestream_error *error)
{
    const json_t *found = json_object_get(object, key);
    const char *text = json_string_value(found);
    if (text == NULL || strlen(text) >= size || json_string_length(found) != strlen(text)) {
        char expected[48];
        snprintf(expected, sizeof expected, "a text of at most %zu bytes", size - 1);
        return ics_trailer_wrong(name, key, found, expected, error);
    }
    memcpy(out, text, strlen(text) + 1);
    return ICESTREAM_OK;
}

static int read_edges(const char *name, const json_t *found, ics_table_axis *axis,
                      icestream_error *error)
{
    char expected[48];
    if (found == NULL) {
        return ICESTREAM_OK;
    }
    snprintf(expected, sizeof expected, "a list of %" PRIu32 " numbers", axis->bins + 1);
    if (json_array_size(found) != (size_t)axis->bins + 1) {
        return ics_trailer_wrong(name, "edges", found, expected, error);
    }
    axis->edges = calloc((size_t)axis->bins + 1, sizeof *axis->edges);
    if (axis->edges == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "%s: out of memory for edges", name);
    }
    for (size_t i = 0; i <= axis->bins; ++i) {
        if (!json_is_number(json_array_get(found, i))) {
            return ics_trailer_wrong(name, "edges", json_array_get(found, i), expected, error);
        }
        axis->edges[i] = json_number_value(json_array_get(found, i));
    }
    return ICESTREAM_OK;
}

static int read_axis(const char *name, const json_t *object, ics_table_axis *axis,
                     icestream_error *error)
{
    static const int64_t bins_range[2] = {1, ICS_TABLE_BINS_MAX};
    static const int64_t power_range[2] = {1, ICS_TABLE_POWER_MAX};
    int64_t bins = 0, power = 0;
    ICS_TRY(read_text(name, object, "name", axis->name, sizeof axis->name, error));
    ICS_TRY(read_text(name, object, "unit", axis->unit, sizeof axis->unit, error));
    ICS_TRY(read_number(name, object, "from", &axis->from, error));
    ICS_TRY(read_number(name, object, "to", &axis->to, error));
    ICS_TRY(read_whole(name, object, "bins", bins_range, &bins, error));
    ICS_TRY(read_whole(name, object, "power", power_range, &power, error));
    axis->bins = (uint32_t)bins;
    axis->power = (uint32_t)power;
    return read_edges(name, json_object_get(object, "edges"), axis, error);
}

static int read_digest(const char *name, const json_t *object, const char *key,
                       char out[ICS_DIGEST_TEXT], icestream_error *error)
{
    ICS_TRY(read_text(name, object, key, out, ICS_DIGEST_TEXT, error));
    const size_t length = strlen(out);
    if (length != 0 &&
        (length != ICS_DIGEST_TEXT - 1 || strspn(out, "0123456789abcdef") != ICS_DIGEST_TEXT - 1)) {
        return ics_trailer_wrong(name, key, json_object_get(object, key),
                                 "64 hexadecimal digits or nothing", error);
    }
    return ICESTREAM_OK;
}

static int read_geometry(const char *name, const json_t *metadata, ics_table_geometry *out,
                         icestream_error *error)
{
    const json_t *found = json_object_get(metadata, "geometry");
    const char *text = json_string_value(found);
    for (int i = 0; i < ICS_TABLE_GEOMETRIES && text != NULL; ++i) {
        if (strcmp(text, ics_table_geometry_name((ics_table_geometry)i)) == 0) {
            *out = (ics_table_geometry)i;
            return ICESTREAM_OK;
        }
    }
    return ics_trailer_wrong(name, "geometry", found, "custom, spherical or cylindrical", error);
}

static int read_facts(const char *name, const json_t *metadata, ics_table_facts *facts,
                      icestream_error *error)
{
    static const int64_t any[2] = {INT32_MIN, INT32_MAX}, bits[2] = {0, INT32_MAX};
    const json_t *digests = json_object_get(metadata, "digests");
    const json_t *source = json_object_get(metadata, "source");
    const struct {
        const json_t *object;
        const char *key;
        double *to;
    } numbers[] = {{metadata, "step_length", &facts->step_length},
                   {metadata, "area", &facts->area},
                   {metadata, "n_group", &facts->n_group},
                   {metadata, "n_phase", &facts->n_phase},
                   {source, "z", &facts->z},
                   {source, "zenith", &facts->zenith},
                   {source, "azimuth", &facts->azimuth},
                   {source, "energy", &facts->energy}};
    int64_t type = 0, efficiency = 0;
    ICS_TRY(read_geometry(name, metadata, &facts->geometry, error));
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; ++i) {
        ICS_TRY(read_number(name, numbers[i].object, numbers[i].key, numbers[i].to, error));
    }
    ICS_TRY(read_whole(name, source, "type", any, &type, error));
    ICS_TRY(read_whole(name, metadata, "efficiency", bits, &efficiency, error));
    facts->type = (int32_t)type;
    facts->efficiency = (int32_t)efficiency;
    if (!(facts->step_length > 0.0) || !(facts->area > 0.0)) {
        return ics_error_set(error, ICESTREAM_E_INPUT,
                             "%s: trailer: found step_length %.9g and area %.9g, expected numbers "
                             "above 0",
                             name, facts->step_length, facts->area);
    }
    ICS_TRY(read_decimal(name, metadata, "seed", &facts->seed, error));
    ICS_TRY(read_digest(name, digests, "configuration", facts->configuration, error));
    ICS_TRY(read_digest(name, digests, "ice", facts->ice, error));
    return read_digest(name, digests, "detector", facts->detector, error);
}

static int read_parts(const char *name, const json_t *metadata, ics_table *table,
                      icestream_error *error)
{
    const json_t *parts = json_object_get(metadata, "parts");
    if (!json_is_array(parts)) {
        return ics_trailer_wrong(name, "parts", parts, "a list of digests", error);
    }
    for (size_t i = 0; i < json_array_size(parts); ++i) {
        const char *digest = json_string_value(json_array_get(parts, i));
        icestream_error reason = {.text = ""};
        if (ics_table_add_part(table, digest != NULL ? digest : "", &reason) != ICESTREAM_OK) {
            return ics_error_set(error, reason.status, "%s: trailer: parts: %.400s", name,
                                 reason.text);
        }
    }
    return ICESTREAM_OK;
}

static int read_checkpoint(const char *name, const json_t *metadata, ics_table *table,
                           icestream_error *error)
{
    json_t *found = json_object_get(metadata, "checkpoint");
    uint64_t photons = 0;
    if (found == NULL) {
        return ICESTREAM_OK;
    }
    ICS_TRY(read_decimal(name, found, "photons", &photons, error));
    if (photons < table->photons || table->part_count > 0) {
        return ics_error_set(error, ICESTREAM_E_INPUT,
                             "%s: trailer: checkpoint: found %" PRIu64 " of %" PRIu64
                             " photons and %zu parts, expected at most all photons, and no part",
                             name, table->photons, photons, table->part_count);
    }
    table->checkpoint = json_incref(found);
    return ICESTREAM_OK;
}

static int read_counts(const char *name, const json_t *metadata, ics_table *table,
                       icestream_error *error)
{
    static const int64_t fractions[2] = {0, UINT32_MAX};
    const json_t *weight = json_object_get(metadata, "weight");
    int64_t fraction = 0;
    ICS_TRY(read_decimal(name, metadata, "photons", &table->photons, error));
    ICS_TRY(read_decimal(name, weight, "whole", &table->weight.whole, error));
    ICS_TRY(read_whole(name, weight, "fraction", fractions, &fraction, error));
    table->weight.fraction = (uint32_t)fraction;
    ICS_TRY(read_parts(name, metadata, table, error));
    return read_checkpoint(name, metadata, table, error);
}

static int check_rows(const char *name, const ics_table_axis *axes, size_t count, bool has_squares,
                      uint64_t rows, icestream_error *error)
{
    uint64_t expected = has_squares ? 2 : 1;
    ICS_TRY(ics_table_check_axes(name, axes, count, error));
    for (size_t i = 0; i < count; ++i) {
        expected *= (uint64_t)axes[i].bins + 2;
    }
    if (rows != expected) {
        return ics_error_set(
            error, ICESTREAM_E_INPUT,
            "%s: found %" PRIu64 " sums, expected %" PRIu64 ", as many as the axes have cells%s",
            name, rows, expected, has_squares ? ", twice because of the squared weights" : "");
    }
    return ICESTREAM_OK;
}

/* `axes` is an array of ICS_TABLE_AXES_MAX zeros; the caller frees their edges. */
static int read_all(const char *name, const json_t *metadata, uint64_t rows, ics_table_axis *axes,
                    ics_table **out, icestream_error *error)
{
    ics_table_facts facts = {.geometry = ICS_TABLE_CUSTOM};
    const json_t *list = json_object_get(metadata, "axes");
    const json_t *squares = json_object_get(metadata, "has_squares");
    const size_t count = json_array_size(list);
    if (count < 1 || count > ICS_TABLE_AXES_MAX) {
        return ics_trailer_wrong(name, "axes", list, "a list of 1 to 8 axes", error);
    }
    if (!json_is_boolean(squares)) {
        return ics_trailer_wrong(name, "has_squares", squares, "true or false", error);
    }
    for (size_t i = 0; i < count; ++i) {
        ICS_TRY(read_axis(name, json_array_get(list, i), &axes[i], error));
    }
    ICS_TRY(check_rows(name, axes, count, json_is_true(squares), rows, error));
    ICS_TRY(read_facts(name, metadata, &facts, error));
    ICS_TRY(ics_table_create(axes, count, &facts, json_is_true(squares), out, error));
    return read_counts(name, metadata, *out, error);
}

int ics_table_metadata_read(const char *name, const json_t *metadata, uint64_t rows,
                            ics_table **out, icestream_error *error)
{
    ics_table_axis axes[ICS_TABLE_AXES_MAX] = {{.bins = 0}};
    *out = NULL;
    const int status = read_all(name, metadata, rows, axes, out, error);
    for (size_t i = 0; i < ICS_TABLE_AXES_MAX; ++i) {
        free(axes[i].edges);
    }
    if (status != ICESTREAM_OK) {
        ics_table_destroy(*out);
        *out = NULL;
    }
    return status;
}
