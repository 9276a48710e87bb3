#!/usr/bin/env python3
"""Runs the commands in the documents and compares what they print.

    run_documents.py PROGRAM [DOCUMENT ...]

Promise: what a document shows is what happens. Every document gets an empty folder, in which `bench`, `configs`, `scripts`,
`tests`, `docs` and `stages` are those of the repository, `icestream` is PROGRAM, and `python` has NumPy. Its blocks run in
order:

    ```console   a session: lines with `$ ` are commands, lines with `> ` continue them, the others are
                 what is printed (standard output and standard error together). `...` within a line stands
                 for any text, a line `...` for any number of lines
    ```sh        commands that must succeed
    ```python    a session with `>>> ` runs as a doctest; other code must end without an error, and may use
                 what the code of earlier blocks of its document has made
    ```yaml      is written to a file if the line above the block is `<!-- file: NAME -->`; so are blocks of
                 other languages. Without a name it is a piece of a run file, which icestream must be able to read

`<!-- output of: COMMAND -->` above a block of no language: the command prints its lines somewhere, with `...` as in a
session.

`<!-- before: COMMAND -->` above a block: the command runs first, for files that the reader has already, and `<!-- after:
COMMAND -->` afterwards. `<!-- arguments: TEXT -->`: the arguments of a Python program.
`<!-- exit: N -->` above a block: its last command must end with this status. `<!-- not run: REASON -->`
above a block: the block is left out, and the reason is printed. `<!-- needs: THING -->`: the block is left out, with a
message, where the thing is missing. It is `CUDA` or `HDF5` (the program was built with it), `../shared` (the reference data next to
the repository, which commands find as $SHARED), or a module of Python.

How to join: write the block. A document in docs/ or README.md joins without being named.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), '..', '..', '..'))
SHARED_FOLDERS = ('bench', 'configs', 'scripts', 'tests', 'docs', 'stages')
LANGUAGES = ('sh', 'console', 'python', 'yaml')
SHARED = os.path.join(ROOT, '..', 'shared')
SECONDS = 300  # after which a command counts as stuck


class Block:
    """A fenced block of a document, with the remarks above it."""

    def __init__(self, document, line, language, text, remarks):
        self.place = '%s:%d' % (os.path.relpath(document, ROOT), line)
        self.language = language
        self.text = text
        self.remarks = remarks


def blocks_of(document):
    blocks, remarks, inside = [], {}, None
    with open(document, encoding='utf-8') as file:
        for number, line in enumerate(file, 1):
            fence = re.match(r'```(\w*)\s*$', line)
            remark = re.match(r'<!-- (file|before|after|arguments|output of|exit|needs|not run): (.*) -->\s*$', line)
            if inside is not None and fence and not fence.group(1):
                blocks.append(Block(document, inside[0], inside[1], ''.join(inside[2]), remarks))
                inside, remarks = None, {}
            elif inside is not None:
                inside[2].append(line)
            elif fence:
                inside = (number + 1, fence.group(1), [])
            elif remark:
                remarks[remark.group(1)] = remark.group(2)
            elif line.strip():
                remarks = {}
    return blocks


def bash(text, folder, environment):
    done = subprocess.run(['bash', '-c', text], cwd=folder, env=environment, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, timeout=SECONDS,
                          check=False)
    return done.returncode, done.stdout.decode(errors='replace')


def fits(expected, printed, somewhere=False):
    """Whether the printed lines are, or have among them, the expected ones; `...` stands for anything."""
    parts = [r'(?:.*\n)*?' if somewhere else '']
    for line in expected:
        if line.strip() == '...':
            parts.append(r'(?:.*\n)*?')
        else:
            parts.append('.*?'.join(re.escape(piece) for piece in line.rstrip().split('...')) + r'[ ]*\n')
    return re.fullmatch(''.join(parts) + (r'(?:.*\n)*' if somewhere else ''), printed if not printed or printed.endswith('\n')
                        else printed + '\n') is not None


def commands_of(text):
    """The commands of a session, each with the lines that it should print."""
    commands = []
    for line in text.splitlines():
        if line.startswith('$ '):
            commands.append([line[2:], []])
        elif line.startswith('> ') and commands and not commands[-1][1]:
            commands[-1][0] += '\n' + line[2:]
        elif commands:
            commands[-1][1].append(line)
    return commands


def run_session(block, folder, environment):
    commands = commands_of(block.text)
    if not commands:
        return '%s: a session without a command' % block.place
    for position, (command, expected) in enumerate(commands):
        status, printed = bash(command, folder, environment)
        wanted = int(block.remarks.get('exit', 0)) if position == len(commands) - 1 else 0
        if status != wanted:
            return '%s: `%s`: exit status %d, expected %d; it printed\n%s' % (
                block.place, command, status, wanted, printed)
        if not fits(expected, printed):
            return '%s: `%s`: expected\n%s\nbut it printed\n%s' % (
                block.place, command, '\n'.join(expected), printed)
    return None


def run_shell(block, folder, environment):
    status, printed = bash('set -e\n' + block.text, folder, environment)
    wanted = int(block.remarks.get('exit', 0))
    if status != wanted:
        return '%s: exit status %d, expected %d; it printed\n%s' % (block.place, status, wanted, printed)
    return None


def run_yaml(block, folder, environment):
    with open(os.path.join(folder, '.piece.yaml'), 'w', encoding='utf-8') as file:
        file.write(block.text)
    status, printed = bash('icestream run --print-effective .piece.yaml', folder, environment)
    return None if status == 0 else '%s: no piece of a run file: %s' % (block.place, printed)


def run_output(block, folder, environment):
    status, printed = bash(block.remarks['output of'], folder, environment)
    wanted = int(block.remarks.get('exit', 0))
    if status == wanted and fits(block.text.splitlines(), printed, True):
        return None
    return '%s: `%s`: expected exit status %d and\n%s\nbut it ended with %d and printed\n%s' % (
        block.place, block.remarks['output of'], wanted, block.text, status, printed)


def run_python(block, folder, environment):
    if '>>> ' not in block.text:
        earlier = os.path.join(folder, '.earlier.py')
        with open(earlier, 'a', encoding='utf-8') as file:
            file.write(block.text)
        arguments = block.remarks.get('arguments', '').split()
        done = subprocess.run([environment['PYTHON'], earlier] + arguments, cwd=folder, env=environment,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=SECONDS, check=False)
        return None if done.returncode == 0 else '%s: %s' % (block.place, done.stdout.decode(errors='replace'))
    script = ('import doctest, sys\n'
              'test = doctest.DocTestParser().get_doctest(sys.stdin.read(), {}, "document", None, 0)\n'
              'flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE\n'
              'sys.exit(doctest.DocTestRunner(optionflags=flags).run(test).failed > 0)\n')
    done = subprocess.run([environment['PYTHON'], '-c', script], cwd=folder, env=environment,
                          input=block.text.encode(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=SECONDS, check=False)
    return None if done.returncode == 0 else '%s:\n%s' % (block.place, done.stdout.decode(errors='replace'))


def has_module(python, module):
    return subprocess.run([python, '-c', 'import ' + module], stderr=subprocess.DEVNULL,
                          check=False).returncode == 0


def has(need, environment):
    if need == '../shared':
        return os.path.isdir(SHARED)
    if need in ('CUDA', 'HDF5'):
        about = subprocess.run(['icestream', '--version', '--verbose'], env=environment, stdout=subprocess.PIPE, check=True)
        return b'\n%s: none' % need.encode() not in about.stdout
    return has_module(environment['PYTHON'], need)


def python_with_numpy():
    for candidate in ('python3', '/usr/bin/python3'):
        if shutil.which(candidate) and has_module(candidate, 'numpy'):
            return candidate
    return sys.executable


def run_block(block, folder, environment):
    """Returns a fault, or None; prints why a block is left out."""
    if 'not run' in block.remarks:
        print('%s: not run: %s' % (block.place, block.remarks['not run']))
        return None
    need = block.remarks.get('needs')
    if need and not has(need, environment):
        print('skipped: no %s: %s' % (need, block.place))
        return None
    if 'before' in block.remarks:
        status, printed = bash(block.remarks['before'], folder, environment)
        if status != 0:
            return '%s: before: exit status %d: %s' % (block.place, status, printed)
    if 'file' in block.remarks:
        path = os.path.join(folder, block.remarks['file'])
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'w', encoding='utf-8') as file:
            file.write(block.text)
        return None
    runners = {'console': run_session, 'sh': run_shell, 'python': run_python, 'yaml': run_yaml}
    run = run_output if 'output of' in block.remarks else runners[block.language]
    try:
        return run(block, folder, environment)
    finally:
        if 'after' in block.remarks:
            bash(block.remarks['after'], folder, environment)


def run_document(document, program):
    """Returns the number of blocks that ran and the faults."""
    faults, ran = [], 0
    with tempfile.TemporaryDirectory() as folder:
        for name in SHARED_FOLDERS:
            os.symlink(os.path.join(ROOT, name), os.path.join(folder, name))
        binaries = os.path.join(folder, '.bin')
        os.mkdir(binaries)
        for name in ('icestream', 'icestream-lab'):
            os.symlink(os.path.join(os.path.dirname(program), name), os.path.join(binaries, name))
        with open(os.path.join(binaries, 'python'), 'w', encoding='utf-8') as file:
            file.write('#!/bin/sh\nexec "$PYTHON" "$@"\n')
        os.chmod(file.name, 0o755)
        environment = dict(os.environ, PATH=binaries + os.pathsep + os.environ['PATH'], LC_ALL='C.UTF-8',
                           CUDA_VISIBLE_DEVICES='', PYTHON=python_with_numpy(), TMPDIR=folder,
                           SHARED=SHARED)
        for block in blocks_of(document):
            if block.language not in LANGUAGES and not {'file', 'output of', 'not run'} & set(block.remarks):
                continue
            try:
                fault = run_block(block, folder, environment)
            except subprocess.TimeoutExpired:
                fault = '%s: a command did not end within %d seconds' % (block.place, SECONDS)
            ran += 1
            if fault:
                faults.append(fault)
    return ran, faults


def main():
    program = os.path.realpath(sys.argv[1])
    documents = [os.path.realpath(path) for path in sys.argv[2:]]
    if not documents:
        documents = [os.path.join(ROOT, 'README.md'), os.path.join(ROOT, 'configs', 'README.md')]
        documents += [os.path.join(ROOT, 'docs', name) for name in sorted(os.listdir(os.path.join(ROOT, 'docs')))
                      if name.endswith('.md')]
    total, failed = 0, 0
    for document in documents:
        ran, faults = run_document(document, program)
        total += ran
        failed += len(faults)
        for fault in faults:
            print('FAILED: ' + fault)
    print('%d blocks in %d documents, %d faults' % (total, len(documents), failed))
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
