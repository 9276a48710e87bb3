#include "pipeline/files/hdf5_common.h"

#include "base/error.h"

ics_hdf5_silence ics_hdf5_be_silent(void)
{
    ics_hdf5_silence before;
    H5Eget_auto2(H5E_DEFAULT, &before.function, &before.data);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    return before;
}

void ics_hdf5_speak_again(const ics_hdf5_silence *before)
{
    H5Eset_auto2(H5E_DEFAULT, before->function, before->data);
}

/* Keeps the innermost message, which names the cause. */
static herr_t take_message(unsigned depth, const H5E_error2_t *entry, void *text)
{
    if (depth == 0) {
        snprintf(text, 200, "%s", entry->desc != NULL ? entry->desc : "unknown reason");
    }
    return 0;
}

int ics_hdf5_failed(const char *path, int status, const char *what, icestream_error *error)
{
    char reason[200] = "unknown reason";
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_message, reason);
    return ics_error_set(error, status, "%s: %s: HDF5 says: %s", path, what, reason);
}

bool ics_hdf5_transfer(hid_t set, hid_t type, hsize_t first, hsize_t count, void *rows, bool write)
{
    hid_t space = H5Dget_space(set), memory = H5Screate_simple(1, &count, NULL);
    bool good = H5Sselect_hyperslab(space, H5S_SELECT_SET, &first, NULL, &count, NULL) >= 0 &&
                (write ? H5Dwrite(set, type, memory, space, H5P_DEFAULT, rows)
                       : H5Dread(set, type, memory, space, H5P_DEFAULT, rows)) >= 0;
    H5Sclose(memory);
    H5Sclose(space);
    return good;
}
