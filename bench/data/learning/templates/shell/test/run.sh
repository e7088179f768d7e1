#!/usr/bin/env bash
# Runs every test in this folder and prints TAP.
cd "$(dirname "$0")/.." || exit 2
number=0
failed=0
for file in test/*_test.sh; do
  if grep -qxF "$(basename "$file")" test/exclude.txt; then continue; fi
  number=$((number + 1))
  if bash "$file"; then
    echo "ok $number - $(basename "$file" _test.sh)"
  else
    echo "not ok $number - $(basename "$file" _test.sh)"
    failed=1
  fi
done
echo "1..$number"
exit "$failed"
