. lib/log.sh

[ "$(format_line ERROR 'disk is full')" = "ERROR disk is full" ] || exit 1
if format_line FATAL x 2>/dev/null; then exit 1; fi
echo "# an unknown level is an error, as it should be"
