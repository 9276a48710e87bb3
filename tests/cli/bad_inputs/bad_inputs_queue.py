"""Cases for bad_inputs.py: queues, as far as they need no broker (tests/queue has one). To join: one more wrong()."""

from bad_inputs_files import case, good, pipe


def queue_cases():
    def wrong(name, command, says, exit_status=2):
        files = {
            "a.steps.npy": good.steps,
            "run.yaml": b"run: { seed: 3 }\n",
            "secret": b"hush\n",
            "pipe": pipe(),
            "two.yaml": b"source: { queue: 'redis://localhost/s', directory: . }\n",
        }
        case("queue", name, command, exit_status, says, files)

    wrong("a password in the address", "run run.yaml -s source.queue=redis://me:hush@localhost/s", ["source.queue: found a password in the address"])
    wrong("no stream", "run run.yaml -s source.queue=redis://localhost", "expected redis://[USER@]HOST[:PORT]/STREAM, with a stream")
    wrong("another machine without a password", "validate run.yaml -s source.queue=redis://192.0.2.1/s", ["which is another machine, without a password and without TLS"])
    wrong("a user without a password", "validate run.yaml -s source.queue=redis://me@localhost/s", "found the user me and no password")
    wrong("a password that all may read", "validate run.yaml -s source.queue=redis://me@localhost/s -s source.queue_password=secret", ["secret: found mode", "expected 0600"])
    wrong("a pipe of a password", "validate run.yaml -s source.queue=redis://me@localhost/s -s source.queue_password=pipe", ["pipe: found a pipe, expected a regular file"])
    for command in ("validate run.yaml", "run run.yaml"):
        wrong("a pipe of certificates: " + command, command + " -s source.queue=rediss://localhost/s -s source.queue_ca=pipe", ["source.queue: the file of certificates ", "pipe: found a pipe, expected a regular file"])
    wrong("a pipe of certificates of put", "put a.steps.npy --queue rediss://localhost/s --ca pipe", ["--queue: the file of certificates pipe: found a pipe"])
    wrong("no broker", "run run.yaml -s source.queue=redis://127.0.0.1:1/s -s sink.directory=h", ["redis://127.0.0.1:1/s: Connection refused"], 74)
    wrong("a key of queues without one", "validate run.yaml -s source.attempts=3", ["source.attempts: is for source.queue, which is not given"])
    wrong("a prefix of hosts", "validate run.yaml -s source.queue=redis://localhost/s -s source.allow=[https://data.example.org]", ["source.allow: found 'https://data.example.org'", "with a slash at the end"])
    wrong("a prefix with a password", "validate run.yaml -s source.queue=redis://localhost/s -s source.allow=[https://me:hush@data.example.org/]", ["source.allow: ", "expected a prefix without a user"])
    wrong("a prefix without a queue", "validate run.yaml -s source.allow=[https://data.example.org/]", ["source.allow: is for source.queue, which is not given"])
    wrong("a queue and a folder", "validate two.yaml", ["two.yaml:1:", "source.queue"])
    wrong("put without a queue", "put a.steps.npy", "expected --queue redis://HOST/STREAM")
    wrong("put into a queue with a password", "put a.steps.npy --queue redis://:hush@localhost/s", ["--queue: found a password in the address"])
    wrong("status of a folder with a password", "status . --password secret", "--password and --ca are for a queue")
