#!/usr/bin/env python3
"""Checks the names of the program against the rules of CONTRIBUTING.md, and all words against the
glossary.

    scripts/check_names.py

Exits with 1 and names the place if
  - a function or variable with linkage does not begin with ics_ and a word of its file or room, and
    is not an icestream_ name of a public header,
  - a static function of a .c file has a prefix, or a function of a stage does not begin with ice_,
  - a name that says is_, has_ or can_ is not of type bool,
  - a type or a function with linkage has the name of another one, or a local type has the name of a
    shared one,
  - a macro or an enumerator of a header has no prefix, or a header's guard is not made of its path,
  - a local variable or a parameter has the prefix ics_,
  - a word that docs/glossary.md no longer uses stands in a name, a comment, a message or a document.
The table "Words that are no longer used" of the glossary is read for the last rule. Its column
"refused" lists the forms of a word: `word`, several words, `word_` (in front of a name) or `_word`
(at the end of a name). Its column "where it stays" lists phrases, files and folders in which the word
is right. A line may also allow a word for itself and the next line, with a comment: `word: WORD`.
Needs Debian's universal-ctags.
"""
import collections
import os
import re
import subprocess
import sys

TOPS = ('base', 'stages', 'physics', 'tables', 'kernels', 'graphs', 'pipeline', 'bench/lab')
PUBLIC = ('pipeline/icestream.h', 'pipeline/icestream_session.h', 'base/icestream_error.h')
GLOSSARY = 'docs/glossary.md'
# What is read for words: the folders, the files next to them, and the endings of names.
WORD_FOLDERS = TOPS[:-1] + ('tests', 'docs', 'scripts', 'cmake', 'configs', 'bench')
WORD_FILES = ('README.md', 'CONTRIBUTING.md', 'CMakeLists.txt')
WORD_ENDINGS = ('.c', '.h', '.cu', '.def', '.py', '.sh', '.md', '.cmake', '.txt', '.in', '.yaml')


def files_of(tops):
    for top in tops:
        for folder, _, names in os.walk(top):
            for name in sorted(names):
                if name.endswith(('.c', '.h', '.cu', '.def')):
                    yield os.path.join(folder, name)


def tags(files, kinds='--kinds-C=defgpstuvx'):
    out = subprocess.run(['ctags', '--languages=C', '--langmap=C:+.h.cu.def',
                          kinds, '--fields=+nKStf', '-f', '-', *files],
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


def given_up():
    """Rows of the glossary's last table: (word, first words of its forms, pattern of its forms, phrases, places)."""
    with open(GLOSSARY, encoding='utf-8') as file:
        table = file.read().split('## Words that are no longer used', 1)[1]
    rows = [[cell.strip() for cell in line.split('|')[1:-1]]
            for line in table.splitlines() if line.startswith('| ')]
    head = ['old word', 'what is said instead', 'refused', 'where it stays']
    if not rows or rows[0] != head:
        sys.exit(f"{GLOSSARY}: the table of words has the columns {', '.join(head)}")
    for row in rows[1:]:
        if len(row) != len(head):
            sys.exit(f"{GLOSSARY}: {row[0]}: {len(row)} columns, expected {len(head)}")
        forms = re.findall(r'`([^`]+)`', row[2])
        if not forms and row[2] != 'by readers':
            sys.exit(f'{GLOSSARY}: {row[0]}: no forms in column 3')
        stays = re.findall(r'`([^`]+)`', row[3])
        places = tuple(item for item in stays if os.path.exists(item))
        # Words of one form may stand in two lines of a comment.
        pattern = '|'.join(('' if form.startswith('_') else r'(?<![a-z])') +
                           re.escape(form).replace(r'\ ', r'[\s/*#]+') +
                           ('' if form.endswith('_') else r'(?![a-z])') for form in forms)
        phrases = '|'.join(re.escape(item).replace(r'\ ', r'[\s/*#]+')
                           for item in stays if item not in places)
        if forms:
            first = {form.lower().split()[0] for form in forms}
            yield forms[0].strip('_'), first, re.compile(pattern, re.I), \
                re.compile(phrases or r'(?!)', re.I), places


def word_files():
    for top in WORD_FOLDERS:
        for folder, folders, names in os.walk(top):
            # Inputs of the fuzzers are data.
            folders[:] = [name for name in folders if name not in ('corpus', '__pycache__')]
            for name in sorted(names):
                if name.endswith(WORD_ENDINGS):
                    yield os.path.join(folder, name)
    yield from WORD_FILES


def word_faults():
    rows = list(given_up())
    for path in word_files():
        with open(path, encoding='utf-8') as file:
            text = file.read()
        if path == GLOSSARY:
            text = text.split('## Words that are no longer used', 1)[0]
        lines = text.split('\n')
        lower = text.lower()
        for word, first, pattern, phrases, places in rows:
            # Most files have no such word, and a plain search finds this much sooner than the pattern does.
            if path.startswith(places) or not any(item in lower for item in first):
                continue
            matches = list(pattern.finditer(text))
            right = [match.span() for match in phrases.finditer(text)] if matches else []
            for match in matches:
                number = text.count('\n', 0, match.start())
                excuse = f'word: {word}'
                if any(start <= match.start() and match.end() <= end for start, end in right) or \
                        excuse in lines[number] or (number and excuse in lines[number - 1]):
                    continue
                found = ' '.join(re.findall(r'\w+', match.group()))
                yield f'{path}:{number + 1}: the glossary no longer uses "{found}"'


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
        if kind in ('function', 'f') and '__' not in name:
            predicate = re.search(r'(^|_)(is|has|can)_', name)
            returned = extra.get('typeref', '').replace('typename:', '')
            # The macros of the stages hide the type from ctags: it stands before the name.
            before = pattern.split(name)[0]
            if returned in ('', 'ICE_FN', 'ICE_TABLE_FN') or 'ICE_' in before:
                returned = before
            # The stages have no bool: int32_t is 0 or 1 there.
            if predicate and not re.search(r'\bbool\b', returned) and \
                    not ('int32_t' in returned and path.startswith(('stages/', 'physics/'))):
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
            if not name.lower().lstrip('~').startswith(prefix):  # ~: a destructor of C++
                faults.add(f'{where}: a function of this header begins with {prefix}')
        if kind in ('typedef', 't') and not (source and re.match(r'\w', name) is None):
            types[name].add(path)
        if kind in ('macro', 'd', 'enumerator', 'e') and path.endswith('.h') and \
                not re.match(r'(ICS|ICESTREAM|ICE|GPU)_|CUDA_TRY|cuda[A-Z]|_H', name) and \
                not name.startswith(('ice_', 'X')):
            faults.add(f'{where}: a macro or enumerator of a header has a prefix')

    for name, places in functions.items():
        # A file NAME_none.c or none.c takes the place of others in builds without a library.
        built = [p for p in places if not p.endswith(("_none.c", "/none.c"))]
        if len(built) > 1 and not all("cuda" in p or "gpu" in p for p in built):
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
    for name, path, kind, extra, pattern in tags(files_of(TOPS + ('tests',)), '--kinds-C=lz'):
        if name.startswith('ics_'):
            faults.add(f'{path}: {name}: a local name has no prefix')
    faults |= set(word_faults())
    for fault in sorted(faults):
        print(fault)
    print(f"{len(files)} files: {len(faults)} {'fault' if len(faults) == 1 else 'faults'}")
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main())
