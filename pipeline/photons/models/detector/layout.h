/* Which file has the modules of a run, and whether a list of single modules is for them. */
#ifndef ICS_PHOTONS_MODELS_DETECTOR_LAYOUT_H
#define ICS_PHOTONS_MODELS_DETECTOR_LAYOUT_H

#include "pipeline/photons/config/config.h"
#include "pipeline/photons/models/detector/module_list.h"

/* Finds the file of the modules: detector.file; or, with detector.layout: auto, the file geo-f2k of
 * ice.directory, if it is there. The caller frees *out; NULL: the modules are those of hex86.
 * ICESTREAM_E_CONFIG: keys of hex86 are given together with a geo-f2k. ICESTREAM_E_MEMORY. */
int ics_detector_layout_path(const icestream_config *config, char **out, icestream_error *error);

/* Reads the modules of a file: geo-f2k if the name ends so, DETX if it ends in .detx, else CSV. A
 * file without modules is an error. `types`: the types that CSV may name; those that a DETX file
 * describes are added. NULL: only the modules count. ICESTREAM_E_CONFIG, ICESTREAM_E_MEMORY. The
 * caller frees the list. */
int ics_detector_layout_read(const char *path, const icestream_config *config, ics_types *types,
                             ics_module_list *out, icestream_error *error);

/* Returns what to add to z of a module to get z of the file of the detector (m): geo-f2k counts
 * from the surface, and all other files count as icestream does. `name`: ice_detector.name. */
double ics_detector_layout_height(const char *name);

/* How the modules of a detector differ from a file geo-f2k. */
typedef struct ics_layout_difference {
    char *file;              /* path of that geo-f2k, owned by the caller; NULL: there is none */
    size_t shared;           /* modules of the detector that the file has, too */
    size_t moved;            /* those of them that are more than ICS_LAYOUT_TOLERANCE away */
    double distance;         /* distance of the first one of these (m) */
    uint16_t string, module; /* its identity */
} ics_layout_difference;

/* The largest distance (m) between two surveys of the same module. The closest modules of one
 * string are 7 m apart, so that a list that counts from another number is found. */
#define ICS_LAYOUT_TOLERANCE 5.0

/* Compares the modules of a detector, which are sorted by string and module, with the file geo-f2k
 * that lies next to `path`. Nothing is compared if there is none, or if it is the file of the
 * detector. ICESTREAM_E_CONFIG: that geo-f2k cannot be read. ICESTREAM_E_MEMORY. */
int ics_detector_layout_compare(const ice_detector *detector, const char *path,
                                ics_layout_difference *out, icestream_error *error);

/* Returns the line of a module in the file of a detector; 0: the modules are not from a file, or
 * the file cannot be read any more. For warnings about few modules: it reads the file again. */
size_t ics_detector_layout_line(const ice_detector *detector, const ice_module *module);

#endif
