#include "pipeline/files/hdf5_common.h"

#include "base/error.h"

#include <string.h>

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

/* Keeps the innermost message, which names the cause. Of an error of the system it keeps the text
 * of the system. */
static herr_t take_message(unsigned depth, const H5E_error2_t *entry, void *data)
{
    static const char mark[] = "error message = '";
    ics_hdf5_reason *reason = data;
    if (depth != 0 || entry->desc == NULL) {
        return 0;
    }
    const char *system = strstr(entry->desc, mark);
    const char *text = system != NULL ? system + strlen(mark) : entry->desc;
    const int length = system != NULL ? (int)strcspn(text, "'") : (int)strlen(text);
    snprintf(reason->text, sizeof reason->text, "%.*s", length, text);
    return 0;
}

/* HDF5 calls this where one of its functions fails. */
static herr_t keep_first(hid_t stack, void *data)
{
    ics_hdf5_reason *reason = data;
    return reason->text[0] == '\0' ? H5Ewalk2(stack, H5E_WALK_UPWARD, take_message, reason) : 0;
}

ics_hdf5_silence ics_hdf5_keep_first(ics_hdf5_reason *reason)
{
    reason->text[0] = '\0';
    /* HDF5 keeps a file whose last bytes it cannot write, tries again when the process exits, and
     * crashes there (version 1.10.8, on a full disk). So it must do nothing at the exit. It refuses
     * this if it is in use already. */
    H5dont_atexit();
    ics_hdf5_silence before = ics_hdf5_be_silent();
    H5Eset_auto2(H5E_DEFAULT, keep_first, reason);
    return before;
}

hid_t ics_hdf5_create(const char *part)
{
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_file_locking(access, 0, 1);
    hid_t file = H5Fcreate(part, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    H5Pclose(access);
    return file;
}

int ics_hdf5_finish(hid_t file, const char *to, int status, icestream_error *error)
{
    if (H5Fflush(file, H5F_SCOPE_GLOBAL) < 0 && !status) {
        status = ics_hdf5_failed(to, ICESTREAM_E_OUTPUT, "cannot write", error);
    }
    if (H5Fclose(file) < 0 && !status) {
        status = ics_hdf5_failed(to, ICESTREAM_E_OUTPUT, "cannot finish", error);
    }
    return status;
}

int ics_hdf5_failed(const char *path, int status, const char *what, icestream_error *error)
{
    H5E_auto2_t function = NULL;
    void *data = NULL;
    ics_hdf5_reason reason = {.text = ""};
    H5Eget_auto2(H5E_DEFAULT, &function, &data);
    if (function == keep_first) {
        reason = *(const ics_hdf5_reason *)data;
    } else {
        H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_message, &reason);
    }
    return ics_error_set(error, status, "%s: %s: HDF5 says: %s", path, what,
                         reason.text[0] != '\0' ? reason.text : "unknown reason");
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
