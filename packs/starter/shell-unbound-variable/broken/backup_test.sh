set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/from" "$folder/to"
echo hello > "$folder/from/my notes.txt"
bash backup.sh "$folder/from" "$folder/to"
cmp "$folder/from/my notes.txt" "$folder/to/my notes.txt"
echo ok
