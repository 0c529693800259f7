#!/bin/sh
# Write the hash-pinned pip locks from uv.lock (pip cannot read uv.lock). Run after `uv lock`.
set -eu
cd "$(dirname "$0")/.."
export_lock() { out=$1; shift; uv export --quiet --no-emit-project --no-header --no-annotate "$@" -o "locks/$out" >/dev/null; }
export_lock run.txt --no-dev --group build
export_lock dev.txt --only-group dev
export_lock model.txt --no-dev --extra model
