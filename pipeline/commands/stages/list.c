/* icestream_stages: lists every stage and variant. The variants are those of stages/registry.def
 * and physics/detect/registry.def, and their headers name their parameters. The fields that a stage
 * reads and writes are the same for all its variants. */
#include "kernels/stage.h"
#include "physics/detect/variants.h"
#include "pipeline/commands/measure/report.h"
#include "pipeline/icestream.h"
#include "pipeline/photons/models/ice/scatter.h"
#include "stages/tabulate/tabulate.h"
#include "stages/variants.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

typedef struct field {
    const char *name;
    size_t bytes;
} field;

#define PHOTON(member)                                                                             \
    {                                                                                              \
        #member, sizeof(((ice_photon *)0)->member)                                                 \
    }
#define EMISSION(member)                                                                           \
    {                                                                                              \
        "emission." #member, sizeof(((ice_emission *)0)->member)                                   \
    }
#define SEGMENT(member)                                                                            \
    {                                                                                              \
        "segment." #member, sizeof(((ice_segment *)0)->member)                                     \
    }
#define ARRIVAL(member)                                                                            \
    {                                                                                              \
        "arrival." #member, sizeof(((ice_arrival *)0)->member)                                     \
    }

#define POSITION  PHOTON(x), PHOTON(y), PHOTON(z)
#define DIRECTION PHOTON(dx), PHOTON(dy), PHOTON(dz)
/* The random numbers of a photon depend on these: its step, its number in the step, its bounce. */
#define IDENTITY PHOTON(emission), PHOTON(photon_id), PHOTON(scatters)
#define WHOLE_PHOTON                                                                               \
    POSITION, PHOTON(path), DIRECTION, PHOTON(absorption), PHOTON(wavelength), IDENTITY

enum { FIELDS_MAX = 16 };

typedef struct stage {
    const char *name, *text;
    const field reads[FIELDS_MAX], writes[FIELDS_MAX]; /* a field without a name ends a list */
} stage;

static const stage stages[] = {
    {.name = "create",
     .text = "starts a photon of a step",
     .reads = {EMISSION(x), EMISSION(y), EMISSION(z), EMISSION(length), EMISSION(dx), EMISSION(dy),
               EMISSION(dz), EMISSION(beta), EMISSION(event_low), EMISSION(event_high),
               EMISSION(step_id), EMISSION(first_photon), EMISSION(photons), EMISSION(spectrum),
               EMISSION(flags)},
     .writes = {WHOLE_PHOTON}},
    {.name = "propagate",
     .text = "finds the segment to the next scatter or to absorption",
     .reads = {PHOTON(z), PHOTON(dz), PHOTON(absorption), PHOTON(wavelength), IDENTITY},
     .writes = {PHOTON(absorption), SEGMENT(length)}},
    {.name = "collide",
     .text = "finds the first module on the segment",
     .reads = {POSITION, PHOTON(path), DIRECTION, PHOTON(wavelength), IDENTITY, SEGMENT(length)},
     .writes = {ARRIVAL(emission), ARRIVAL(photon_id), ARRIVAL(module), ARRIVAL(scatters),
                ARRIVAL(x), ARRIVAL(y), ARRIVAL(z), ARRIVAL(path), ARRIVAL(dx), ARRIVAL(dy),
                ARRIVAL(dz), ARRIVAL(wavelength)}},
    {.name = "scatter",
     .text = "moves the photon to the end of the segment and changes its direction",
     .reads = {POSITION, PHOTON(path), DIRECTION, IDENTITY, SEGMENT(length)},
     .writes = {POSITION, PHOTON(path), DIRECTION, PHOTON(scatters)}},
    {.name = "tabulate",
     .text = "leaves samples of photons in a table; replaces collide where a table is made",
     .reads = {POSITION, PHOTON(path), DIRECTION, PHOTON(absorption), PHOTON(wavelength), IDENTITY,
               SEGMENT(length)},
     .writes = {{"table.sums", sizeof *((ice_tabulation *)0)->sums},
                {"table.squares", sizeof *((ice_tabulation *)0)->squares}}},
    {.name = "compact",
     .text = "fills the slots of photons that ended",
     .reads = {WHOLE_PHOTON},
     .writes = {WHOLE_PHOTON}},
    {.name = "detect",
     .text = "decides on the host which hits are photo-electrons",
     .reads = {ARRIVAL(emission), ARRIVAL(photon_id), ARRIVAL(module), ARRIVAL(scatters),
               ARRIVAL(x), ARRIVAL(y), ARRIVAL(z), ARRIVAL(dx), ARRIVAL(dy), ARRIVAL(dz),
               ARRIVAL(wavelength)},
     .writes = {{"hit.pmt", sizeof((icestream_hit *)0)->pmt}}},
};

