#!/usr/bin/env python3
"""A server of files for tests of transfers: HTTP (GET, HEAD, PUT, DELETE, ranges, ETags, digests), and the part of S3 that
curl.sh uses, with every signature checked by the published rules of SigV4, which this file implements on its own.

    transfer_server.py FOLDER [--tls CERTIFICATE KEY] [--bearer TOKEN] [--s3 KEY SECRET] [--no-digest]

Prints its port. FOLDER has the files; FOLDER.log gets a line for each request: method, path, range or '-', status, and
`with-token` if the request has the header Authorization.
FOLDER.faults, which may change at any time, has a fault in each line: METHOD ACTION TIMES. It happens to the next TIMES
requests of that method (or `*`): `status=N`, `cut=N` (the connection ends after N bytes of the body), `headers` (it ends in the headers), `corrupt` (a byte of
the body is changed on the way), `drop` (the connection ends while the body is received), `changed` (before it is answered
the file gets other bytes, `changed=NAME` of FOLDER/NAME), `to=URL` (a redirection), `long=N` (a step file of N bytes without a size), `zeros` (zeros without an end),
`stall` (no answer for a minute).
"""
import argparse
import base64
import hashlib
import hmac
import http.server
import os
import re
import shutil
import ssl
import threading
import time
import urllib.parse

parser = argparse.ArgumentParser()
parser.add_argument('folder')
parser.add_argument('--tls', nargs=2)
parser.add_argument('--bearer')
parser.add_argument('--s3', nargs=2)
parser.add_argument('--no-digest', action='store_true')
given = parser.parse_args()
lock = threading.RLock()
faults = {'text': None, 'lines': []}
digests = {}


def next_fault(method):
    with lock:
        try:
            with open(given.folder + '.faults', encoding='utf-8') as file:
                text = file.read()
        except FileNotFoundError:
            text = ''
        if text != faults['text']:
            faults['text'] = text
            faults['lines'] = [[m, a, int(n)] for m, a, n in (line.split() for line in text.splitlines())]
        for fault in faults['lines']:
            if fault[0] in (method, '*') and fault[2] > 0:
                fault[2] -= 1
                return fault[1]
    return ''


