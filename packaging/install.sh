#!/bin/sh
# Installs the program of Capsid @VERSION@ for this machine into ~/.local/bin, after checking its checksum.
#
#   CAPSID_BIN_DIR        another folder
#   CAPSID_DOWNLOAD_URL   where the files of the release are: another address
set -eu

version=@VERSION@
address=${CAPSID_DOWNLOAD_URL:-@DOWNLOAD@}
folder=${CAPSID_BIN_DIR:-$HOME/.local/bin}

stop() {
  echo "capsid: $*" >&2
  exit 1
}

fetch() {
  if command -v curl >/dev/null; then
    curl --proto '=http,https' --fail --silent --show-error --location --output "$2" "$1"
  elif command -v wget >/dev/null; then
    wget --quiet --output-document="$2" "$1"
  else
    stop "curl or wget is needed"
  fi || stop "$1 cannot be downloaded"
}

# All in a function: a download of this script that was cut off does nothing.
main() {
  [ -n "$address" ] || stop "CAPSID_DOWNLOAD_URL is empty: set it to where the files of the release are"
  case $(uname -m) in
    x86_64 | amd64) processor=x86_64 ;;
    aarch64 | arm64) processor=aarch64 ;;
    *) stop "there is no program for $(uname -m): build from the sources with \`make install\`" ;;
  esac
  case $(uname -s) in
    Linux) system=unknown-linux-musl ;;
    Darwin) system=apple-darwin ;;
    *) stop "there is no program for $(uname -s): use WSL on Windows, or build from the sources" ;;
  esac
  name=capsid-$version-$processor-$system
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT

  fetch "$address/$name.tar.gz" "$work/$name.tar.gz"
  fetch "$address/SHA256SUMS" "$work/SHA256SUMS"
  grep " $name.tar.gz\$" "$work/SHA256SUMS" >"$work/sum" || stop "SHA256SUMS does not name $name.tar.gz"
  if command -v sha256sum >/dev/null; then check="sha256sum -c"; else check="shasum -a 256 -c"; fi
  (cd "$work" && $check sum >/dev/null 2>&1) || stop "$name.tar.gz is not the file of the release: its checksum is another"

  tar -C "$work" -xzf "$work/$name.tar.gz"
  mkdir -p "$folder"
  # Renamed into place, so that a program that runs is not written to.
  cp "$work/$name/capsid" "$folder/.capsid.new"
  chmod 755 "$folder/.capsid.new"
  mv "$folder/.capsid.new" "$folder/capsid"
  "$folder/capsid" --version
  case :$PATH: in
    *:"$folder":*) ;;
    *) echo "capsid: put $folder on your PATH, or start $folder/capsid" ;;
  esac
}

main
