#!/usr/bin/python3
"""Finds pointers that are compared with NULL without the words: `!pointer` and `if (pointer)`.

    scripts/check_null.py [--fix] BUILD

BUILD is a folder with compile_commands.json. Files that end in .cu and bodies of macros are checked by
their text, for the names that the same file declares as pointers; --fix leaves them alone. Prints FILE:LINE for every place and exits with 1 if
there is one; --fix rewrites the places to `pointer == NULL` and `pointer != NULL`. clang-tidy's
readability-implicit-bool-conversion does this for C++, but C converts no pointer to bool there.
Needs Debian's python3-clang-16, which only Debian's own Python finds: hence the first line.
"""
import collections
import functools
import json
import multiprocessing
import os
import re
import sys

from clang import cindex
from clang.cindex import CursorKind, TypeKind

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), '..'))
ROOMS = ('base', 'bench', 'graphs', 'kernels', 'physics', 'pipeline', 'stages', 'tables', 'tests')
CONDITIONS = {CursorKind.IF_STMT: 0, CursorKind.WHILE_STMT: 0, CursorKind.CONDITIONAL_OPERATOR: 0,
              CursorKind.DO_STMT: 1}


def is_pointer(cursor):
    kind = cursor.type.get_canonical().kind
    return kind in (TypeKind.POINTER, TypeKind.INCOMPLETEARRAY, TypeKind.CONSTANTARRAY)


@functools.lru_cache(maxsize=None)
def path_in_root(name):
    path = os.path.realpath(name)
    return os.path.relpath(path, ROOT) if path.startswith(ROOT + os.sep) else None


def place(cursor):
    start, end = cursor.extent.start, cursor.extent.end
    begins, ends = start.file, end.file
    name = begins.name if begins is not None and ends is not None else None
    path = path_in_root(name) if name is not None else None
    if path is None or ends.name != name:
        return None
    # An expression that a macro makes has the place of the macro's call.
    written = path.split(os.sep)[0] in ROOMS and start.offset < end.offset and \
        not re.match(r'ck_|(?!START_TEST)[A-Z_]+\(', text_of(path)[start.offset:end.offset])
    return (path, start.offset, end.offset) if written else None


def visit(cursor, found):
    children = list(cursor.get_children())
    tested = []
    if cursor.kind in CONDITIONS and len(children) > CONDITIONS[cursor.kind]:
        tested.append(children[CONDITIONS[cursor.kind]])
    # The place of an expression is asked for last, because it takes most of the time.
    if cursor.kind == CursorKind.BINARY_OPERATOR and len(children) == 2 and any(map(is_pointer, children)):
        left = place(children[0])
        right = place(children[1])
        if left and right and left[0] == right[0]:
            between = text_of(left[0])[left[2]:right[1]].strip()
            if between in ('&&', '||'):
                tested += children
    if cursor.kind == CursorKind.FOR_STMT and len(children) >= 2:
        where = place(cursor)
        if where:
            head = text_of(where[0])[where[1]:where[2]]
            for child in children[:-1]:
                at = place(child)
                if at and is_pointer(child) and re.search(r';\s*$', head[:at[1] - where[1]]) and \
                        re.match(r'\s*;', head[at[2] - where[1]:]) and head[:at[1] - where[1]].count(';') == 1:
                    tested.append(child)
    for child in tested:
        if is_pointer(child) and child.kind != CursorKind.STRING_LITERAL:
            at = place(child)
            if at:
                found.add((at[0], at[1], at[2], '!='))
    if cursor.kind == CursorKind.UNARY_OPERATOR and len(children) == 1 and is_pointer(children[0]):
        at, inner = place(cursor), place(children[0])
        if at and inner and text_of(at[0])[at[1]:at[1] + 1] == '!':
            found.add((at[0], at[1], inner[1], inner[2], '=='))
    for child in children:
        visit(child, found)


texts = {}


def text_of(path):
    if path not in texts:
        with open(os.path.join(ROOT, path), encoding='utf-8') as file:
            # Offsets are in bytes.
            texts[path] = file.read().encode().decode('latin-1')
    return texts[path]


# Declarations of headers at which this process has looked already, as (path, start, end).
seen = set()


