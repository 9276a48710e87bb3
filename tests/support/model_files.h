/* Files for tests of models: a temporary folder, files in it, and configurations from overrides. */
#ifndef MODEL_FILES_H
#define MODEL_FILES_H

#include "pipeline/photons/config/config.h"

#include <stddef.h>

enum { MODEL_PATH = 512 };

/* A new empty folder in the system's folder for temporary files. */
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
 * test if it is refused. The caller destroys it. */
icestream_config *model_config(const char *first, ...) __attribute__((sentinel));

/* Settings that use only the layers of a ppc ice folder. */
#define MODEL_LAYERS_ONLY "ice.tilt=false", "ice.anisotropy=false", "ice.birefringence=false"

/* The path of a file in the shared folder with real ice and reference data. NULL, after a message,
 * if the file does not exist. */
const char *model_shared(const char *name, char path[MODEL_PATH]);

#endif
