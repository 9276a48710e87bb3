/* All that a program is compiled from, as text, and the name that follows from it. */
#ifndef ICS_KERNELS_CUDA_RECIPE_H
#define ICS_KERNELS_CUDA_RECIPE_H

#include "kernels/cuda/program.h"
#include "kernels/embedded.h"

enum { ICS_RECIPE_OPTIONS = 8 };

typedef struct ics_recipe {
    char *source;                 /* the main file: definitions, then the entry */
    ics_embedded_source *headers; /* [header_count] embedded ones, then the user's */
    size_t header_count;
    char *custom[ICS_STAGES];                /* texts of the user's headers, NULL: none */
    const char *options[ICS_RECIPE_OPTIONS]; /* [option_count], without the architecture */
    size_t option_count;
    char digest[65]; /* of the contents of all of the above */
} ics_recipe;

/* Reads the user's headers. Returns 0, or -1 with a sentence in `why`: no such entry, a header that
 * cannot be read or that includes files by absolute names, out of memory. ics_recipe_free in any
 * case. */
int ics_recipe_make(const ics_program_options *options, ics_recipe *recipe, icestream_error *error);
void ics_recipe_free(ics_recipe *recipe);

/* The key of what a compiler makes of the recipe for an architecture. -1: no memory. */
int ics_recipe_key(const ics_recipe *recipe, const char *compiler, int architecture, bool as_ptx,
                   char key[65]);

#endif
