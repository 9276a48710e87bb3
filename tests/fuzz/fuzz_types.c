/* Fuzzes detector.types: the input is the mapping in YAML. Files that it names are not there. What
 * is accepted must keep the promises of physics/model.h; otherwise the fuzzer aborts. Good inputs
 * are in corpus/types. */
#include "pipeline/photons/config/yaml/yaml.h"
#include "pipeline/photons/models/types/types.h"
#include "tests/fuzz/fuzz_models.h"

/* What types of a configuration promise beyond those of other files. */
static void check_own_type(const ice_module_type *type)
{
    check_type(type);
    require(type->radius >= 1e-3 && type->half_height >= 1e-3);
    require(type->acceptance.angular.count == 0 || type->acceptance.angular.maximum > 0);
    require(type->own_count <= type->pmt_count);
    for (size_t k = 0; k < type->pmt_count; ++k) {
        const ice_pmt *pmt = &type->pmts[k];
        require(pmt->efficiency <= 100 && pmt->acceptance <= type->own_count);
        require(ice_pmt_acceptance_of(type, k)->angular.count == 0 ||
                ice_pmt_acceptance_of(type, k)->angular.maximum > 0);
        require(pmt->delay >= 0 && pmt->spread >= 0);
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
            check_own_type(&types.items[i]);
        }
        ics_types_free(&types);
        config->detector.types = NULL;
    }
    ics_warnings_free(&warnings);
    ics_yaml_destroy(document);
    return 0;
}
