#!/usr/bin/env python3
"""Says whether LeakSanitizer crashed in every test that failed.

    scripts/leak_check_crashed.py REPORT

REPORT is what `ctest --output-junit` wrote. Exit status 0: at least one test failed, and each failed test has the message
of such a crash. Exit status 1: a test failed for another reason.
"""
import sys
import xml.etree.ElementTree

CRASH = 'LeakSanitizer has encountered a fatal error'


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    failed = [case for case in xml.etree.ElementTree.parse(sys.argv[1]).iter('testcase')
              if case.find('failure') is not None]
    others = [case.get('name') for case in failed if CRASH not in (case.findtext('system-out') or '')]
    if not failed or others:
        print('not run again; failed for another reason than a crash of LeakSanitizer:',
              ', '.join(others) or 'no test')
        sys.exit(1)
    print('run again, because LeakSanitizer crashed:', ', '.join(case.get('name') for case in failed))


if __name__ == '__main__':
    main()
