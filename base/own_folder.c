#include "base/own_folder.h"

#include "base/cleanup.h"

#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int ics_own_folder(char *path, size_t size)
{
    static const char here;
    Dl_info about;
    struct link_map *object = NULL;
    /* The loader gives the program itself no name. */
    const bool known = dladdr1(&here, &about, (void **)&object, RTLD_DL_LINKMAP) != 0;
    const bool is_library = known && object != NULL && object->l_name[0] != '\0';
    ICS_FREES char *file = realpath(is_library ? object->l_name : "/proc/self/exe", NULL);
    char *name = file != NULL ? strrchr(file, '/') : NULL;
    if (name == NULL) {
        return -1;
    }
    *name = '\0';
    return (size_t)snprintf(path, size, "%s", file) < size ? 0 : -1;
}
