#include "pipeline/commands/geometry/pmt_table.h"

#include "base/error.h"
#include "physics/body.h"
#include "pipeline/photons/files/table_writer.h"
#include "pipeline/photons/files/text_output.h"

#include <stddef.h>
#include <string.h>

typedef struct row {
    double x, y, z;                /* m */
    double file_x, file_y, file_z; /* m */
    double area;                   /* m2 */
    float dx, dy, dz, radius;      /* m */
    uint16_t string, module, type;
    int16_t pmt;
} row;

#define COLUMN(member, kind, unit)                                                                 \
    {                                                                                              \
        #member, {kind, sizeof(((row *)0)->member)}, offsetof(row, member), unit, 0                \
    }
static const ics_layout_field columns[] = {
    COLUMN(x, 'f', "m"),      COLUMN(y, 'f', "m"),      COLUMN(z, 'f', "m"),
    COLUMN(file_x, 'f', "m"), COLUMN(file_y, 'f', "m"), COLUMN(file_z, 'f', "m"),
    COLUMN(area, 'f', "m2"),  COLUMN(dx, 'f', "1"),     COLUMN(dy, 'f', "1"),
    COLUMN(dz, 'f', "1"),     COLUMN(radius, 'f', "m"), COLUMN(string, 'u', "1"),
    COLUMN(module, 'u', "1"), COLUMN(type, 'u', "1"),   COLUMN(pmt, 'i', "1"),
};
static const ics_layout layout = {.name = "icestream.pmts",
                                  .short_name = "pmts",
                                  .version = 2,
                                  .row_bytes = sizeof(row),
                                  .coordinates = "detector",
                                  .fields = columns,
                                  .field_count = sizeof columns / sizeof *columns};
_Static_assert(sizeof(row) == ICS_ROW_BYTES_MAX, "rows have no gaps");

/* One of both is open. */
typedef struct table {
    ics_text_output *text;
    ics_table_writer *npy;
} table;

static int put_row(const table *out, const ice_detector *detector, const row *r,
                   icestream_error *error)
{
    if (out->npy != NULL) {
        return ics_table_writer_append(out->npy, r, 1, error);
    }
    return ics_text_output_put(
        out->text, error,
        "%u,%u,%d,%.200s,%.15g,%.15g,%.15g,%.15g,%.15g,%.15g,%.9g,%.9g,%.9g,%.9g,%.9g\n", r->string,
        r->module, r->pmt, detector->types != NULL ? detector->types[r->type].name : "", r->x, r->y,
        r->z, r->file_x, r->file_y, r->file_z, (double)r->dx, (double)r->dy, (double)r->dz,
        (double)r->radius, r->area);
}

static int put_module(const table *out, const ice_detector *detector, const ice_module *module,
                      double height, icestream_error *error)
{
    const double up[3] = {0, 0, 1}, centre[3] = {0};
    const ice_module_type *type = detector->types != NULL ? &detector->types[module->type] : NULL;
    ice_orientation q = {.w = 1};
    if (module->orientation > 0) {
        q = detector->orientations[module->orientation];
    }
    const size_t pmts = type != NULL ? type->pmt_count : 0;
    for (size_t i = 0; i <= pmts; ++i) {
        const ice_pmt *pmt = i > 0 ? &type->pmts[i - 1] : NULL;
        double at[3], axis[3];
        ice_orient(&q, pmt != NULL ? pmt->centre : centre, at);
        ice_orient(&q, pmt != NULL ? pmt->axis : up, axis);
        row r = {.x = module->x + at[0],
                 .y = module->y + at[1],
                 .z = module->z + at[2],
                 .area = pmt != NULL ? pmt->largest_area : 0,
                 .dx = (float)axis[0],
                 .dy = (float)axis[1],
                 .dz = (float)axis[2],
                 .string = module->string,
                 .module = module->module,
                 .type = (uint16_t)module->type,
                 .pmt = (int16_t)((int)i - 1)};
        r.file_x = r.x;
        r.file_y = r.y;
        r.file_z = r.z + height;
        r.radius = (float)(pmt != NULL    ? pmt->radius
                           : type != NULL ? type->reach
                                          : detector->radius);
        ICS_TRY(put_row(out, detector, &r, error));
    }
    return ICESTREAM_OK;
}

static int put_rows(const table *out, const ice_detector *detector, double height,
                    icestream_error *error)
{
    if (out->npy == NULL) {
        ICS_TRY(ics_text_output_put(
            out->text, error,
            "string,module,pmt,type,x,y,z,file_x,file_y,file_z,dx,dy,dz,radius,area\n"));
    }
    for (size_t i = 0; i < detector->module_count; ++i) {
        ICS_TRY(put_module(out, detector, &detector->modules[i], height, error));
    }
    return out->npy != NULL ? ics_table_writer_commit(out->npy, NULL, error)
                            : ics_text_output_commit(out->text, error);
}

int ics_pmt_table_write(const ice_detector *detector, double height, const char *path, bool force,
                        icestream_error *error)
{
    table out = {0};
    const size_t length = strlen(path);
    if (length > 4 && strcmp(path + length - 4, ".npy") == 0) {
        ICS_TRY(ics_table_writer_create(path, &layout, force, &out.npy, error));
    } else {
        ICS_TRY(ics_text_output_create(path, force, &out.text, error));
    }
    const int status = put_rows(&out, detector, height, error);
    ics_text_output_destroy(out.text);
    ics_table_writer_destroy(out.npy);
    return status;
}