enum { STAGES = sizeof stages / sizeof *stages };

#define TABULATE_KEYS                                                                              \
    "table.axes table.azimuth table.step table.absorption_lengths table.outside table.acceptance " \
    "table.squares"

typedef struct variant {
    const char *stage, *name, *text, *parameters;
} variant;

static const variant variants[] = {
#define ICE_VARIANT(stage, name, yaml, text) {#stage, yaml, text, ICE_PARAMETERS_##stage##_##name},
#include "physics/detect/registry.def"
#include "stages/registry.def"
#undef ICE_VARIANT
    /* Words of the key stages.tabulate, which chooses the coordinates of one stage. */
    {"tabulate", "none", "no table: photons meet modules", ""},
    {"tabulate", "spherical", "distance, azimuth, cosine of the polar angle, delay, impact",
     TABULATE_KEYS},
    {"tabulate", "cylindrical", "distance from the axis, azimuth, z, delay, impact", TABULATE_KEYS},
};

enum { VARIANTS = sizeof variants / sizeof *variants };

/* The first variant of a stage in the registry is its default. */
static bool is_default(size_t index)
{
    return index == 0 || strcmp(variants[index].stage, variants[index - 1].stage) != 0;
}

static size_t total_bytes(const field *fields)
{
    size_t bytes = 0;
    for (; fields->name != NULL; ++fields) {
        bytes += fields->bytes;
    }
    return bytes;
}

/* The parameters that a variant declares in its header; the last one has no name. */
static const ics_scatter_parameter *declared_by(const variant *listed)
{
    static const ics_scatter_parameter none[] = {{.name = NULL}};
    const ics_scatter_variant *scatter = NULL;
    for (size_t i = 0; strcmp(listed->stage, "scatter") == 0; ++i) {
        scatter = ics_ice_scatter_variant(i);
        if (scatter == NULL || strcmp(scatter->name, listed->name) == 0) {
            break;
        }
    }
    return scatter != NULL ? scatter->parameters : none;
}

/* ---- text ---------------------------------------------------------------------------------- */

static void print_variant(const variant *listed, bool chosen, FILE *out)
{
    fprintf(out, "  %c %-12s %s%s%s\n", chosen ? '*' : ' ', listed->name, listed->text,
            listed->parameters[0] ? "; set by " : "", listed->parameters);
    for (const ics_scatter_parameter *p = declared_by(listed); p->name != NULL; ++p) {
        fprintf(out, "                 %s in the ice file: %s (%g .. %g%s%s) [default: %s]\n",
                p->name, p->help, p->low, p->high, p->unit[0] ? " " : "", p->unit, p->fallback);
    }
}

static void print_fields(const char *verb, const field *fields, FILE *out)
{
    fprintf(out, "  %-6s %3zu bytes:", verb, total_bytes(fields));
    for (; fields->name != NULL; ++fields) {
        fprintf(out, " %s", fields->name);
    }
    fputc('\n', out);
}

