/* Fuzzes detector.types: the input is the mapping in YAML. Files that it names are not there. What
 * is accepted must keep the promises of physics/model.h; otherwise the fuzzer aborts. Good inputs
 * are in corpus/types. */
#include "pipeline/config/yaml/yaml.h"
#include "pipeline/models/types/types.h"
#include "tests/fuzz/fuzz_target.h"

#include <math.h>

static void check_type(const ice_module_type *type)
{
    require(type->name != NULL && type->shape < ICE_SHAPE_COUNT && type->oversize >= 1);
    require(type->radius >= 1e-3 && type->radius <= 10);
    require(type->half_height >= 1e-3 && type->half_height <= 10);
    require(isfinite(type->reach) && type->reach > 0 && type->reach <= 15);
    require(type->beta >= 0 && type->beta <= 1 && type->pmt_count <= ICE_PMTS_MAX);
    require(type->acceptance.angular.count == 0 || type->acceptance.angular.maximum > 0);
    require(type->own_count <= type->pmt_count);
    for (size_t k = 0; k < type->pmt_count; ++k) {
        const ice_pmt *pmt = &type->pmts[k];
        const double *a = pmt->axis;
        require(fabs(a[0] * a[0] + a[1] * a[1] + a[2] * a[2] - 1) < 1e-6);
        for (int c = 0; c < 3; ++c) {
            require(fabs(pmt->centre[c]) <= type->reach * 1.01 + 1e-6);
        }
        require(pmt->efficiency >= 0 && pmt->efficiency <= 100);
        require(pmt->acceptance <= type->own_count);
        require(ice_pmt_acceptance_of(type, k)->angular.count == 0 ||
                ice_pmt_acceptance_of(type, k)->angular.maximum > 0);
        require(pmt->radius >= 0 && pmt->delay >= 0 && pmt->spread >= 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static icestream_config *config; /* every key has its default */
    icestream_error error = {0};
    ics_yaml *document = NULL;
    ics_types types;
    ics_warnings warnings = {0};
    if (config == NULL) {
        require(icestream_config_load(NULL, NULL, 0, &config, &error) == ICESTREAM_OK);
    }
    if (ics_yaml_read_text("nowhere/fuzz.yaml", (const char *)data, size, &document, &error) !=
        ICESTREAM_OK) {
        return 0;
    }
    const ics_yaml_node *root = ics_yaml_root(document);
    if (root->kind == ICS_YAML_MAPPING && root->count > 0) {
        config->detector.types = root;
        const int status = ics_types_read(config, &types, &warnings, &error);
        require((status == ICESTREAM_OK) == (error.status == ICESTREAM_OK));
        require(status == ICESTREAM_OK ? types.count == root->count : types.count == 0);
        for (size_t i = 0; i < types.count; ++i) {
            check_type(&types.items[i]);
        }
        ics_types_free(&types);
        config->detector.types = NULL;
    }
    ics_warnings_free(&warnings);
    ics_yaml_destroy(document);
    return 0;
}
