/* Shows /status.json (docs/telemetry.md) and follows it: the answer to `after` comes with the next
 * snapshot, once a second, or with the end of the run. Texts of the run are only ever set as text,
 * so nothing in a file name can become a part of the page. */
'use strict';

const RETRY = 5000; /* ms */
const PATIENCE = 15000; /* ms without an answer, until the connection counts as lost */
let latest = null;
let before = []; /* the last ten statuses, for the load of devices */

/* ---- texts ----------------------------------------------------------------------------------- */

const at = (id) => document.getElementById(id);

function make(name, text, kind) {
    const element = document.createElement(name);
    if (text !== undefined) {
        element.textContent = text;
    }
    if (kind) {
        element.className = kind;
    }
    return element;
}

const whole = (value) => Math.round(value).toLocaleString('en-US').replaceAll(',', '\u202f');

/* Three digits, and no more zeros than that. */
const digits = (value) => value >= 999.5 ? whole(value) : value.toPrecision(3);

function count(value) {
    if (value === null || value === undefined) {
        return '–';
    }
    for (const [unit, name] of [[1e12, 'trillion'], [1e9, 'billion'], [1e6, 'million']]) {
        if (value >= unit) {
            return `${digits(value / unit)} ${name}`;
        }
    }
    return whole(value);
}

function bytes(value) {
    for (const [unit, name] of [[1e12, 'TB'], [1e9, 'GB'], [1e6, 'MB'], [1e3, 'kB']]) {
        if (value >= unit) {
            return `${digits(value / unit)} ${name}`;
        }
    }
    return `${value} B`;
}

function span(seconds) {
    if (seconds === null || seconds === undefined) {
        return '–';
    }
    if (seconds < 90) {
        return seconds < 1 ? `${Number((1000 * seconds).toPrecision(3))} ms`
                           : `${Number(seconds.toPrecision(3))} s`;
    }
    if (seconds < 5400) {
        return `${(seconds / 60).toFixed(0)} min`;
    }
    return seconds < 172800 ? `${(seconds / 3600).toFixed(1)} h`
                            : `${(seconds / 86400).toFixed(1)} days`;
}

const clock = (unix) => new Date(1000 * unix).toLocaleTimeString('en-GB');

/* ---- parts of the page ----------------------------------------------------------------------- */

function showFigures(s) {
    const files = s.files;
    const out = files.done + files.skipped;
    const share = s.photons_expected ? Math.min(1, s.photons / s.photons_expected) : null;
    const list = [
        ['photons/s now', count(s.photons_per_second)],
        ['photons/s average', count(s.photons_per_second_average)],
        ['photons', count(s.photons) + (share === null ? '' : ` (${(100 * share).toFixed(1)} %)`)],
        ['hits', count(s.hits)],
        ['files in, out', `${files.taken}, ${out}` + (files.expected ? ` of ${files.expected}` : '')],
        s.state === 'ended' || s.seconds_left === null ? ['running for', span(s.seconds)]
                                                       : ['time left', span(s.seconds_left)],
    ];
    if (s.state === 'ended') {
        list[0] = ['exit status', String(s.exit_status)];
        list[5] = ['ran for', span(s.seconds)];
    }
    at('figures').replaceChildren(...list.map(([name, value]) => {
        const item = make('li');
        item.append(make('span', name), make('b', value));
        return item;
    }));
}

/* Rows of [heading, cell, ...]; a cell may be an element. */
function fillTable(table, head, rows) {
    const body = make('tbody');
    for (const row of rows) {
        const line = make('tr');
        row.forEach((cell, i) => {
            const place = make(i === 0 ? 'th' : 'td');
            if (i === 0) {
                place.scope = 'row';
            }
            place.append(cell);
            line.append(place);
        });
        body.append(line);
    }
    const parts = [body];
    if (head) {
        const line = make('tr');
        line.append(...head.map((text) => {
            const place = make('th', text);
            place.scope = 'col';
            return place;
        }));
        const top = make('thead');
        top.append(line);
        parts.unshift(top);
    }
    table.replaceChildren(...parts);
}

/* The share of the last seconds in which a device computed. */
function load(s, index) {
    const old = before.find((o) => o.start === s.start && o.devices.length > index);
    const device = s.devices[index];
    const [busy, seconds] = old ? [device.seconds_busy - old.devices[index].seconds_busy,
                                   s.seconds - old.seconds]
                                : [device.seconds_busy, s.seconds];
    return seconds > 0 ? `${(100 * Math.min(1, busy / seconds)).toFixed(0)} %` : '–';
}

function showDevices(s) {
    fillTable(at('devices'), ['device', 'schedule', 'photons/s', 'busy', 'state', 'photons'],
        s.devices.map((d, i) => [
            d.name === d.device ? d.device : `${d.device} ${d.name}`,
            d.schedule || '–', count(d.photons_per_second), load(s, i),
            d.alive ? 'works' : make('span', 'lost', 'bad'), count(d.photons)]));
}

