#!/usr/bin/env python3
"""icestream under EWMS: step files become messages of a queue, and messages with hits become hit files.

    ewms.py put ADDRESS QUEUE FILE.steps.npy ...     sends each step file as one message
    ewms.py take ADDRESS QUEUE STEPS HITS            writes HITS/NAME.hits.npy for every STEPS/NAME.steps.npy

ADDRESS is that of the broker, for example user@broker.example.org:5672/host. The password or token is in the
variable EWMS_QUEUE_TOKEN. A message of hits has no name. Its trailer has the SHA-256 of the step file, which
gives the name. A message that comes twice is written once, because its bytes are the same. ewms-pilot.sh is what the
workers run, and docs/sites.md explains all of it. Needs the package oms-mqclient, which ewms-pilot brings.
"""
import asyncio
import base64
import glob
import hashlib
import json
import os
import struct
import sys

import mqclient


def queue_of(address, name):
    return mqclient.Queue("rabbitmq", address=address, name=name,
                          auth_token=os.environ.get("EWMS_QUEUE_TOKEN", ""))


def digest_of(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def input_of(hits):
    """Returns the SHA-256 of the step file that hits were made of (docs/files.md 2.2)."""
    offset, length = struct.unpack("<QQ", hits[-32:-16])
    return json.loads(hits[offset:offset + length])["digests"]["input"]


async def put(queue, paths):
    async with queue.open_pub() as sender:
        for path in paths:
            with open(path, "rb") as file:
                await sender.send(base64.b64encode(file.read()).decode())
    print(f"{len(paths)} step files were sent")


def write(path, hits):
    """Writes a hit file that has its name only when it is complete. Returns whether it is new."""
    if os.path.exists(path):
        with open(path, "rb") as file:
            if file.read() != hits:
                sys.exit(f"{path}: found other hits of the same step file, expected the same bytes: "
                         "was the configuration changed?")
        return False
    with open(path + ".part", "wb") as file:
        file.write(hits)
        file.flush()
        os.fsync(file.fileno())
    os.rename(path + ".part", path)
    return True


async def take(queue, steps, folder):
    names = {digest_of(path): os.path.basename(path)[:-len(".steps.npy")]
             for path in glob.glob(glob.escape(steps) + "/*.steps.npy")}
    os.makedirs(folder, exist_ok=True)
    new = again = 0
    queue.timeout = 5  # (s) without a message: all that is there was taken
    async with queue.open_sub() as messages:
        async for message in messages:
            hits = base64.b64decode(message, validate=True)
            name = names.get(input_of(hits))
            if name is None:
                sys.exit(f"found hits of a step file with the digest {input_of(hits)}, expected one of {steps}")
            if write(f"{folder}/{name}.hits.npy", hits):
                new += 1
            else:
                again += 1
    missing = sorted(name for name in names.values()
                     if not os.path.exists(f"{folder}/{name}.hits.npy"))
    print(f"{new} hit files were written, {again} came again, {len(missing)} are missing: "
          f"{' '.join(missing[:10])}")


def main():
    match sys.argv[1:]:
        case ["put", address, name, *paths] if paths:
            asyncio.run(put(queue_of(address, name), paths))
        case ["take", address, name, steps, folder]:
            asyncio.run(take(queue_of(address, name), steps, folder))
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
