#!/usr/bin/env python3
"""Checks the names of the program against the rules of CONTRIBUTING.md.

    scripts/check_names.py

Exits with 1 and names the place if
  - a function or variable with linkage does not begin with ics_ and a word of its file or room, and
    is not an icestream_ name of a public header,
  - a static function of a .c file has a prefix, or a function of a stage does not begin with ice_,
  - a name that says is_, has_ or can_ is not of type bool,
  - a type or a function with linkage has the name of another one, or a local type has the name of a
    shared one,
  - a macro or an enumerator of a header has no prefix, or a header's guard is not made of its path,
  - a word that the glossary gives up (GIVEN_UP) stands in a name.
Needs Debian's universal-ctags.
"""
import collections
import os
import re
import subprocess
import sys

TOPS = ('base', 'stages', 'physics', 'tables', 'kernels', 'graphs', 'pipeline')
PUBLIC = ('pipeline/icestream.h', 'base/icestream_error.h')
# docs/glossary.md, "words that are no longer used".
GIVEN_UP = {'keeper', 'carrier', 'prey', 'aside', 'traveller', 'board', 'settle', 'news'}


def files_of(tops):
    for top in tops:
        for folder, _, names in os.walk(top):
            for name in sorted(names):
                if name.endswith(('.c', '.h', '.cu', '.def')):
                    yield os.path.join(folder, name)


def tags(files):
    out = subprocess.run(['ctags', '--languages=C', '--langmap=C:+.h.cu.def',
                          '--kinds-C=defgpstuvx', '--fields=+nKStf', '-f', '-', *files],
                         check=True, capture_output=True, text=True).stdout
    for line in out.splitlines():
        fields = line.split('\t')
        extra = dict(f.split(':', 1) for f in fields[3:] if ':' in f)
        kind = extra.get('kind') or next((f for f in fields[3:] if ':' not in f and f), '')
        yield fields[0], fields[1], kind, extra, fields[2]


def words_of(path):
    """What a function of a file may begin with: the first words of its name, or its room."""
    stem = os.path.splitext(os.path.basename(path))[0].split('_')
    words = {'_'.join(stem[:count]) for count in range(1, len(stem) + 1)}
    for part in os.path.dirname(path).split('/'):
        words |= {part, part.rstrip('s')}
    return words - {''}


def fits(name, paths):
    rest = re.sub(r'^ics_', '', name)
    return any(rest == word or rest.startswith(word + '_') for path in paths
               for word in words_of(path))


def main():
    os.chdir(os.path.join(os.path.dirname(__file__), '..'))
    files = list(files_of(TOPS))
    text = {}
    for path in files:
        with open(path, encoding='utf-8') as file:
            text[path] = file.read()
    public = set(re.findall(r'\bicestream_\w+', ''.join(text[p] for p in PUBLIC)))
    faults = set()
    declared = collections.defaultdict(set)
    functions, types = collections.defaultdict(set), collections.defaultdict(set)
    every = list(tags(files))
    for name, path, kind, extra, pattern in every:
        if kind in ('prototype', 'p') and path.endswith('.h'):
            declared[name].add(path)

    for name, path, kind, extra, pattern in every:
        where = f"{path}:{extra.get('line', '?')}: {name}"
        source = path.endswith(('.c', '.cu'))
        static = 'file' in extra or re.match(r'/\^\s*(static|ICE_FN)\b', pattern)
        for word in name.lower().split('_'):
            if word in GIVEN_UP and kind not in ('member', 'm'):
                faults.add(f'{where}: the glossary gives up the word {word}')
        if kind in ('function', 'f') and '__' not in name:
            predicate = re.search(r'(^|_)(is|has|can)_', name)
            returned = extra.get('typeref', '').replace('typename:', '')
            # The stages have no bool: int32_t is 0 or 1 there.
            if predicate and 'bool' not in returned and 'bool' not in pattern and \
                    not ('int32_t' in pattern and path.startswith(('stages/', 'physics/'))):
                faults.add(f'{where}: says {predicate.group(2)} and returns {returned}')
        if kind in ('function', 'f') and source and '__' not in name:
            if static and '/device/' not in path:
                if re.match(r'(ics|icestream)_', name):
                    faults.add(f'{where}: a static function has no prefix')
            elif path.startswith('kernels/cuda/') and re.match(r'gpu_', name):
                pass
            elif name.startswith('icestream_'):
                if name not in public:
                    faults.add(f'{where}: is in no public header')
                functions[name].add(path)
            elif name != 'main':
                functions[name].add(path)
                if not name.startswith('ics_'):
                    faults.add(f'{where}: a function with linkage begins with ics_')
                elif not fits(name, {path} | declared[name]):
                    faults.add(f'{where}: begins with no word of its file or room')
        elif kind in ('function', 'f') and path.endswith('.h') and '__' not in name:
            prefix = 'ice_' if path.startswith(('stages/', 'physics/')) else \
                'gpu_' if '/cuda/device/' in path else 'ics_'
            if not name.lower().startswith(prefix):
                faults.add(f'{where}: a function of this header begins with {prefix}')
        if kind in ('typedef', 't') and not (source and re.match(r'\w', name) is None):
            types[name].add(path)
        if kind in ('macro', 'd', 'enumerator', 'e') and path.endswith('.h') and \
                not re.match(r'(ICS|ICESTREAM|ICE|GPU)_|CUDA_TRY|_H', name) and \
                not name.startswith(('ice_', 'X')):
            faults.add(f'{where}: a macro or enumerator of a header has a prefix')

    for name, places in functions.items():
        if len(places) > 1 and not all('none' in p or 'cuda' in p or 'gpu' in p for p in places):
            faults.add(f"{name}: is defined in {', '.join(sorted(places))}")
    for name, places in types.items():
        shared = [p for p in places if p.endswith('.h')]
        if len(places) > 1 and shared:
            faults.add(f"{name}: is a type in {', '.join(sorted(places))}")
    for path in files:
        if path.endswith('.h') and path not in PUBLIC:
            guard = 'ICS_' + re.sub(r'[^A-Z0-9]', '_', path.upper().replace('PIPELINE/', ''))
            found = re.search(r'^#ifndef (\w+_H)$', text[path], re.M)
            if found and found.group(1) not in (guard, guard.replace('ICS_', 'ICE_', 1)):
                faults.add(f'{path}: guard {found.group(1)}, expected {guard}')
    for fault in sorted(faults):
        print(fault)
    print(f"{len(files)} files: {len(faults)} {'fault' if len(faults) == 1 else 'faults'}")
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main())
