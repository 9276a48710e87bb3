/* Files for tests of models: a folder of their own, files in it, configurations from overrides. */
#ifndef MODEL_FILES_H
#define MODEL_FILES_H

#include "pipeline/config/config.h"

#include <stddef.h>

enum { MODEL_PATH = 512 };

/* A new empty folder below the system's folder for temporary files. */
typedef struct model_folder {
    char path[MODEL_PATH / 2];
} model_folder;

model_folder model_folder_create(void);
/* Removes the folder and the files in it. */
void model_folder_remove(const model_folder *folder);
/* Writes a file into the folder and returns its path in `path`; fails the test on errors. */
const char *model_folder_write(const model_folder *folder, const char *name, const char *content,
                               char path[MODEL_PATH]);

/* A configuration of defaults with overrides, "path=value" each, NULL after the last. Fails the
 * test where it is refused; the caller destroys it. */
icestream_config *model_config(const char *first, ...) __attribute__((sentinel));

/* Settings for a ppc ice folder of which only the layers are meant. */
#define MODEL_LAYERS_ONLY "ice.tilt=false", "ice.anisotropy=false", "ice.birefringence=false"

/* The path of a file below the shared folder of real ice and reference data, or NULL (after a
 * message) where it is not there. */
const char *model_shared(const char *name, char path[MODEL_PATH]);

#endif
