/* Run files and overrides: whatever the bytes are, a configuration or an error comes back, and a
 * configuration that was accepted prints as one that is accepted again.
 *
 * The input is the file; what follows its first NUL byte is one --set argument. */
#include "pipeline/config/config.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *print(const is_config *config)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    if (!stream || is_config_print(config, stream, NULL) != IS_OK)
        abort();
    fclose(stream);
    return text;
}

static void check_printed(const is_config *config)
{
    is_config *again = NULL;
    is_error error;
    char *first = print(config);
    if (is_config_load_text("printed.yaml", first, strlen(first), NULL, 0, &again, &error) != IS_OK)
        abort();
    char *second = print(again);
    if (strcmp(first, second) != 0)
        abort();
    is_config_destroy(again);
    free(first);
    free(second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = 0;
    size_t length = strlen(text);
    const char *set = text + length + 1;
    is_config *config = NULL;
    is_error error;
    int status =
        is_config_load_text("run.yaml", text, length, &set, length < size, &config, &error);
    if ((status == IS_OK) != (config != NULL) || error.status != status ||
        (status != IS_OK && strlen(error.text) == 0))
        abort();
    if (config)
        check_printed(config);
    is_config_destroy(config);
    free(text);
    return 0;
}
