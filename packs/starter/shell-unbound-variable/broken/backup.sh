# Copies the files of a folder: backup.sh FROM TO
set -euo pipefail
for file in $(ls "$1"); do
  cp "$1/$file" "$2/$PREFIX$file"
done
