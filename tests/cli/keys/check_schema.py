#!/usr/bin/env python3
"""Compares the JSON Schema of `icestream keys --json-schema` with what icestream reads.

    check_schema.py PROGRAM REPOSITORY

Promise: the schema is valid and knows every key. It accepts the run files that are shipped, every default, every
choice, and the ends of every range. It refuses what icestream refuses: unknown keys, values outside their range,
keys that exclude each other. Needs PyYAML and jsonschema. How to join: add a wrong run file to WRONG. Keys join
without being named.
"""
import glob
import json
import os
import re
import subprocess
import sys

import jsonschema
import yaml

WRONG = (
    'run: {sed: 1}',
    'rnu: {seed: 1}',
    'run: [1]',
    'run: {seed: -1}',
    'run: {seed: 1.5}',
    'run: {seed: one}',
    'run: {seed: "1"}',
    'source: {watch: 1}',
    'source: {watch: yes}',
    'source: {files: []}',
    'source: {files: [a.npy], directory: in}',
    'source: {message_limit: 4 parsecs}',
    'source: {scan: 0.01}',
    'sink: {hits: hits}',
    'sink: {command: echo}',
    'device: {backend: tpu}',
    'device: {index: 64}',
    'device: {index: [0, 0]}',
    'device: {memory_limit: 1}',
    'ice: {model: uniform, file: ice.yaml}',
    'ice: {tilt: linear}',
    'detector: {oversize: 0.5}',
    'detector: {excluded: [[1]]}',
    'detector: {angular_polynomial: [1]}',
    'light: {spectra: [{line: 249}]}',
    'light: {spectra: [{line: 701}]}',
    'light: {spectra: [{line: 400, file: a.txt}]}',
    'light: {spectra: [{}]}',
    'table: {axes: [{name: r, from: 0, to: 2e9, bins: 9}]}',
    'table: {axes: [{name: r, from: 0, to: 9, bins: 9, power: 9}]}',
    'sink: {histograms: [{name: time, from: 0, to: 9}]}',
    'sink: {histograms: [[{name: time, from: 0, to: 2e18, bins: 9}]]}',
    'stages: {scatter: hg_sl}',
    'stages: {scatter: {sauce: a.h}}',
    'stages: {detect: {source: a.h}}',
    'graph: {block: 33}',
    'graph: {tune: {monolithic: {threads: 33}}}',
    'graph: {tune: {monolitic: {threads: 32}}}',
    'graph: {tune: {monolithic: {}}}',
    'graph: {compact: {when: sometimes}}',
    'graph: {compact: {wehn: tail}}',
    'workload: {position: [0, 0]}',
    'workload: {position: [0, 0, 10001]}',
    'workload: {direction: up}',
    'particles: {list: cascade}',
)


class Loader(yaml.SafeLoader):  # pylint: disable=too-many-ancestors
    """YAML 1.2, which editors read: `off` is a text and 1e5 a number."""


Loader.yaml_implicit_resolvers = {}
for tag, form, first in (('bool', r'^(?:true|True|TRUE|false|False|FALSE)$', 'tTfF'),
                         ('null', r'^(?:~|null|Null|NULL|)$', ['~', 'n', 'N', '']),
                         ('int', r'^(?:[-+]?[0-9]+|0x[0-9a-fA-F]+)$', '-+0123456789'),
                         ('float', r'^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$', '-+0123456789.')):
    Loader.add_implicit_resolver('tag:yaml.org,2002:' + tag, re.compile(form), list(first))


def complaints(program, text):
    """What icestream says about a run file, without errors about keys that need other keys."""
    with open('check.yaml', 'w', encoding='utf-8') as file:
        file.write(text + '\n')
    done = subprocess.run([program, 'run', '--print-effective', 'check.yaml'], stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, timeout=60, check=False)
    other = re.compile(r': error: [\w.]+: (?:(?:this value )?is for|.* needs|too large for)|: found (?:cuda|[\d.]+, expected at most 6)')
    return [line for line in done.stderr.decode().splitlines() if not other.search(line)]


def keys_of(schema, path=()):
    """The keys with their shapes."""
    for name, shape in schema['properties'].items():
        if shape.get('additionalProperties') is False and 'properties' in shape:
            yield from keys_of(shape, path + (name,))
        else:
            yield path + (name,), shape


