/* YAML documents from text, for tests. */
#ifndef YAML_TEXT_H
#define YAML_TEXT_H

#include "pipeline/photons/config/yaml/yaml.h"

#include <check.h>
#include <string.h>

/* Reads a good text. Fails the test on errors. The caller destroys the document. */
static inline ics_yaml *read_good(const char *text)
{
    ics_yaml *document = NULL;
    icestream_error error = {0};
    int status = ics_yaml_read_text("folder/a.yaml", text, strlen(text), &document, &error);
    ck_assert_msg(status == ICESTREAM_OK, "%s", error.text);
    ck_assert_ptr_nonnull(document);
    return document;
}

#endif
