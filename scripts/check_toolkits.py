#!/usr/bin/env python3
"""Compiles the GPU part with several CUDA toolkits, for every capability that each of them knows. Needs no GPU.

    scripts/check_toolkits.py PROGRAM [--toolkits 12.4,12.9,13.0] [--architectures 70,90] [--set KEY=VALUE] [--cub]

PROGRAM is an icestream that was built with CUDA, in the folder of its build. Prints a table: toolkit, capability, and
for every schedule the registers of its largest kernel and, behind +, the bytes that it spills. Then it checks the C
files of graphs/cuda with the headers of each toolkit, and with --cub the .cu files by clang-19, which knows no
CUDA 13 (one minute each).
The toolkits are packages of PyPI, kept in $XDG_CACHE_HOME/icestream-toolkits (0.5 GB with --cub).

Exit status 0: all compiles; 1: something does not; 69: no toolkit could be had, and nothing was checked.
"""
import argparse
import concurrent.futures
import ctypes
import glob
import json
import os
import subprocess
import sys
import tempfile
import zipfile

# What each toolkit is made of: the compiler of kernels, the headers of the runtime, then what only --cub needs.
TOOLKITS = {
    '12.4': ['nvidia-cuda-nvrtc-cu12==12.4.127', 'nvidia-cuda-runtime-cu12==12.4.127', 'nvidia-cuda-nvcc-cu12==12.4.131',
             'nvidia-cuda-cccl-cu12==12.4.127.post1'],
    '12.9': ['nvidia-cuda-nvrtc-cu12==12.9.86', 'nvidia-cuda-runtime-cu12==12.9.79', 'nvidia-cuda-nvcc-cu12==12.9.86',
             'nvidia-cuda-cccl-cu12==12.9.27'],
    '13.0': ['nvidia-cuda-nvrtc==13.0.88', 'nvidia-cuda-runtime==13.0.88', 'nvidia-cuda-crt==13.0.88'],
}
OLDEST = 70
UNAVAILABLE = 69


def cache():
    base = os.environ.get('XDG_CACHE_HOME') or os.path.expanduser('~/.cache')
    return os.path.join(base, 'icestream-toolkits')


def install(package):
    """Returns the folder with the files of a package. Raises subprocess.CalledProcessError if it cannot be had."""
    folder = os.path.join(cache(), package)
    if not os.path.isdir(folder):
        os.makedirs(cache(), exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache()) as scratch:
            subprocess.run([sys.executable, '-m', 'pip', 'download', '-q', '--no-deps', '--disable-pip-version-check',
                            '-d', scratch, package], check=True, capture_output=True, text=True, timeout=300)
            with zipfile.ZipFile(glob.glob(os.path.join(scratch, '*.whl'))[0]) as wheel:
                wheel.extractall(os.path.join(scratch, 'files'))
            os.replace(os.path.join(scratch, 'files'), folder)
    return folder


def last_line(text):
    lines = [line for line in (text or '').splitlines() if line.strip()]
    return lines[-1] if lines else 'no message'


def known_architectures(library):
    """The capabilities that an NVRTC compiles for, 90 for sm_90."""
    nvrtc = ctypes.CDLL(library)
    count = ctypes.c_int()
    if nvrtc.nvrtcGetNumSupportedArchs(ctypes.byref(count)) != 0:
        sys.exit(f'{library}: nvrtcGetNumSupportedArchs fails, expected the number of architectures')
    architectures = (ctypes.c_int * count.value)()
    if nvrtc.nvrtcGetSupportedArchs(architectures) != 0:
        sys.exit(f'{library}: nvrtcGetSupportedArchs fails, expected {count.value} architectures')
    return list(architectures)


def plan(program, library, architecture, settings, schedule=None):
    """The schedules of a plan, whose kernels this NVRTC compiles now; or the reason why not, as text."""
    with tempfile.TemporaryDirectory() as empty:
        environment = dict(os.environ, ICESTREAM_NVRTC=library, XDG_CACHE_HOME=empty)
        environment.pop('ICESTREAM_KERNELS', None)
        command = [program, 'plan', '--json', '--architecture', str(architecture), '--set', 'device.backend=cuda']
        for setting in settings + ([f'graph.schedule={schedule}'] if schedule else []):
            command += ['--set', setting]
        run = subprocess.run(command, env=environment, capture_output=True, text=True)
    if run.returncode != 0:
        return run.stderr.strip()
    found = json.loads(run.stdout)['gpu']['schedules']
    for one in found:
        if one['program'] != 'compiled':
            return f'{one["schedule"]}: found kernels that are {one["program"]}, expected compiled ones'
    return found


def cell(one):
    spilled = max(kernel['spill_stores'] + kernel['spill_loads'] for kernel in one['kernels'])
    return f'{one["registers"]}' + (f' + {spilled}' if spilled else '')


