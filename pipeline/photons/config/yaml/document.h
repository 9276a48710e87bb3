/* A YAML document and its memory. Private to the files that make documents. */
#ifndef ICS_PHOTONS_CONFIG_YAML_DOCUMENT_H
#define ICS_PHOTONS_CONFIG_YAML_DOCUMENT_H

#include "pipeline/photons/config/yaml/yaml.h"

struct ics_yaml {
    struct ics_yaml_block *blocks; /* all memory of the tree; ics_yaml_destroy() frees them */
    ics_yaml_source source;
    size_t faults; /* counted through source.faults */
    const ics_yaml_node *root;
};

/* Makes a document without nodes, whose paths refer to a folder. `folder` NULL: that of the path
 * `name`; "": the current folder. ICESTREAM_E_MEMORY. */
int ics_yaml_document_create(const char *name, const char *folder, ics_yaml **out,
                             icestream_error *error);

/* Memory that lives as long as the document; NULL: no memory. */
void *ics_yaml_document_memory(ics_yaml *document, size_t bytes);
/* A copy of `length` bytes with a zero after them, in such memory; NULL: no memory. */
char *ics_yaml_document_text(ics_yaml *document, const char *text, size_t length);

#endif
