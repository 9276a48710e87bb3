#!/usr/bin/env python3
"""Promise: the recipes for queues in configs/sites do what their engines and this program document: every exit status that
they name is one of docs/commands.md, every key that they set exists, `icestream validate` accepts the run file with the
command of each recipe, secrets come from files only, and the files of secrets have modes that icestream accepts.

    queue_recipes.py ICESTREAM RECIPES DOCS

No engine is needed. systemd-analyze checks the unit if it is installed. tests/sites/slurm.sh runs the recipe of Slurm with a
folder. Exit status 77: there is no
PyYAML. To join: a function for the new recipe that returns its command and its exit statuses.
"""
import os
import re
import shlex
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from site_parts import check, submit_commands, unit_settings, verify_unit  # noqa: E402

try:
    import yaml
except ImportError:
    print("skipped: there is no PyYAML (python3-yaml)")
    sys.exit(77)

KILLED = {134, 137, 139}  # 128 and the number of a signal: not made by icestream
SECRET = "known-secret-of-the-queue"


def documented(docs):
    """Returns the exit statuses in the table of docs/commands.md."""
    with open(f"{docs}/commands.md", encoding="utf-8") as text:
        table = text.read().split("| exit status | meaning |")[1].split("\n\n")[0]
    return {int(number) for row in table.splitlines()[2:] for number in re.findall(r"\d+", row.split("|")[1])}


# ---- what each recipe says: its command as words, and the exit statuses that it names ----------------------------------


def htcondor(text, path):
    commands = submit_commands(path, request_cpus="4", Cluster="1", Process="0")
    check(commands["transfer_output_files"] == '""', "HTCondor would transfer the hit files, which are shipped")
    sent = {word.strip() for word in commands["transfer_input_files"].split(",")}
    hidden = {word.strip() for word in commands["encrypt_input_files"].split(",")}
    check(hidden == sent - {"queue.yaml"}, f"HTCondor sends {sent - hidden} without encryption")
    statuses = re.findall(r"ExitCode == (\d+)", text)
    check(len(statuses) >= 5, f"found {statuses} in the submit file")
    return ["icestream", *shlex.split(commands["arguments"].strip('"'))], statuses


def systemd(text, path):
    settings = unit_settings(path)
    words = [word.replace("${CREDENTIALS_DIRECTORY}/queue-password", "secrets/queue-password").replace("/etc/icestream/%i.yaml", "queue.yaml")
             for word in shlex.split(settings["ExecStart"][0])]
    loaded = [value.split(":")[0] for value in settings["LoadCredential"]]
    check(loaded == ["queue-password", "store"], f"LoadCredential: {loaded}")
    check("AWS_SHARED_CREDENTIALS_FILE=%d/store" in settings["Environment"], settings["Environment"])
    check("source.worker" not in text, "a service that starts again with the name of the one before waits for its lease")
    good, never = settings["SuccessExitStatus"][0].split(), settings["RestartPreventExitStatus"][0].split()
    check(settings["Restart"] == ["on-failure"] and not {"1", "74"} & {*good, *never}, "a broker that is away ends the service")
    verify_unit(path)
    return words, good + never


def kubernetes(text, _path):
    job = yaml.safe_load(text)
    pod = job["spec"]["template"]["spec"]
    container = pod["containers"][0]
    check((job["kind"], job["apiVersion"], pod["restartPolicy"]) == ("Job", "batch/v1", "Never"), "not a Job with a policy")
    check("completions" not in job["spec"], "a Job with `completions` starts pods after the queue is empty")
    rules = [rule["onExitCodes"] for rule in job["spec"]["podFailurePolicy"]["rules"] if "onExitCodes" in rule]
    check(all(rule["containerName"] == container["name"] for rule in rules), "a rule is for another container")
    volumes = {volume["name"]: volume for volume in pod["volumes"]}
    mounts = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
    check(set(volumes) == set(mounts), f"volumes {set(volumes)}, mounted {set(mounts)}")
    # With fsGroup the files belong to root and this group.
    check(volumes["secrets"]["secret"]["defaultMode"] == 0o440 and pod["securityContext"]["fsGroup"] > 0, "mode of secrets")
    values = {each["name"]: each.get("value", "") for each in container["env"]}
    check(values["AWS_SHARED_CREDENTIALS_FILE"] == mounts["secrets"] + "/credentials", values)
    check(container["securityContext"]["readOnlyRootFilesystem"] and values["XDG_CACHE_HOME"].startswith(mounts["work"]),
          "icestream must be able to write its cache")
    words = [word.replace(mounts["secrets"], "secrets").replace(mounts["work"] + "/", "").replace(mounts["config"] + "/", "")
             for word in container["args"]]
    return ["icestream", *words], [status for rule in rules for status in rule["values"]]


