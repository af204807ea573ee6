#!/bin/sh
# Write requirements.txt: every package the book needs, for every platform, at one version.
set -eu
new=$(mktemp)
trap 'rm -f "$new"' EXIT
{
  echo "# The full lock: \`make lock\` writes it from pyproject.toml. Binder reads it too."
  uv pip compile --quiet --universal --python-version 3.11 --all-extras --no-annotate --no-header \
    --no-emit-find-links --no-emit-index-url "$@" pyproject.toml
  echo "-e ."
} > "$new"
cat "$new" > requirements.txt
