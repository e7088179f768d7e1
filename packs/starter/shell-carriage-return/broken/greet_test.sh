set -euo pipefail
chmod +x greet.sh
[ "$(./greet.sh Ada)" = "Hello, Ada" ]
echo ok
