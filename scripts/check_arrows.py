#!/usr/bin/env python3
"""Draws the arrows between the rooms of the program.

    scripts/check_arrows.py [--draw] [--measure]

Exits with 1 and names the place if
  - an include or a use of a function runs from a lower room to a higher one (ROOMS below),
  - files of one room use each other in a circle.
Long functions are named as a hint, unless a line of the comment above begins with `size: REASON`.
--draw prints the arrows between rooms; --measure prints the lines of all rooms.
Needs Debian's universal-ctags.
"""
import collections
import os
import re
import subprocess
import sys

# From the lowest room to the highest one: a room may use itself and every room above its own line.
# Rooms in one line may not use each other.
ROOMS = [
    ['base'],
    ['stages'],
    ['physics'],
    ['tables'],
    ['kernels'],
    ['graphs'],
    ['pipeline'],  # icestream.h, the public header
    # photons: from steps to hits in memory
    ['pipeline/photons/config/yaml'],
    ['pipeline/photons/config/schema'],
    ['pipeline/photons/config'],
    ['pipeline/photons/files/format'],
    ['pipeline/photons/files'],
    ['pipeline/photons/table'],
    ['pipeline/photons/models'],
    ['pipeline/photons/particles'],
    ['pipeline/photons/devices'],
    ['pipeline/photons/engine'],
    ['pipeline/photons/generator'],
    ['pipeline/photons/provenance'],
    ['pipeline/photons/collect'],
    ['pipeline/photons/session'],
    ['pipeline/photons/replay'],
    # production: files, folders, queues, sockets, and what operators watch
    ['pipeline/production/transfer'],
    ['pipeline/production/spool', 'pipeline/production/source', 'pipeline/production/telemetry'],
    ['pipeline/production/queue', 'pipeline/production/client'],
    ['pipeline/production/checkpoint'],
    ['pipeline/production/units'],
    ['pipeline/production/run'],
    ['pipeline/commands'],
    ['pipeline/commands/program'],
    ['bench'],  # the laboratory: it may use the product, and nothing of the product uses it
]
FUNCTION_LINES, PARAMETERS = 60, 7
# The main programs are the top of the house.
TOP = ('pipeline/main.c', 'pipeline/prefill.c')

LEVEL = {room: level for level, rooms in enumerate(ROOMS) for room in rooms}
# A line of a comment that explains a size.
EXCUSE = re.compile(r'^\s*(?:/\*|\*|//)\s*size: \S', re.M)
SOURCES = r'^(base|stages|physics|tables|kernels|graphs|pipeline|bench)/.*\.(c|h|cu|def)$'


def room_of(path):
    if path in TOP:
        return 'pipeline/commands/program'
    folder = os.path.dirname(path)
    while folder not in LEVEL:
        folder = os.path.dirname(folder)
    return folder


def tags(files):
    out = subprocess.run(['ctags', '--languages=C', '--langmap=C:+.h.cu.def', '--kinds-C=fv',
                          '--fields=+neSf', '-f', '-', *files], check=True, capture_output=True,
                         text=True).stdout
    for line in out.splitlines():
        fields = line.split('\t')
        extra = dict(f.split(':', 1) for f in fields[3:] if ':' in f)
        kind = [f for f in fields[3:] if ':' not in f]
        yield fields[0], fields[1], kind[0] if kind else extra.get('kind'), extra


def parameters_of(signature):
    inner = signature.strip()[1:-1].strip()
    if inner in ('', 'void'):
        return 0
    depth, count = 0, 1
    for letter in inner:
        depth += letter in '([{'
        depth -= letter in ')]}'
        count += letter == ',' and depth == 0
    return count


def circles(graph):
    """Strongly connected components of more than one node (Tarjan)."""
    index, low, stack, on_stack, found = {}, {}, [], set(), []

    def connect(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        on_stack.add(node)
        for other in graph.get(node, ()):
            if other not in index:
                connect(other)
                low[node] = min(low[node], low[other])
            elif other in on_stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            component = []
            while True:
                other = stack.pop()
                on_stack.discard(other)
                component.append(other)
                if other == node:
                    break
            if len(component) > 1:
                found.append(sorted(component))

    for node in sorted(graph):
        if node not in index:
            connect(node)
    return found


def main():
    os.chdir(os.path.join(os.path.dirname(__file__), '..'))
    sys.setrecursionlimit(10000)
    files = []
    for top in ('base', 'stages', 'physics', 'tables', 'kernels', 'graphs', 'pipeline', 'bench'):
        for folder, _, names in os.walk(top):
            files += [os.path.join(folder, name) for name in names]
    files = sorted(f for f in files if re.match(SOURCES, f))
    text = {}
    for path in files:
        with open(path, encoding='utf-8') as file:
            text[path] = file.read()
    faults = []

    lines, hints = collections.Counter(), []
    for path in files:
        lines[room_of(path)] += text[path].count('\n')
    defined = {}
    for name, path, kind, extra in tags(files):
        if kind in ('f', 'function'):
            start, end = int(extra['line']), int(extra.get('end', extra['line']))
            above = text[path].split('\n')[max(0, start - 12):start]
            excused = any(EXCUSE.match(line) for line in above)
            if end - start + 1 > FUNCTION_LINES and not excused:
                hints.append(f'{path}:{start}: {name} has {end - start + 1} lines')
            count = parameters_of(extra.get('signature', '()'))
            if count > PARAMETERS and not excused:
                hints.append(f'{path}:{start}: {name} has {count} parameters')
        if path.endswith(('.c', '.cu')) and 'file' not in extra and \
                re.match(r'(ics|icestream)_', name) and path != 'bench/lab/commands.c':
            defined[name] = path  # each program has its table of commands; that of the product counts

    # Arrows: includes, and uses of what another file defines.
    arrows = collections.defaultdict(set)
    uses = collections.defaultdict(set)
    for path in files:
        for match in re.finditer(r'^\s*#\s*include "([^"]+)"', text[path], re.M):
            target = match.group(1)
            if target in text:
                arrows[(room_of(path), room_of(target))].add((path, target))
                if path.endswith('.h') and target.endswith('.h'):
                    uses[path].add(target)
        if not path.endswith(('.c', '.cu')):
            continue
        code = re.sub(r'/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"', '', text[path], flags=re.S)
        for name in set(re.findall(r'\b(?:ics|icestream)_\w+', code)):
            target = defined.get(name)
            if target and target != path:
                arrows[(room_of(path), room_of(target))].add((path, f'{target} ({name})'))
                uses[path].add(target)
    for (source, target), places in sorted(arrows.items()):
        up = LEVEL[target] > LEVEL[source] or \
            (LEVEL[target] == LEVEL[source] and target != source)
        if up:
            for path, what in sorted(places):
                faults.append(f'{path}: uses {what}: {target} stands above {source}')
    for component in circles(uses):
        faults.append('a circle of files: ' + ', '.join(component))

    if '--draw' in sys.argv:
        for source in sorted(LEVEL, key=LEVEL.get):
            targets = sorted((t for s, t in arrows if s == source and t != source), key=LEVEL.get)
            print(f"{source} -> {', '.join(targets) or 'nothing'}")
    if '--measure' in sys.argv:
        for room, count in sorted(lines.items()):
            print(f'{count:6d} {room}')
    for hint in hints:
        print(f'hint: {hint}')
    for fault in faults:
        print(fault)
    print(f'{len(files)} files in {len(lines)} rooms: '
          f"{len(faults)} {'fault' if len(faults) == 1 else 'faults'}")
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main())
