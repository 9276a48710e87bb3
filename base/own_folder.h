/* Where this code lies. */
#ifndef ICS_BASE_OWN_FOLDER_H
#define ICS_BASE_OWN_FOLDER_H

#include <stddef.h>

/* Writes the folder of the file that has this code, without links: of the program, or of the shared
 * library, whichever program has loaded that. Returns 0, or -1 if it is not known or does not fit.
 */
int ics_own_folder(char *path, size_t size);

#endif
