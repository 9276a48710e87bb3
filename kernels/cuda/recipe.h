/* All that a program is compiled from, as text, and the name that follows from it. */
#ifndef IS_CUDA_RECIPE_H
#define IS_CUDA_RECIPE_H

#include "kernels/cuda/program.h"
#include "kernels/embedded.h"

enum { IS_RECIPE_OPTIONS = 8 };

typedef struct is_recipe {
    char *source;                /* the main file: definitions, then the entry */
    is_embedded_source *headers; /* [header_count] embedded ones, then the user's */
    size_t header_count;
    char *custom[IS_STAGES];                /* texts of the user's headers, NULL: none */
    const char *options[IS_RECIPE_OPTIONS]; /* [option_count], without the architecture */
    size_t option_count;
    char digest[65]; /* of the contents of all of the above */
} is_recipe;

/* Reads the user's headers. Returns 0, or -1 with a sentence in `why`: no such entry, a header that
 * cannot be read or that includes files by absolute names, out of memory. is_recipe_free in any
 * case. */
int is_recipe_make(const is_program_options *options, is_recipe *recipe, char *why,
                   size_t why_size);
void is_recipe_free(is_recipe *recipe);

/* The key of what a compiler makes of the recipe for an architecture. -1: no memory. */
int is_recipe_key(const is_recipe *recipe, const char *compiler, int architecture, bool as_ptx,
                  char key[65]);

#endif