def sign(key, text):
    return hmac.new(key, text.encode(), hashlib.sha256).digest()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def log_message(self, *_):
        pass

    def answer(self, status, body=b'', headers=(), length=None):
        with lock, open(given.folder + '.log', 'a', encoding='utf-8') as log:
            token = ' with-token' if 'Authorization' in self.headers else ''
            log.write(f'{self.command} {self.path} {self.headers.get("Range", "-")} {status}{token}\n')
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header('Content-Length', str(len(body) if length is None else length))
        self.end_headers()
        if self.command != 'HEAD':
            self.wfile.write(body)

    def parse_request(self):
        """A request that breaks off in its headers changes nothing: an empty line ends the headers."""
        lines, read = [b''], self.rfile.readline
        self.rfile.readline = lambda *most: lines.append(read(*most)) or lines[-1]
        good = super().parse_request()
        self.rfile.readline = read
        self.close_connection |= lines[-1] not in (b'\r\n', b'\n')
        return good and lines[-1] in (b'\r\n', b'\n')

    def file(self):
        path = urllib.parse.unquote(urllib.parse.urlsplit(self.path).path)
        return os.path.join(given.folder, *[part for part in path.split('/') if part not in ('', '..')])

    def body(self):
        """The body of the request. A request that breaks off changes nothing."""
        length = int(self.headers.get('Content-Length', 0))
        content = self.rfile.read(length)
        if len(content) < length:
            raise ConnectionAbortedError
        return content

    def signature_fault(self, body):
        """What is wrong with the signature of this request; None: nothing."""
        found = re.fullmatch(r'AWS4-HMAC-SHA256 Credential=([^/]+)/(\d{8})/([^/]+)/s3/aws4_request, *'
                             r'SignedHeaders=([^,]+), *Signature=([0-9a-f]{64})', self.headers.get('Authorization', ''))
        if not found or found[1] != given.s3[0]:
            return 'InvalidAccessKeyId'
        _, day, region, names, signature = found.groups()
        if hashlib.sha256(body).hexdigest() != self.headers['x-amz-content-sha256']:
            return 'XAmzContentSHA256Mismatch'
        url = urllib.parse.urlsplit(self.path)
        query = '&'.join(f'{urllib.parse.quote(k, safe="-._~")}={urllib.parse.quote(v, safe="-._~")}'
                         for k, v in sorted(urllib.parse.parse_qsl(url.query, keep_blank_values=True)))
        if not {'host', 'x-amz-date', 'x-amz-content-sha256'} <= set(names.split(';')):
            return 'HeadersNotSigned'
        headers = ''.join(f'{name}:{" ".join(self.headers[name].split())}\n' for name in names.split(';'))
        canonical = '\n'.join([self.command, url.path, query, headers, names, self.headers['x-amz-content-sha256']])
        scope = f'{day}/{region}/s3/aws4_request'
        text = '\n'.join(['AWS4-HMAC-SHA256', self.headers['x-amz-date'], scope,
                          hashlib.sha256(canonical.encode()).hexdigest()])
        key = ('AWS4' + given.s3[1]).encode()
        for part in (day, region, 's3', 'aws4_request'):
            key = sign(key, part)
        return None if hmac.compare_digest(sign(key, text).hex(), signature) else 'SignatureDoesNotMatch'

    def refused(self, body):
        """Answers a request that may not go on."""
        if given.bearer and self.headers.get('Authorization') != 'Bearer ' + given.bearer:
            self.answer(401)
            return True
        fault = given.s3 and self.signature_fault(body)
        if fault:
            self.answer(403, f'<Error><Code>{fault}</Code><StringToSign>secret</StringToSign></Error>'.encode())
        return bool(fault)

    def headers_of(self, path, content):
        digest = hashlib.sha256(content)
        headers = [('ETag', f'"{digest.hexdigest()[:16]}"')]
        if given.s3:
            with lock:
                meta = digests.get(path)
            headers += [('x-amz-meta-sha256', meta)] if meta else []
        elif not given.no_digest:
            headers.append(('Repr-Digest', f'sha-256=:{base64.b64encode(digest.digest()).decode()}:'))
        return headers

    def do_GET(self):
        fault, path = next_fault(self.command), self.file()
        if self.refused(b''):
            return
        if fault.startswith('changed='):
            shutil.copy(os.path.join(given.folder, fault[8:]), path)
        if fault.startswith('status='):
            self.answer(int(fault[7:]))
            return
        if fault.startswith('to='):
            self.answer(302, b'moved', [('Location', fault[3:])])
            return
        if fault.startswith('long='):
            self.wfile.write(b'HTTP/1.1 200 OK\r\n\r\n\x93NUMPY' + bytes(int(fault[5:])))
            self.close_connection = True
            return
        if fault == 'zeros':
            self.close_connection = True
            self.wfile.write(b'HTTP/1.1 200 OK\r\n\r\n')
            while True:  # until curl ends
                self.wfile.write(bytes(1000))
                time.sleep(0.01)
        if fault == 'stall':
            time.sleep(60)
        if not os.path.isfile(path):
            self.answer(404, b'<Error><Code>NoSuchKey</Code></Error>' if given.s3 else b'')
            return
        with open(path, 'rb') as file:
            content = file.read()
        headers, status, body = self.headers_of(path, content), 200, content
        found = re.fullmatch(r'bytes=(\d+)-', self.headers.get('Range', ''))
        if found and self.headers.get('If-Range') in (None, headers[0][1]):
            begin = int(found[1])
            if begin >= len(content):
                self.answer(416)
                return
            status, body = 206, content[begin:]
            headers.append(('Content-Range', f'bytes {begin}-{len(content) - 1}/{len(content)}'))
        length = len(body)
        if fault == 'corrupt':
            body = body[:-1] + bytes([body[-1] ^ 1])
        if fault.startswith('cut='):
            body = body[:int(fault[4:])]
        if fault == 'headers':
            self.wfile.write(b'HTTP/1.1 200 OK\r\nServer: x')
            self.close_connection = True
            return
        self.answer(status, body, headers, length)
        self.close_connection |= fault.startswith('cut=')

    do_HEAD = do_GET

    def store(self, path, content, condition):
        with lock:
            if condition == '*' and os.path.exists(path):
                return False
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, 'wb') as file:
                file.write(content)
        return True

    def do_PUT(self):
        fault, path = next_fault('PUT'), self.file()
        if fault == 'drop':
            self.rfile.read(int(self.headers['Content-Length']) // 2)
            self.close_connection = True
            return
        content = self.body()
        if self.refused(content):
            return
        if fault.startswith('status='):
            self.answer(int(fault[7:]), b'<Error><Code>SlowDown</Code></Error>')
            return
        if fault == 'corrupt':
            content = content[:-1] + bytes([content[-1] ^ 1])
        stored = self.store(path, content, self.headers.get('If-None-Match'))
        if stored and given.s3:
            with lock:
                digests[path] = self.headers['x-amz-meta-sha256']
        self.answer(201 if stored else 412)

    def do_DELETE(self):
        if self.refused(b''):
            return
        if os.path.exists(self.file()):
            os.remove(self.file())
        self.answer(204)


server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
server.daemon_threads = True
if given.tls:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*given.tls)
    server.socket = context.wrap_socket(server.socket, server_side=True)
os.write(1, f'{server.server_address[1]}\n'.encode())  # at once: the reader closes its end then
os.close(1)
server.serve_forever()