def check_kernels(program, libraries, architectures, settings, jobs):
    """Prints the table. Returns the faults as texts."""
    faults, rows, columns = [], [], 0
    known = {toolkit: known_architectures(library) for toolkit, library in libraries.items()}
    asked = architectures or sorted({one for ones in known.values() for one in ones if one >= OLDEST})
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for toolkit, library in libraries.items():
            for architecture in asked:
                work = None
                if architecture in known[toolkit]:
                    work = pool.submit(plan, program, library, architecture, settings)
                rows.append((toolkit, architecture, work))
        for toolkit, architecture, work in sorted(rows, key=lambda row: row[2] is None):
            found = work.result() if work else f'not known to NVRTC {toolkit}'
            cells = [cell(one) for one in found] if not isinstance(found, str) else [found.splitlines()[0]]
            if isinstance(found, str) and work:
                faults.append(f'NVRTC {toolkit}, sm_{architecture}: {found}')
            elif work and not columns:
                columns = len(cells)
                print('| NVRTC | capability |', ' | '.join(one['schedule'] for one in found), '|')
                print('| --- ' * (2 + columns) + '|')
            cells += [''] * (columns - len(cells))
            print(f'| {toolkit} | {architecture // 10}.{architecture % 10} |', ' | '.join(cells), '|', flush=True)
    return faults


def compile_files(commands, what):
    """Runs compilers, prints how many files compile. Returns the faults as texts."""
    faults = []
    for file, command in commands:
        run = subprocess.run(command, capture_output=True, text=True)
        if run.returncode != 0:
            faults.append(f'{what}, {file}: {run.stderr.strip() or last_line(run.stdout)}')
    print(f'{what}: {len(commands) - len(faults)} of {len(commands)} files compile')
    return faults


def tree_of(folders, into):
    """Links the files of packages into one folder with include, bin and nvvm, as a toolkit has them."""
    for folder in folders:
        for part in glob.glob(os.path.join(folder, 'nvidia', '*')):
            for path, _, files in os.walk(part):
                target = os.path.join(into, os.path.relpath(path, part))
                os.makedirs(target, exist_ok=True)
                for file in files:
                    link = os.path.join(target, file)
                    if not os.path.lexists(link):
                        os.symlink(os.path.join(path, file), link)
                    if os.path.basename(path) == 'bin':
                        os.chmod(os.path.join(path, file), 0o755)
    return into


def check_toolkit(toolkit, folders, generated, architecture, cub):
    with tempfile.TemporaryDirectory() as tree:
        tree_of(folders, tree)
        include = ['-I.', '-Ibase', f'-I{generated}', f'-I{tree}/include']
        faults = compile_files(
            [(file, ['cc', '-std=gnu11', '-Werror=implicit', '-D_GNU_SOURCE', '-DICS_HAVE_CUDA=1', '-fsyntax-only'] + include + [file])
             for file in sorted(glob.glob('graphs/cuda/*.c'))], f'C files with the headers of CUDA {toolkit}')
        if cub and toolkit < '13':
            faults += compile_files(
                [(file, ['clang-19', '-x', 'cuda', '-std=c++17', '-O3', '-ffp-contract=off', '--cuda-device-only',
                         f'--cuda-gpu-arch=sm_{architecture}', f'--cuda-path={tree}', '-c', '-o', os.path.join(tree, 'out')] +
                  include[:3] + [file])
                 for file in sorted(glob.glob('kernels/cuda/*.cu'))], f'CUB of CUDA {toolkit} by clang-19 for sm_{architecture}')
    return faults


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n', 1)[0])
    parser.add_argument('program')
    parser.add_argument('--toolkits', default=','.join(TOOLKITS))
    parser.add_argument('--architectures', default='', help='default: all from 70 on')
    parser.add_argument('--set', action='append', default=[], metavar='KEY=VALUE', help='a setting of the run')
    parser.add_argument('--cub', action='store_true', help='the .cu files, too')
    parser.add_argument('--jobs', type=int, default=os.cpu_count())
    given = parser.parse_args()
    program = os.path.abspath(given.program)
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
    generated = os.path.join(os.path.dirname(program), 'generated')
    packages, faults = {}, []
    for toolkit in given.toolkits.split(','):
        if toolkit not in TOOLKITS:
            parser.error(f'--toolkits: found {toolkit}, expected some of {", ".join(TOOLKITS)}')
        wanted = [one for one in TOOLKITS[toolkit] if given.cub or 'cccl' not in one]
        try:
            packages[toolkit] = [install(package) for package in wanted]
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
            print(f'CUDA {toolkit}: skipped, its packages cannot be had: {last_line(error.stderr)}')
    if not packages:
        return UNAVAILABLE
    libraries = {toolkit: [path for path in glob.glob(f'{folders[0]}/nvidia/*/lib/libnvrtc.so.*') if 'alt' not in path][0]
                 for toolkit, folders in packages.items()}
    architectures = [int(text) for text in given.architectures.split(',') if text]
    faults += check_kernels(program, libraries, architectures, given.set, given.jobs)
    for toolkit, folders in packages.items():
        oldest = max(OLDEST, min(known_architectures(libraries[toolkit])))
        faults += check_toolkit(toolkit, folders, generated, oldest, given.cub)
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main())
