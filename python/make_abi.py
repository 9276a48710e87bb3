#!/usr/bin/env python3
"""Writes the declarations of libicestream for cffi, from its public headers.

    make_abi.py HEADER_FOLDER... OUTPUT.py

HEADER_FOLDER: where icestream.h, icestream_session.h and icestream_error.h lie; all three may lie in one folder.
OUTPUT.py becomes a module with `ffi` and with `VERSION`, the version of the headers. The headers alone say what the
library offers, so the package cannot disagree with them.
"""
import os
import re
import sys

import cffi

NAMES = ('icestream_error.h', 'icestream.h', 'icestream_session.h')
# The package catches in memory what a function of the library prints.
EXTRA = '''
FILE *open_memstream(char **text, size_t *length);
int fclose(FILE *stream);
void free(void *memory);
'''


def read_headers(folders):
    texts = []
    for name in NAMES:
        paths = [os.path.join(folder, name) for folder in folders]
        found = [path for path in paths if os.path.exists(path)]
        if not found:
            sys.exit('make_abi.py: found none of %s, expected one' % ', '.join(paths))
        with open(found[0], encoding='utf-8') as file:
            texts.append(file.read())
    return '\n'.join(texts)


def statuses(text):
    """The rows of ICESTREAM_STATUS_LIST: (name, value)."""
    rows = re.findall(r'X\((ICESTREAM_\w+), (-?\d+), \d+, "[^"]*"\)', text)
    if not rows:
        sys.exit('make_abi.py: found no row of ICESTREAM_STATUS_LIST, expected X(NAME, VALUE, EXIT, "TEXT")')
    return rows


def declarations(text):
    """The C declarations that cffi reads: no comments, no preprocessor, no attributes."""
    rows = statuses(text)
    text = re.sub(r'/\*.*?\*/', ' ', text, flags=re.S)
    text = re.sub(r'typedef enum icestream_status \{.*?\} icestream_status;',
                  'typedef enum { %s } icestream_status;' % ', '.join('%s = %s' % row for row in rows), text, flags=re.S)
    text = re.sub(r'^[ \t]*#(?:[^\n]*\\\n)*[^\n]*$', '', text, flags=re.M)
    text = text.replace('ICESTREAM_PUBLIC ', '')
    # extern "C" { ... } of C++: its braces stood between preprocessor lines.
    text = re.sub(r'extern "C" \{', '', text)
    text = re.sub(r'^\}\s*$', '', text, flags=re.M)
    return text + EXTRA


def main(folders, output):
    text = read_headers(folders)
    version = re.search(r'#define ICESTREAM_VERSION "([^"]+)"', text)
    if version is None:
        sys.exit('make_abi.py: found no ICESTREAM_VERSION in icestream.h, expected one')
    ffi = cffi.FFI()
    ffi.cdef(declarations(text))
    ffi.set_source('icestream._abi', None)
    ffi.emit_python_code(output)
    with open(output, 'a', encoding='utf-8') as file:
        file.write('VERSION = %r\n' % version.group(1))


if __name__ == '__main__':
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(sys.argv[1:-1], sys.argv[-1])
