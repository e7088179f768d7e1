# Lines for the log.

format_line() {
  case "$1" in
    DEBUG | INFO | WARN | ERROR) echo "$1 $2" ;;
    *) echo "unknown level: $1" >&2; return 2 ;;
  esac
}