function showFiles(s) {
    const f = s.files;
    const marked = (value, kind) => value > 0 ? make('span', whole(value), kind) : whole(value);
    fillTable(at('files'), null, [
        ['taken in', whole(f.taken) + (f.expected ? ` of ${whole(f.expected)}` : '')],
        ['waiting', whole(f.waiting)],
        ['in work', whole(f.claimed)],
        ['done', whole(f.done)],
        ['skipped, because they were done', whole(f.skipped)],
        ['quarantined', marked(f.quarantined, 'warn')],
        ['failed', marked(f.failed, 'bad')],
        ['read', bytes(s.bytes_read)],
        ['written', bytes(s.bytes_written)],
        ['operations tried again', marked(s.retries, 'warn')]]);
    const l = s.latency;
    fillTable(at('latency'), null, [
        ['half of the files within', span(l.p50)],
        ['90 %', span(l.p90)],
        ['99 %', span(l.p99)],
        ['all', span(l.max)],
        ['files', whole(l.count)]]);
}

function showQueues(s) {
    const names = {batches: 'batches that wait for a device', units: 'files in work'};
    at('queues').replaceChildren(...s.queues.flatMap((q) => {
        const line = make('div', undefined, 'line');
        const bar = make('div', undefined, 'bar');
        const fill = make('i');
        line.append(make('span', names[q.queue] || q.queue),
                    make('span', `${whole(q.entries)} of ${whole(q.limit)}`));
        fill.style.width = `${q.limit > 0 ? Math.min(100, 100 * q.entries / q.limit) : 0}%`;
        bar.append(fill);
        return [line, bar];
    }));
}

function showAccount(s) {
    const a = s.account;
    const ends = ['absorbed', 'detected', 'left', 'stopped'];
    const meaning = {absorbed: 'absorbed', detected: 'at a module', left: 'left the world',
                     stopped: 'at the limit of bounces'};
    const sum = ends.reduce((total, end) => total + a[end], 0);
    at('shares').replaceChildren(...ends.map((end) => {
        const part = make('i', undefined, end);
        part.style.width = `${sum > 0 ? 100 * a[end] / sum : 0}%`;
        return part;
    }));
    const rows = ends.map((end) => {
        const name = make('span');
        name.append(make('i', undefined, `key ${end}`), meaning[end]);
        return [name, count(a[end]), sum > 0 ? `${(100 * a[end] / sum).toPrecision(3)} %` : ''];
    });
    rows.push(['created', count(a.created),
               sum === a.created ? 'closes' : make('span', 'does not close', 'bad')]);
    rows.push(['bounces per photon', a.created > 0 ? digits(a.bounces / a.created) : '–', '']);
    fillTable(at('account'), null, rows);
}

function showWarnings(s) {
    const {total, last} = s.warnings;
    at('warning-count').textContent = total > last.length ? `the last ${last.length} of ${total}` : '';
    const items = last.map((warning) => {
        const item = make('li');
        const time = make('time', clock(warning.time));
        time.dateTime = new Date(1000 * warning.time).toISOString();
        item.append(time, warning.text);
        return item;
    });
    at('warnings').replaceChildren(...(items.length > 0 ? items : [make('li', 'none')]));
}

/* ---- the chart ------------------------------------------------------------------------------- */

function draw(name, attributes, text) {
    const element = document.createElementNS('http://www.w3.org/2000/svg', name);
    for (const [key, value] of Object.entries(attributes)) {
        element.setAttribute(key, value);
    }
    if (text !== undefined) {
        element.textContent = text;
    }
    return element;
}

/* Distances of 1, 2 or 5 times a power of ten, at most `most` of them. */
function step(range, most) {
    const power = 10 ** Math.floor(Math.log10(range / most));
    return [1, 2, 5, 10].map((f) => f * power).find((d) => range / d <= most) || 10 * power;
}

/* Rates between points that are far enough apart, because batches end irregularly. */
function rates(history) {
    const end = history.length > 0 ? history[history.length - 1][0] : 0;
    const least = Math.max(3, end / 60);
    const list = [];
    let from = [0, 0];
    for (const [seconds, photons] of history) {
        if (seconds - from[0] >= least || (seconds === end && seconds - from[0] > least / 2)) {
            list.push([from[0], seconds, (photons - from[1]) / (seconds - from[0])]);
            from = [seconds, photons];
        }
    }
    return list;
}

