#!/usr/bin/env bash
# Promises: icestream top writes the state of a folder once if standard output is no terminal; on a terminal it renews
# it, and every signal that ends it leaves the terminal as it was.
# To join: the text is tested in tests/tools/test_top.c; here only the command line and the terminal are.
source "$(dirname "$0")/common.bash"

expect 2 "$ICESTREAM" top
says err "icestream top: expected DIR"
expect 3 "$ICESTREAM" top none
says err "none: No such file or directory"
is_empty out

mkdir in
expect 0 "$ICESTREAM" generate -s workload.steps=10 -o in/good.steps.npy
# A name that would clear the screen, and a line in it that looks like another one.
printf 'no steps' >in/$'evil\e[2J\nfiles     99 done.steps.npy'
touch -d '1 minute ago' in/* # a bad file that is new is read twice
"$ICESTREAM" run -q -s source.directory=in -s sink.directory=hits -s source.worker=farm-7 2>/dev/null
for option in '' --once; do
    # shellcheck disable=SC2086 # no option is no word
    expect 0 "$ICESTREAM" top $option hits
    is_empty err
    says out "workers   none is running: 1 stopped, 0 gone" "files     1 done, 0 in work" "1 quarantined" 'evil\x1b[2J'
    [ "$(grep -c '^files' out)" -eq 1 ] || fail "a file name made a line: $(cat out)"
    grep -q $'\e' out && fail "there is an escape sequence: $(cat out)"
done
"$ICESTREAM" top hits >/dev/full 2>err
[ $? -eq 74 ] || fail "a full standard output is no error"

# On a terminal: a frame (with SIGTERM two), then a signal. The last sequence puts the first screen back.
cat >terminal.py <<'PYTHON'
import fcntl, os, pty, select, signal, struct, subprocess, sys, termios

LEAVE = b'\x1b[?7h\x1b[?25h\x1b[?1049l'


class Terminal:
    def __init__(self, number):
        self.number, self.seen = number, b''
        self.master, self.slave = pty.openpty()
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack('HHHH', 12, 40, 0, 0))
        self.before = termios.tcgetattr(self.slave)
        self.child = subprocess.Popen([sys.argv[1], 'top', 'hits'], stdin=self.slave, stdout=self.slave,
                                      stderr=self.slave)

    def read(self, condition):
        while not condition():
            if not select.select([self.master], [], [], 60)[0]:
                sys.exit(f'{self.number!r}: nothing came after {self.seen!r}')
            self.seen += os.read(self.master, 65536)

    def finish(self):
        self.read(lambda: self.seen.count(b'\x1b[J') >= (2 if self.number == signal.SIGTERM else 1))
        end = self.number
        if end == signal.SIGTSTP:
            self.child.send_signal(end)
            self.read(lambda: self.seen.endswith(LEAVE))
            os.waitpid(self.child.pid, os.WUNTRACED)
            self.child.send_signal(signal.SIGCONT)
            self.read(lambda: self.seen.count(b'\x1b[?1049h') == 2 and self.seen.endswith(b'\x1b[J'))
            end = signal.SIGINT
        self.child.send_signal(end)
        self.read(lambda: self.seen.endswith(LEAVE))
        assert self.child.wait(60) == -end, self.child.returncode
        assert self.seen.startswith(b'\x1b[?1049h\x1b[?25l\x1b[?7l'), self.seen
        assert termios.tcgetattr(self.slave) == self.before
        for line in self.seen.split(b'\x1b[H')[1].split(b'\n'):
            assert len(line.split(b'\x1b[K')[0]) <= 40, line


names = 'HUP INT QUIT TERM USR1 ALRM SEGV ABRT TSTP'.split()
for terminal in [Terminal(getattr(signal, 'SIG' + name)) for name in names]:
    terminal.finish()
PYTHON
ulimit -c 0
python3 terminal.py "$ICESTREAM" || fail "a signal did not leave the terminal as it was"
finish