static void print_text(FILE *out)
{
    fprintf(out,
            "A photon has %zu bytes, a step %zu, a hit on the device %zu. Sizes below are per "
            "photon.\n",
            sizeof(ice_photon), sizeof(ice_emission), sizeof(ice_arrival));
    for (size_t i = 0; i < STAGES; ++i) {
        fprintf(out, "\n%s: %s\n", stages[i].name, stages[i].text);
        print_fields("reads", stages[i].reads, out);
        print_fields("writes", stages[i].writes, out);
        for (size_t j = 0; j < VARIANTS; ++j) {
            if (strcmp(variants[j].stage, stages[i].name) == 0) {
                print_variant(&variants[j], is_default(j), out);
            }
        }
    }
    fputs("\n*: the default. stages.STAGE in the run file chooses a variant by its name. For all "
          "stages but compact\nand detect it can also name a header of your own: stages: {scatter: "
          "{source: my_scatter.h}}\n",
          out);
}

/* ---- JSON ---------------------------------------------------------------------------------- */

static json_t *fields_json(const field *fields)
{
    json_t *list = json_array();
    for (; fields->name != NULL; ++fields) {
        json_array_append_new(list, json_pack("{s:s, s:I}", "field", fields->name, "bytes",
                                              (json_int_t)fields->bytes));
    }
    return list;
}

static json_t *parameters_json(const char *parameters)
{
    json_t *list = json_array();
    for (const char *start = parameters; *start;) {
        size_t length = strcspn(start, " ");
        json_array_append_new(list, json_stringn(start, length));
        start += length + strspn(start + length, " ");
    }
    return list;
}

static json_t *declared_json(const variant *listed)
{
    json_t *list = json_array();
    for (const ics_scatter_parameter *p = declared_by(listed); p->name != NULL; ++p) {
        json_array_append_new(list,
                              json_pack("{s:s, s:s, s:f, s:f, s:f, s:s}", "name", p->name, "unit",
                                        p->unit, "low", p->low, "high", p->high, "default",
                                        strtod(p->fallback, NULL), "description", p->help));
    }
    return list;
}

/* Returns whether the user's own header can replace the variants of this stage. */
static bool takes_source(const stage *listed)
{
    bool takes = false;
    for (int i = 0; i < ICS_STAGES; ++i) {
        takes |= strcmp(ics_stage_name((ics_stage)i), listed->name) == 0;
    }
    return takes;
}

static json_t *stage_json(const stage *listed)
{
    json_t *list = json_array();
    for (size_t i = 0; i < VARIANTS; ++i) {
        if (strcmp(variants[i].stage, listed->name) == 0) {
            json_array_append_new(list, json_pack("{s:s, s:s, s:b, s:o, s:o}", "name",
                                                  variants[i].name, "description", variants[i].text,
                                                  "default", (int)is_default(i), "parameters",
                                                  parameters_json(variants[i].parameters),
                                                  "declared", declared_json(&variants[i])));
        }
    }
    return json_pack("{s:s, s:s, s:b, s:o, s:o, s:I, s:I, s:o}", "name", listed->name,
                     "description", listed->text, "takes_source", (int)takes_source(listed),
                     "reads", fields_json(listed->reads), "writes", fields_json(listed->writes),
                     "bytes_read", (json_int_t)total_bytes(listed->reads), "bytes_written",
                     (json_int_t)total_bytes(listed->writes), "variants", list);
}

static int print_json(FILE *out, icestream_error *error)
{
    json_t *list = json_array();
    for (size_t i = 0; i < STAGES; ++i) {
        json_array_append_new(list, stage_json(&stages[i]));
    }
    json_t *report =
        json_pack("{s:I, s:I, s:I, s:o}", "photon_bytes", (json_int_t)sizeof(ice_photon),
                  "emission_bytes", (json_int_t)sizeof(ice_emission), "arrival_bytes",
                  (json_int_t)sizeof(ice_arrival), "stages", list);
    return ics_report_json("stages", report, out, error);
}

int icestream_stages(bool json, FILE *out, icestream_error *error)
{
    if (json) {
        return print_json(out, error);
    }
    print_text(out);
    return ics_report_end("stages", out, error);
}
