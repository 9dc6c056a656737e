#!/bin/sh
# Subjects of the commits since $1, by kind (Conventional Commits). Runs in the skill's folder, which is below the repository.
set -eu
git rev-parse --quiet --verify "$1" > /dev/null || { echo "there is no tag or commit $1" >&2; exit 1; }
for kind in 'feat' 'fix'; do
  echo "$kind:"
  git log --format='- %s' "$1..HEAD" | grep -E "^- $kind(\(.*\))?!?:" || true
done
echo 'breaking:'
git log --format='- %s' "$1..HEAD" | grep -E '^- [a-z]+(\(.*\))?!:' || true
