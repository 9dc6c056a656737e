/**
 * The shell script around a background command. It outlives the worker, so it is sh and needs nothing of ours. It feeds
 * the command from a FIFO, keeps the newest output in files of fixed size, and writes the exit code.
 */

import { BACKGROUND_LIMITS } from '../host-limits.ts';

/** Bytes of one file of output; the newest two or three are kept. */
export const SEGMENT_BYTES = 4 * 1024 * 1024;
export const KEPT_SEGMENTS = 3;

/**
 * Arguments: folder of the entry, shell, command. `ulimit -f` (units of 512 bytes in sh) ends `cat` at the size of a
 * segment with SIGXFSZ (128 + 25), and then the next segment starts. Any other failure (disk full) drops output but
 * never blocks the command. SIGUSR1 closes the command's input. The script survives SIGTERM, which everything it
 * started gets too: the command has its grace period, which would end with the parent of its keeper (wall.py).
 */
export const BACKGROUND_SCRIPT = `
dir=$1; shell=$2; command=$3
echo $$ >"$dir/pid.new" && mv "$dir/pid.new" "$dir/pid" || exit 1
log() {
  ulimit -f ${SEGMENT_BYTES / 512}
  n=0
  while :; do
    cat >"$dir/out.$n"
    code=$?
    [ "$code" -eq 153 ] || break
    n=$((n + 1))
    rm -f "$dir/out.$((n - ${KEPT_SEGMENTS}))"
  done 2>/dev/null
  [ "$code" -eq 0 ] || exec cat >/dev/null
}
mkfifo "$dir/in" "$dir/pipe" || exit 1
log <"$dir/pipe" &
exec 9<>"$dir/in"
interrupted=0
trap 'interrupted=1; exec 9>&-' USR1
trap 'interrupted=1' TERM
trap '' HUP
{ ${BACKGROUND_LIMITS}
  exec "$shell" -c "$command"
} <"$dir/in" >"$dir/pipe" 2>&1 9>&- &
child=$!
while :; do
  wait "$child"
  code=$?
  [ "$interrupted" -eq 1 ] || break
  interrupted=0
done
echo "$code" >"$dir/exit.new" && mv "$dir/exit.new" "$dir/exit"
exec 9>&-
wait
`;
