#include "base/file_kind.h"

#include <string.h>

const char *ics_file_kind(const char *bytes, size_t size)
{
    static const struct {
        const char *bytes;
        size_t count;
        const char *name;
    } kinds[] = {
        {"\x93NUMPY", 6, "a NumPy file (.npy)"},
        {"\x89PNG\r\n", 6, "a picture (PNG)"},
        {"\x89HDF\r\n", 6, "an HDF5 file"},
        {"PK\003\004", 4, "an archive (.npz or .zip)"},
        {"\x1f\x8b", 2, "compressed data (gzip)"},
        {"(\xb5/\xfd", 4, "compressed data (zstd)"},
        {"BZh", 3, "compressed data (bzip2)"},
        {"\xfd"
         "7zXZ",
         5, "compressed data (xz)"},
        {"%PDF", 4, "a PDF document"},
        {"\xff\xd8\xff", 3, "a picture (JPEG)"},
        {"\x7f"
         "ELF",
         4, "a program"},
        {"version https://git-lfs", 23, "a pointer of Git LFS in place of the file"},
        {"<!DOCTYPE", 9, "an HTML page"},
        {"<!doctype", 9, "an HTML page"},
        {"<html", 5, "an HTML page"},
        {"\xff\xfe", 2, "text in UTF-16"},
        {"\xfe\xff", 2, "text in UTF-16"},
    };
    enum { LOOKED_AT = 4096 };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i) {
        if (size >= kinds[i].count && memcmp(bytes, kinds[i].bytes, kinds[i].count) == 0) {
            return kinds[i].name;
        }
    }
    return size > 0 && memchr(bytes, 0, size < LOOKED_AT ? size : LOOKED_AT) != NULL ? "binary data"
                                                                                     : NULL;
}

bool ics_file_is_text(const void *bytes, size_t size)
{
    const unsigned char *text = bytes;
    for (size_t i = 0; i < size; ++i) {
        if ((text[i] < ' ' && strchr("\t\n\r", text[i]) == NULL) || text[i] == 0 ||
            text[i] >= 0x7f) {
            return false;
        }
    }
    return size > 0;
}
