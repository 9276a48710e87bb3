/* Run files and overrides: whatever the bytes are, a configuration or an error comes back, and a
 * configuration that was accepted prints as one that is accepted again.
 *
 * The input is the file; what follows its first NUL byte is one --set argument. Good inputs are in
 * corpus/yaml. */
#include "pipeline/photons/config/config.h"
#include "tests/fuzz/fuzz_target.h"

#include <stdlib.h>
#include <string.h>

static char *print(const icestream_config *config)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    require(stream != NULL && icestream_config_print(config, stream, NULL) == ICESTREAM_OK);
    fclose(stream);
    return text;
}

static void check_printed(const icestream_config *config)
{
    icestream_config *again = NULL;
    icestream_error error;
    char *first = print(config);
    require(ics_config_load_text("printed.yaml", first, strlen(first), NULL, 0, &again, &error) ==
            ICESTREAM_OK);
    char *second = print(again);
    require(strcmp(first, second) == 0);
    icestream_config_destroy(again);
    free(first);
    free(second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = copy_of(data, size);
    if (text == NULL) {
        return 0;
    }
    size_t length = strlen(text);
    const char *set = text + length + 1;
    icestream_config *config = NULL;
    icestream_error error;
    int status =
        ics_config_load_text("run.yaml", text, length, &set, length < size, &config, &error);
    require((status == ICESTREAM_OK) == (config != NULL) && error.status == status);
    require(status == ICESTREAM_OK || strlen(error.text) > 0);
    if (config != NULL) {
        check_printed(config);
    }
    icestream_config_destroy(config);
    free(text);
    return 0;
}