def look(command):
    os.chdir(command['directory'])
    arguments = [word for word in re.findall(r'(?:[^\s"\\]|\\.|"(?:[^"\\]|\\.)*")+', command['command'])[1:]]
    arguments = [re.sub(r'\\(.)', r'\1', word) for word in arguments]
    kept, skip = [], False
    for word in arguments:
        if skip:
            skip = False
        elif word in ('-o', '-c', '-MF', '-MT'):
            skip = word != '-c'
        elif word != command['file'] and not word.endswith('.c'):
            kept.append(word)
    unit = cindex.Index.create().parse(command['file'], args=[*kept, '-Wno-unknown-warning-option'])
    bad = [str(d) for d in unit.diagnostics if d.severity >= 4]
    if bad:
        sys.exit(f"{command['file']}: {bad[0]}")
    found = set()
    for child in unit.cursor.get_children():
        at = place(child)
        if at and (at not in seen or not at[0].endswith('.h')):
            seen.add(at)
            visit(child, found)
    return found


def macro_bodies(text):
    """The text with everything but the bodies of #define made blank; lines keep their numbers."""
    inside, lines = False, []
    for line in text.split('\n'):
        inside = inside or re.match(r'\s*#\s*define\b', line) is not None
        lines.append(line if inside else '')
        inside = inside and line.endswith('\\')
    return '\n'.join(lines)


def look_at_text(path):
    """Yields (path, line) of tests of a pointer in a .cu file or in the macros of another file."""
    text = re.sub(r'/\*.*?\*/|//[^\n]*', lambda m: re.sub(r'[^\n]', ' ', m.group()), text_of(path),
                  flags=re.S)
    pointers = set(re.findall(r'\b\w+\s*(?:const\s*)?\*+(?:\s*const\b)?\s*(\w+)\s*[;,=)\[]', text))
    if not path.endswith('.cu'):
        text = macro_bodies(text)
    # !name, and name alone as a condition or as one side of && or ||.
    for match in re.finditer(r'!\s*\(?(\w+)\b(?!\s*(?:\.|->|\[|\())'
                             r'|(?:\b(?:if|while)\s*\(|&&|\|\|)\s*(\w+)\s*(?=\)|&&|\|\|)'
                             r'|[(;]\s*(\w+)\s*(?=&&|\|\|)', text):
        if set(match.groups()) & pointers:
            yield path, text.count('\n', 0, match.start()) + 1


def main():
    arguments = sys.argv[1:]
    fix = '--fix' in arguments
    arguments = [a for a in arguments if a != '--fix']
    if len(arguments) != 1:
        sys.exit(__doc__)
    with open(os.path.join(arguments[0], 'compile_commands.json'), encoding='utf-8') as file:
        commands = [c for c in json.load(file) if c['file'].startswith(ROOT) and 'generated' not in c['file']
                    and os.path.relpath(c['file'], ROOT).split(os.sep)[0] in ROOMS and c['file'].endswith('.c')]
    found = set()
    with multiprocessing.Pool(os.cpu_count()) as pool:
        for places in pool.imap_unordered(look, commands, chunksize=4):
            found |= places
    in_text = set()
    for room in ROOMS:
        for folder, _, names in os.walk(os.path.join(ROOT, room)):
            for name in names:
                if name.endswith(('.c', '.h', '.cu', '.def')):
                    in_text |= set(look_at_text(os.path.relpath(os.path.join(folder, name), ROOT)))
    for path, line in sorted(in_text):
        print(f'{path}:{line}: a pointer is tested without NULL')
    edits = collections.defaultdict(list)
    for item in sorted(found):
        path = item[0]
        line = text_of(path).count('\n', 0, item[1]) + 1
        print(f"{path}:{line}: a pointer is tested without NULL")
        if item[-1] == '!=':
            edits[path].append((item[2], item[2], ' != NULL'))
        else:
            edits[path].append((item[1], item[2], ''))
            edits[path].append((item[3], item[3], ' == NULL'))
    if fix:
        for path, changes in edits.items():
            text = text_of(path)
            for start, end, new in sorted(changes, reverse=True):
                text = text[:start] + new + text[end:]
            with open(os.path.join(ROOT, path), 'wb') as file:
                file.write(text.encode('latin-1'))
    return 1 if in_text or (found and not fix) else 0


if __name__ == '__main__':
    sys.exit(main())
