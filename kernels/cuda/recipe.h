/* The recipe of a program: all texts and options that it is compiled from, and their digest. */
#ifndef ICS_KERNELS_CUDA_RECIPE_H
#define ICS_KERNELS_CUDA_RECIPE_H

#include "kernels/cuda/program.h"
#include "kernels/embedded.h"

enum { ICS_RECIPE_OPTIONS = 9 };

typedef struct ics_recipe {
    char *source;                 /* the main file: definitions, then the line that includes the
                                     entry */
    ics_embedded_source *headers; /* [header_count] first the embedded headers, then the user's */
    size_t header_count;
    char *custom[ICS_STAGES];                /* texts of the user's headers, NULL: none */
    const char *options[ICS_RECIPE_OPTIONS]; /* [option_count], without the architecture */
    size_t option_count;
    char digest[65]; /* SHA-256 of everything above; the paths of headers do not count */
} ics_recipe;

/* Makes a recipe and reads the user's headers. Returns ICESTREAM_OK, ICESTREAM_E_MEMORY, or
 * ICESTREAM_E_CONFIG: the entry does not exist, or a header cannot be used. Call ics_recipe_free
 * also after an error. */
int ics_recipe_make(const ics_program_options *options, ics_recipe *recipe, icestream_error *error);
void ics_recipe_free(ics_recipe *recipe);

/* Writes the cache key of the program that this compiler makes from the recipe for an architecture.
 * Returns 0, or -1 if memory is short. */
int ics_recipe_key(const ics_recipe *recipe, const char *compiler, int architecture, bool as_ptx,
                   char key[65]);

#endif
