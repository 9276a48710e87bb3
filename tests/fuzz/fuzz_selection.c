/* Fuzzes --select: a text is refused with the column of the error, or is an expression that can be
 * evaluated for any hit. Good inputs are in corpus/selection. */
#include "pipeline/tools/trace/selection.h"
#include "tests/fuzz/fuzz_target.h"

#include <stdlib.h>
#include <string.h>

/* The input is the expression; what follows its first NUL byte is a hit. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = copy_of(data, size);
    if (text == NULL) {
        return 0;
    }
    const size_t length = strlen(text);
    ics_selection *selection = NULL;
    icestream_error error = {.status = ICESTREAM_OK};
    const int status = ics_selection_create(text, &selection, &error);
    require((status == ICESTREAM_OK) == (selection != NULL) && error.status == status);
    require(status == ICESTREAM_OK || strncmp(error.text, "--select: ", 10) == 0);
    icestream_hit hit = {.event_id = 0};
    const size_t rest = size > length ? size - length - 1 : 0;
    memcpy(&hit, data + size - rest, rest < sizeof hit ? rest : sizeof hit);
    require(selection == NULL ||
            ics_selection_holds(selection, &hit) == ics_selection_holds(selection, &hit));
    ics_selection_destroy(selection);
    free(text);
    return 0;
}