function showChart(s) {
    const svg = at('chart');
    const width = svg.clientWidth, height = svg.clientHeight;
    const left = 84, right = width - 12, top = 10, bottom = height - 38;
    const list = rates(s.history);
    svg.setAttribute('viewBox', `0 0 ${width} ${height}`);
    if (list.length === 0) {
        svg.replaceChildren(draw('text', {x: left, y: height / 2}, 'The chart begins after three seconds.'));
        return;
    }
    const end = list[list.length - 1][1];
    const high = Math.max(1, ...list.map((r) => r[2])) * 1.05;
    const x = (seconds) => left + (right - left) * seconds / end;
    const y = (rate) => bottom - (bottom - top) * rate / high;
    const parts = [];
    const [unit, name] = end < 180 ? [1, 's'] : end < 10800 ? [60, 'min'] : [3600, 'h'];
    const tick = step(high, 5), beat = step(end / unit, width < 500 ? 4 : 8);
    for (let rate = 0; rate <= high; rate += tick) {
        parts.push(draw('line', {x1: left, x2: right, y1: y(rate), y2: y(rate), class: 'grid'}),
                   draw('text', {x: left - 6, y: y(rate) + 4, 'text-anchor': 'end'},
                        rate === 0 ? '0' : count(rate).replace(/(\.\d*[1-9])0+ |\.0+ /, '$1 ')));
    }
    for (let time = 0; time <= end / unit; time += beat) {
        parts.push(draw('text', {x: x(time * unit), y: bottom + 17, 'text-anchor': 'middle'},
                        String(Number(time.toPrecision(6)))));
    }
    parts.push(draw('text', {x: (left + right) / 2, y: height - 4, 'text-anchor': 'middle'},
                    `time since the start (${name})`));
    const path = list.map(([from, to, rate]) => `${x(from)},${y(rate)} ${x(to)},${y(rate)}`).join(' ');
    parts.push(draw('polygon', {points: `${x(0)},${y(0)} ${path} ${x(end)},${y(0)}`, class: 'area'}),
               draw('polyline', {points: path, class: 'rate'}));
    svg.replaceChildren(...parts);
}

/* ---- the state ------------------------------------------------------------------------------- */

function showState(name, kind, banner, bannerKind) {
    at('state').textContent = name;
    at('state').className = `state ${kind}`;
    at('banner').hidden = banner === null;
    if (at('banner').textContent !== (banner || '')) {
        at('banner').textContent = banner || '';
    }
    at('banner').className = `banner ${bannerKind || ''}`;
    const rate = latest && name === 'running' ? `${count(latest.photons_per_second)} photons/s, ` : '';
    document.title = `${rate}${name} – icestream`;
}

function show(s) {
    at('about').textContent = [`version ${s.version}`, `worker ${s.worker}`, s.configuration,
        s.start && `started ${new Date(1000 * s.start).toLocaleString('en-GB')}`]
        .filter(Boolean).join(', ');
    if (s.state === 'starting') {
        showState('starting', '', 'The run is starting: its devices are being prepared.', '');
        return;
    }
    showFigures(s);
    showChart(s);
    showDevices(s);
    showFiles(s);
    showQueues(s);
    showAccount(s);
    showWarnings(s);
    if (s.state === 'ended') {
        showState('ended', s.exit_status === 0 ? 'ended' : 'failed',
                  `The run ended at ${clock(s.time)} with exit status ${s.exit_status}. ` +
                  'These are its last numbers. Load this page again when another run listens here.',
                  s.exit_status === 0 ? 'good' : 'lost');
    } else if (s.state === 'paused') {
        showState('paused', 'paused', 'The run waits for room on a disk.', 'paused');
    } else if (s.state === 'stopping') {
        showState('stopping', 'stopping',
                  'The run is stopping: it finishes what it computes and reads no more files.', 'paused');
    } else {
        showState('running', 'running', null);
    }
}

/* The run did not say that it ends, so this page cannot know what has become of it. */
function showLost() {
    const since = latest ? `since ${clock(latest.time)}` : 'yet';
    showState('connection lost', 'lost',
              `No connection ${since}. The run did not report its end: it was killed, or the way to it ` +
              `is cut.${latest ? ' The numbers are of that time.' : ''} This page tries again every ` +
              `${RETRY / 1000} s.`, 'lost');
}

async function read() {
    const after = latest && latest.sequence > 0 ? `?after=${latest.sequence}` : '';
    const answer = await fetch(`/status.json${after}`,
                               {cache: 'no-store', signal: AbortSignal.timeout(PATIENCE)});
    if (!answer.ok) {
        throw new Error(`found status ${answer.status}`);
    }
    return answer.json();
}

const pause = (time) => new Promise((resolve) => setTimeout(resolve, time));

async function follow() {
    while (latest === null || latest.state !== 'ended') {
        let status = null;
        try {
            status = await read();
        } catch {
            showLost();
            await pause(RETRY);
            continue;
        }
        const same = latest !== null && latest.sequence === status.sequence;
        latest = status;
        show(status);
        if (status.state !== 'starting') {
            before = [...before.slice(-9), status];
        }
        if (same || status.state === 'starting') {
            await pause(1000);
        }
    }
}

addEventListener('resize', () => {
    if (latest && latest.state !== 'starting') {
        showChart(latest);
    }
});
follow();