def run_file(path, value):
    """A run file with this value of a key, as text."""
    text = value if isinstance(value, str) and re.fullmatch(r'[-\w.]+', value) else json.dumps(value)
    return '{' + ': {'.join(path) + ': ' + text + '}' * len(path)


def values_of(shape):
    """(value, whether it is valid): the choices, and the ends of the range and values beyond them."""
    for other in shape.get('anyOf', [shape]):
        for value in other.get('enum', []):
            yield value, True
        if 'const' in other:
            yield other['const'], True
        if other.get('type') in ('integer', 'number') and other['maximum'] < 2 ** 53:
            unit = other.get('multipleOf', 1)
            yield other['minimum'], True
            yield other['maximum'], True
            yield other['minimum'] - unit, False
            yield other['maximum'] + max(unit, other['maximum'] / 1000), False


def compare(program, values, wanted):
    """The values that icestream accepts although they are wrong, or refuses. It reads several in one run file, of
    which each key and each group of keys has one, and not more than the number of errors of which it prints all."""
    faults = []
    while values:
        some, rest, used = {}, [], set()
        for path, value in values:
            group = path[:1] if path[0] in ('source', 'ice', 'detector', 'particles') else path
            if group in used or len(used) == 8:
                rest.append((path, value))
                continue
            used.add(group)
            section = some
            for name in path[:-1]:
                section = section.setdefault(name, {})
            section[path[-1]] = value
        lines = complaints(program, json.dumps(some))
        for path, value in values:
            if (path, value) not in rest and wanted is any('.'.join(path) + ':' in line for line in lines):
                faults.append('%s: expected that icestream %s it; it printed: %s' % (
                    run_file(path, value), 'accepts' if wanted else 'refuses', lines))
        values = rest
    return faults


def main():
    program, repository = os.path.realpath(sys.argv[1]), sys.argv[2]
    faults = []
    printed = subprocess.run([program, 'keys', '--json-schema'], stdout=subprocess.PIPE, check=True).stdout
    schema = json.loads(printed)
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema)

    def judge(text, wanted, name):
        if validator.is_valid(yaml.load(text, Loader)) is not wanted:
            faults.append('%s: expected that the schema %s it' % (name, 'accepts' if wanted else 'refuses'))

    def expect(text, wanted):
        judge(text, wanted, text)
        lines = complaints(program, text)
        if (not lines) is not wanted:
            faults.append('%s: expected that icestream %s it; it printed: %s' % (
                text, 'accepts' if wanted else 'refuses', lines))

    keys = list(keys_of(schema))
    table = subprocess.run([program, 'keys'], stdout=subprocess.PIPE, check=True).stdout.decode().splitlines()
    if [line.split()[0] for line in table[1:]] != ['.'.join(path) for path, _ in keys]:
        faults.append('the table and the schema have other keys')
    valid, wrong = [], []
    for path, shape in keys:
        if not shape.get('description'):
            faults.append('%s: no description' % '.'.join(path))
        values = [(shape['default'], True)] if 'default' in shape else []
        for value, wanted in values + list(values_of(shape)):
            judge(run_file(path, value), wanted, run_file(path, value))
            (valid if wanted else wrong).append((path, value))
    faults += compare(program, valid, True) + compare(program, wrong, False)
    shipped = [path for folder in ('runs', 'reference')
               for path in glob.glob(os.path.join(repository, 'configs', folder, '*.yaml'))]
    for path in shipped + [os.path.join(repository, 'docs', 'event.yaml')]:
        with open(path, encoding='utf-8') as file:
            judge(file.read(), True, path)
    for text in WRONG:
        expect(text, False)
    for text in ('', 'run:', 'device: {memory_limit: 4 GB}', 'device: {memory_limit: 4e9}',
                 'stages: {scatter: {source: a.h}}', 'source: {files: a.npy}', 'device: {index: [1, 0]}',
                 'light: {spectra: [{line: 400}, {file: a.txt}]}', 'graph: {compact: {when: every-3}}',
                 'workload: {direction: [0, 0, 1]}', 'detector: {angular_polynomial: []}'):
        expect(text, True)
    for fault in faults:
        print('FAILED: ' + fault)
    print('%d keys, %d shipped run files, %d faults' % (len(keys), len(shipped), len(faults)))
    return 1 if faults or len(keys) < 80 or len(shipped) < 15 else 0


if __name__ == '__main__':
    sys.exit(main())