def slurm(text, _path):
    cases = re.findall(r"^([\d |]+)\)", text, re.MULTILINE) + re.findall(r"\bexit (\d+)", text)
    words = ["icestream", "run", "--resume", "--summary", "summary.json", "queue.yaml"]
    words += [word for name in re.findall(r"--set \"(\S+?)=", text) for word in ("--set", f"{name}={'4' if name == 'device.threads' else name}")]
    return words, [status for case in cases for status in re.findall(r"\d+", case)]


# ---- the checks ---------------------------------------------------------------------------------


def check_command(name, icestream, words):
    """The options and keys exist, and no word is a secret. `icestream validate` sees the same settings."""
    check(words[0].endswith("icestream") and words[1] == "run", f"{name}: {words[:2]}")
    environment = {**os.environ, "AWS_SHARED_CREDENTIALS_FILE": "secrets/credentials", "CUDA_VISIBLE_DEVICES": ""}
    settings = []
    for i, word in enumerate(words):
        if word.startswith("--set"):
            settings += ["--set", word.split("=", 1)[1] if "=" in word else words[i + 1]]
    for key in (setting.split("=")[0] for setting in settings[1::2]):
        # The password may be named by its file.
        check("password" not in key or key == "source.queue_password", f"{name}: {key} in a command line")
    if "source.queue_password" not in " ".join(settings):
        environment["ICESTREAM_QUEUE_PASSWORD"] = SECRET
    validated = subprocess.run([icestream, "validate", "queue.yaml", *settings], capture_output=True, text=True, check=False,
                               env=environment)
    check(validated.returncode == 0, f"{name}: {validated.stderr}")
    check(SECRET not in validated.stdout + validated.stderr, f"{name}: validate shows the password")
    # The command line is read before a broker is looked for, which is not there.
    options = [word for word in words[2:] if word != "queue.yaml"] + ["--set", "source.queue=redis://127.0.0.1:1/ice"]
    run = subprocess.run([icestream, "run", "queue.yaml", *options, "--set", 'sink.url=file:///tmp/{name}'],
                         capture_output=True, text=True, check=False, env=environment)
    check(run.returncode == 74 and "127.0.0.1:1" in run.stderr, f"{name}: status {run.returncode}: {run.stderr}")
    check(SECRET not in run.stdout + run.stderr, f"{name}: the run shows the password")


def main():
    icestream, recipes, docs = (os.path.realpath(path) for path in sys.argv[1:4])
    known = documented(docs) | KILLED
    readers = {"icestream-queue.sub": htcondor, "icestream-queue@.service": systemd, "queue-kubernetes.yaml": kubernetes,
               "slurm-array.sh": slurm}
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.umask(0o077)
        os.mkdir("secrets")
        for path in ("queue-password", "secrets/queue-password"):
            with open(path, "w", encoding="utf-8") as file:
                file.write(SECRET + "\n")
        with open("secrets/credentials", "w", encoding="utf-8") as file:
            file.write("[default]\naws_access_key_id = key\naws_secret_access_key = secret\n")
        os.chmod("secrets/queue-password", 0o440 if os.geteuid() == 0 else 0o400)
        with open(f"{recipes}/queue.yaml", encoding="utf-8") as file, open("queue.yaml", "w", encoding="utf-8") as copy:
            copy.write(file.read().replace("/usr/share/icestream/sites", recipes))
        for name, reader in readers.items():
            with open(f"{recipes}/{name}", encoding="utf-8") as file:
                text = file.read()
            check("ICESTREAM_QUEUE_PASSWORD=" not in text and "AWS_SECRET_ACCESS_KEY=" not in text, f"{name} has a secret")
            words, statuses = reader(text, f"{recipes}/{name}")
            found = {int(status) for status in statuses}
            check(found and found <= known, f"{name} names exit statuses {sorted(found - known)}, documented are {sorted(known)}")
            check_command(name, icestream, words)
            print(f"{name}: exit statuses {sorted(found)}")
        os.chdir("/")


if __name__ == "__main__":
    main()
