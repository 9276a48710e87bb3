#!/usr/bin/env python3
"""Checks that what the documents and comments point at exists.

    scripts/check_docs.py [PROGRAM]

Exits with 1 and names the place if
  - a section that code, tests, scripts or documents cite (`physics.md 6.4`) is no heading of docs/,
  - a link of a document leads to no file or to no heading,
  - a path of the repository that a document names does not exist,
  - with PROGRAM (an icestream, with icestream-lab next to it): a command or an option that a document names does
    not exist.
"""
import os
import re
import subprocess
import sys

TOPS = ('base', 'bench', 'cmake', 'configs', 'docs', 'graphs', 'kernels', 'physics', 'pipeline',
        'python', 'scripts', 'stages', 'tables', 'tests')
# Names that documents use for files which a reader makes, not for files of the repository.
MADE = re.compile(r'scatter_linear\.h|tests/fuzz/corpus/|docs/physics\.md$|.*[A-Z]{3,}|.*\.\.\.|.*<')
HISTORY = 'bench/results/'


def headings(text):
    """The numbers and the anchors of a document's headings."""
    numbers, anchors = set(), set()
    for title in re.findall(r'^#+ (.*)$', text, re.M):
        number = re.match(r'(\d+(?:\.\d+)*)\.? ', title)
        if number:
            numbers.add(number.group(1))
        anchor = re.sub(r'[^\w\- ]', '', title.replace('`', '').lower()).strip()
        anchors.add(anchor.replace(' ', '-'))
    return numbers, anchors


def tracked():
    for top in TOPS + ('.ci',):
        for folder, _, names in os.walk(top):
            for name in names:
                yield os.path.join(folder, name)
    for name in os.listdir('.'):
        if os.path.isfile(name):
            yield name


def exists(path):
    path = path.rstrip('/').split('#')[0]
    if '*' in path:
        import glob
        return bool(glob.glob(path))
    return os.path.exists(path)


def main():
    os.chdir(os.path.join(os.path.dirname(__file__), '..'))
    texts = {}
    for path in sorted(tracked()):
        if re.search(r'\.(c|h|cu|def|md|py|sh|bash|yaml|txt|cmake)$|^\.ci/run$', path) and \
                'corpus' not in path and '__pycache__' not in path:
            with open(path, encoding='utf-8') as file:
                texts[path] = file.read()
    documents = {os.path.basename(p): headings(t) for p, t in texts.items()
                 if p.startswith('docs/') and p.endswith('.md')}
    faults, cited = [], 0

    for path, text in texts.items():
        if path.startswith(HISTORY) or path == 'scripts/check_docs.py':
            continue
        joined = re.sub(r'\n\s*(?:\*|//|#)?\s*', lambda m: ' ' + '\0' * (len(m.group(0)) - 1), text)
        joined = joined.replace('\0', '')
        for name, list_of in re.findall(
                r'\b(\w[\w-]*\.md),? (?:sections? )?((?:\d{1,2}(?:\.\d{1,2})?(?!\d|\.\d)(?:, | and |-)?)+)',
                joined):
            if name not in documents:
                if name in ('formats.md', 'design.md', 'anchors.md'):
                    faults.append(f'{path}: cites {name}, which is not in docs/')
                continue
            if not documents[name][0]:
                continue
            for number in re.findall(r'\d+(?:\.\d+)?', list_of):
                cited += 1
                if number not in documents[name][0]:
                    faults.append(f'{path}: cites {name} {number}, which is no section')
        for name in re.findall(r'\b(formats|design)\.md\b', text):
            faults.append(f'{path}: names {name}.md, which is not in docs/')

    pages = {p: t for p, t in texts.items() if p.endswith('.md') and not p.startswith(HISTORY)}
    for path, text in pages.items():
        for target in re.findall(r'\]\(([^)\s]+)\)', text):
            if re.match(r'[a-z]+:', target):
                continue
            file, _, anchor = target.partition('#')
            full = os.path.normpath(os.path.join(os.path.dirname(path), file)) if file else path
            if not os.path.exists(full):
                faults.append(f'{path}: links to {target}, which does not exist')
            elif anchor and full.endswith('.md') and full in texts and \
                    anchor not in headings(texts[full])[1]:
                faults.append(f'{path}: links to {target}: no such heading')
        for name in re.findall(r'`((?:%s)/[\w./*+@-]+)`' % '|'.join(TOPS), text):
            # A test of ctest has the name of its source: kernels/test_kernels.
            if not MADE.match(name) and not exists(name) and not exists(f'tests/{name}.c'):
                faults.append(f'{path}: names {name}, which does not exist')
        for name, options in re.findall(r'(scripts/[\w.]+|bench/\w+\.sh)((?: --[\w-]+)*)', text):
            if not exists(name):
                faults.append(f'{path}: names {name}, which does not exist')
            elif name in texts:
                for option in options.split():
                    if option not in texts[name]:
                        faults.append(f'{path}: {name} has no {option}')

    for name in ('icestream', 'icestream-lab')[:2 * (len(sys.argv) > 1)]:
        is_lab = name == 'icestream-lab'

        def helped(*words):
            program = os.path.join(os.path.dirname(sys.argv[1]), name)
            return subprocess.run([program, *words, '--help'], capture_output=True, text=True, check=True).stdout
        commands = set(re.findall(r'^  ([a-z]+) ', helped(), re.M))
        forms = '' if is_lab else '      --bash\n      --zsh\n      --fish\n      --scdoc'
        helps = {c: helped(c) for c in commands} | {'help': forms, 'version': ''}
        commands |= set(helps)
        rows = {}
        for lab, command, options in re.findall(r'^\| `(icestream-lab )?([a-z]+)[^`\n]*` \| (.*)',
                                                pages.get('docs/commands.md', ''), re.M):
            if bool(lab) == is_lab:
                rows.setdefault(command, options)
            elif command == 'bench':  # commands of the laboratory have the options of bench, and one more
                shared = options + ' --reference'
        for command, text in helps.items():
            for option in re.findall(r'^  (?:-., |    )(--[a-z-]+)', text, re.M):
                listed = rows.get(command, '') + (shared if is_lab else '')
                if option != '--help' and not re.search(option + r'(?![\w-])', listed):
                    faults.append(f'docs/commands.md: the row of {command} lacks {option}')
        for path, text in pages.items():
            code = re.findall(r'`([^`\n]+)`', text) + \
                [line for block in re.findall(r'```\w*\n(.*?)```', text, re.S)
                 for line in block.replace('\\\n', ' ').split('\n')]
            for line in code:
                for match in re.finditer(r'(?<!python -m)(?:^|[\s/;|(])' + name + r' ([a-z]+)\b(?!/)([^|;&#]*)', line):
                    command, rest = match.groups()
                    if command not in commands:
                        faults.append(f'{path}: names {name} {command}, which is no command')
                        continue
                    for option in re.findall(r'(?<![\w-])(--[a-z][\w-]*)', rest):
                        if option not in helps[command] and option != '--help':
                            faults.append(f'{path}: {name} {command} has no {option}')
    for fault in sorted(set(faults)):
        print(fault)
    print(f'{len(pages)} documents, {cited} cited sections: {len(set(faults))} faults')
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main())
