/* Modules as their files list them, before they are checked. */
#ifndef IS_MODULE_LIST_H
#define IS_MODULE_LIST_H

#include "pipeline/error.h"
#include "pipeline/models/text.h"
#include "stages/model.h"

typedef struct is_listed_module {
    ice_module module;
    size_t line; /* 0: not from a file */
} is_listed_module;

typedef struct is_module_list {
    is_listed_module *items; /* [count] */
    size_t count, capacity;
} is_module_list;

/* Appends a module. IS_OK or IS_E_MEMORY. */
int is_module_list_add(is_module_list *list, const ice_module *module, size_t line);
void is_module_list_free(is_module_list *list);

/* The 86 strings of physics.md 13.3. IS_OK or IS_E_MEMORY. */
int is_module_list_hex86(bool jitter, bool dense, is_module_list *out);

/* geo-f2k: name, hexadecimal id, x, y, height relative to the surface, string, module. Only modules
 * in the deep ice (string > 0, module 1 .. 60) are taken, possibly none. IS_E_CONFIG, IS_E_MEMORY.
 */
int is_module_list_geo(const is_text *text, is_module_list *out, is_error *error);

/* CSV with the columns string, module, x, y, z and, if wanted, efficiency; or string_index,
 * dom_index (both from 0), x_m, y_m, z_m. IS_E_CONFIG, IS_E_MEMORY. */
int is_module_list_csv(const is_text *text, is_module_list *out, is_error *error);

#endif
