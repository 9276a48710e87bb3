/* The memory of YAML documents: blocks that grow with the tree and are freed together. */
#include "pipeline/photons/config/yaml/document.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 16384 };

struct ics_yaml_block {
    struct ics_yaml_block *next;
    size_t used, size;
    max_align_t data[];
};

typedef struct ics_yaml_block block;

void *ics_yaml_document_memory(ics_yaml *document, size_t bytes)
{
    const size_t align = sizeof(max_align_t);
    bytes = (bytes + align - 1) / align * align;
    block *first = document->blocks;
    if (first == NULL || first->size - first->used < bytes) {
        size_t size = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
        first = malloc(sizeof *first + size);
        if (first == NULL) {
            return NULL;
        }
        *first = (block){.next = document->blocks, .size = size};
        document->blocks = first;
    }
    void *memory = (char *)first->data + first->used;
    first->used += bytes;
    return memory;
}

char *ics_yaml_document_text(ics_yaml *document, const char *text, size_t length)
{
    char *copy = ics_yaml_document_memory(document, length + 1);
    if (copy != NULL) {
        memcpy(copy, text, length);
        copy[length] = 0;
    }
    return copy;
}

void ics_yaml_destroy(ics_yaml *document)
{
    if (document == NULL) {
        return;
    }
    for (block *next, *each = document->blocks; each != NULL; each = next) {
        next = each->next;
        free(each);
    }
    free(document);
}

int ics_yaml_document_create(const char *name, const char *folder, ics_yaml **out,
                             icestream_error *error)
{
    ics_yaml *document = calloc(1, sizeof *document);
    if (document == NULL) {
        return ics_error_no_memory(error, name);
    }
    const char *slash = strrchr(name, '/');
    size_t length = slash != NULL ? (size_t)(slash - name) : 0;
    if (slash != NULL && slash == name) { /* the folder of "/run.yaml" is "/" */
        length = 1;
    }
    if (folder == NULL) {
        folder = name;
    } else {
        length = strlen(folder);
    }
    document->source.name = ics_yaml_document_text(document, name, strlen(name));
    document->source.faults = &document->faults;
    document->source.folder = ics_yaml_document_text(document, folder, length);
    if (document->source.name == NULL || document->source.folder == NULL) {
        ics_yaml_destroy(document);
        return ics_error_no_memory(error, name);
    }
    *out = document;
    return ICESTREAM_OK;
}

const ics_yaml_node *ics_yaml_root(const ics_yaml *document)
{
    return document->root;
}
