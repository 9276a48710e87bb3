/* Fuzzes the files that list PMTs. Input: 'd' and a DETX file; 'b' and a DATX file; or 'c', an
 * om.conf, and after a line of "----" an om.map. What is accepted must keep the promises of
 * physics/model.h; otherwise the fuzzer aborts. Good inputs are in corpus/module_types. */
#include "pipeline/photons/models/detector/detx.h"
#include "pipeline/photons/models/types/types.h"
#include "tests/fuzz/fuzz_models.h"

static void check_types(const ics_types *types)
{
    require(types->count <= ICE_TYPES_MAX);
    for (size_t i = 0; i < types->count; ++i) {
        check_type(&types->items[i]);
    }
}

static int check_detx(const ics_text *text, icestream_error *error)
{
    char name[] = "fuzz";
    const ice_module_type sphere = {.name = name, .radius = 0.2159, .oversize = 1, .beta = 0.5};
    ics_types types = {0};
    ics_module_list list;
    const int status = ics_detx_read(text, &sphere, 0.04, &types, &list, error);
    require(status == ICESTREAM_OK || list.count == 0);
    check_types(&types); /* also after an error: those of the modules before it */
    for (size_t i = 0; i < list.count; ++i) {
        const ics_listed_module *listed = &list.items[i];
        const ice_module *m = &listed->module;
        const ice_orientation *q = &listed->turn;
        require(fabs(m->x) <= 1e4 && fabs(m->y) <= 1e4 && fabs(m->z) <= 1e4);
        require(listed->has_type && m->type < types.count);
        require(is_unit(q->x, q->y, q->z, q->w));
    }
    ics_module_list_free(&list);
    ics_types_free(&types);
    return status;
}

/* Reads om.map for six modules with the types of om.conf. */
static int check_map(const ics_text *map, const ics_types *types, icestream_error *error)
{
    ice_module modules[FUZZ_MODULES];
    char name[] = "fuzz";
    ice_detector detector = {.name = name, .modules = modules, .module_count = FUZZ_MODULES};
    make_modules(modules);
    const int status = ics_types_read_om_map(map, types, &detector, error);
    for (int i = 0; i < FUZZ_MODULES; ++i) {
        require(modules[i].string == 1 + i / 3 && modules[i].module == 1 + i % 3);
        require(status != ICESTREAM_OK || modules[i].type < types->count);
    }
    return status;
}

static int check_conf(const char *data, size_t size, icestream_error *error)
{
    static const char border[] = "\n----\n";
    const char *map = memmem(data, size, border, sizeof border - 1);
    const size_t conf_size = map != NULL ? (size_t)(map - data) + 1 : size;
    const ics_text conf = ics_text_borrow("om.conf", data, conf_size);
    ics_types types = {0};
    int status = ics_types_read_om_conf(&conf, 5, &types, error);
    require((status == ICESTREAM_OK) == (types.count > 0));
    check_types(&types);
    if (status == ICESTREAM_OK && map != NULL) {
        map += sizeof border - 1;
        const ics_text text = ics_text_borrow("om.map", map, (size_t)(data + size - map));
        status = check_map(&text, &types, error);
    }
    ics_types_free(&types);
    return status;
}

static int check_datx(const ics_text *file, icestream_error *error)
{
    ics_text text;
    int status = ics_datx_text(file, &text, error);
    if (status == ICESTREAM_OK) {
        status = check_detx(&text, error);
    }
    ics_text_free(&text);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0 || (data[0] != 'd' && data[0] != 'b' && data[0] != 'c')) {
        return 0;
    }
    const char *bytes = (const char *)data + 1;
    const ics_text text = ics_text_borrow("fuzz.detx", bytes, size - 1);
    icestream_error error = {0};
    const int status = data[0] == 'd'   ? check_detx(&text, &error)
                       : data[0] == 'b' ? check_datx(&text, &error)
                                        : check_conf(bytes, size - 1, &error);
    require((status == ICESTREAM_OK) == (error.status == ICESTREAM_OK));
    return 0;
}
