#!/usr/bin/env bash
# Promises: a run serves its live page as metrics.listen and metrics.token say, reports its end to an open page, is not
# disturbed by clients, and writes the token nowhere. The Grafana dashboard of configs/sites reads only metrics that exist.
# To join: the answers are tested in tests/telemetry; here only what needs a whole run is.
DASHBOARD=$(realpath "$(dirname "$0")/../../../configs/sites/grafana.json")
source "$(dirname "$0")/../common.bash"

"$ICESTREAM" validate -s metrics.listen=127.0.0.1:0 >out 2>err
grep -q "without libmicrohttpd" err && skip "this build cannot serve metrics"
refuses 2 "metrics.token: is for metrics.listen, which is not given" validate -s metrics.token=token
TOKEN=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
(umask 077 && echo "$TOKEN" >token)
expect 0 "$ICESTREAM" validate -s metrics.listen=0.0.0.0:0 -s metrics.token=token

cat >client.py <<'PYTHON'
import http.client, json, re, socket, sys, urllib.error, urllib.request
url, token = sys.argv[1], open('token').read().strip()
host, port = url.split('//')[1].strip('/').split(':')


def get(path, key=token):
    return urllib.request.urlopen(urllib.request.Request(url + path, headers={'Authorization': 'Bearer ' + key}))


for path in ('', 'metrics', 'status.json', 'nothing'):
    try:
        get(path, 'x' + token[1:] + 'x')
        sys.exit(f'{path}: a wrong token is accepted')
    except urllib.error.HTTPError as error:
        assert error.code == 401, error
assert b'/live.js' in get('').read()
get('status.json?after=0').read()  # comes with the first measurements, before which there are no metrics
# Whatever the Grafana dashboard reads is exported: names of metrics, and labels (Prometheus adds `instance`).
exported, labels = set(), {'instance'}
for line in get('metrics').read().decode().splitlines():
    if not line.startswith('#'):
        exported.add(re.match('[a-z_]+', line)[0])
        labels.update(re.findall('([a-z]+)="', line))
for panel in json.load(open(sys.argv[2]))['panels']:
    for target in panel['targets']:
        names = set(re.findall('icestream_[a-z_]+', target['expr']))
        used = set(re.findall('[a-z_]+(?==)', target['expr']))
        for grouped in re.findall(r'by \(([a-z, ]*)\)', target['expr']):
            used.update(grouped.split(', '))
        assert names and names <= exported, (panel['title'], names - exported)
        assert used <= labels, (panel['title'], used - labels)
# Clients that send half a request, or take no answer, while a page follows the run to its end.
idle = [socket.create_connection((host, int(port))) for _ in range(20)]
for number, connection in enumerate(idle):
    connection.sendall(b'GET /status.json HTTP/1.1\r\n' if number % 2 else b'X' * 5000)
status, seen = {'sequence': 0}, set()
# One connection, as a browser has it: the end of a run waits for open connections.
follower = http.client.HTTPConnection(host, int(port), timeout=60)
while status.get('state') != 'ended':
    follower.request('GET', '/status.json?after=%d' % status['sequence'], headers={'Authorization': 'Bearer ' + token})
    status = json.load(follower.getresponse())
    seen.add(status['state'])
    open('seen', 'w').write(status['state'])
assert 'running' in seen, seen
account = status['account']
assert account['created'] == sum(account[end] for end in ('absorbed', 'detected', 'left', 'stopped')), account
print(status['exit_status'], status['state'], status['worker'], status['files']['quarantined'])
PYTHON

# A pipe whose end does not come: the run goes on until it is stopped.
mkdir in
printf 'no steps' >in/bad.steps.npy
touch -d '1 minute ago' in/bad.steps.npy
"$ICESTREAM" run -s source.directory=in -s source.watch=true -s source.worker=farm-7 -s metrics.listen=127.0.0.1:0 \
    -s metrics.token=token >log 2>&1 &
run=$!
await grep -q "live page of this run: http://127.0.0.1:" log
python3 client.py "$(grep -o 'http://[0-9.:]*/' log)" "$DASHBOARD" >page 2>&1 &
page=$!
await grep -qs running seen
await test -e hits/quarantine/bad.steps.npy
tr '\0' '\n' <"/proc/$run/cmdline" >cmdline
kill -TERM $run
wait $run
[ $? -eq 143 ] || fail "the run did not end as it should: $(cat log)"
wait $page || fail "the page failed"
says page "143 ended farm-7 1"
prints '/token"' run --print-effective -s metrics.listen=127.0.0.1:0 -s metrics.token=token
grep -rlF "$TOKEN" . | grep -vx ./token && fail "the token was written to a file"
finish
