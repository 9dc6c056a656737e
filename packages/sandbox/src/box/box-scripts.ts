/**
 * The shell scripts that run inside a container. Its image must have sh, date, grep, sleep, tr, and should have bash.
 *
 * A property that nobody inside can forge shows whose process is whose: a process that the engine started has the
 * parent 0. All others descend from one of those, or were left to process 1 when their parent ended.
 */
import type { Marks } from '../marks.ts';

/**
 * Process 1. It reaps ended processes, and ends those that exceed their time (their worker is dead, or the engine was
 * unavailable) or have no owner. It ends the container itself $1 seconds after the last command, $2 seconds after its
 * start when nothing runs, and after twice that in any case. The last process id shows whether anything ran while it
 * slept: its own sleep takes one.
 */
export const keeperScript = ({ until }: Pick<Marks, 'until'>): string => `
limit=$1; old=$2; idle=0; age=0; before=0
while :; do
  sleep 15
  age=$((age + 15)); owners=0; strays=
  for d in /proc/[0-9]*; do
    p=\${d#/proc/}
    [ "$p" = 1 ] && continue
    read -r line <"$d/stat" || continue
    set -- \${line##*) }
    if [ "$2" != 0 ]; then strays="$strays $p"; continue; fi
    owners=1
    until=$(tr '\\0' '\\n' <"$d/environ" | grep '^${until}=')
    [ -n "$until" ] && [ "$(date +%s)" -gt "\${until#*=}" ] && kill -9 "$p"
  done 2>/dev/null
  [ "$owners" = 0 ] && [ -n "$strays" ] && kill -9 $strays 2>/dev/null
  read -r a b c d last </proc/loadavg
  if [ "$owners" = 0 ] && [ "$last" -le $((before + 1)) ]; then idle=$((idle + 15)); else idle=0; fi
  before=$last
  [ "$idle" -ge "$limit" ] && exit 0
  [ "$age" -ge "$old" ] && [ "$owners" = 0 ] && exit 0
  [ "$age" -ge $((old * 2)) ] && exit 0
done
`;

/**
 * Defines \`victims\` ($mark: NAME=value of the environment): the ids of the processes of the call with the mark, and
 * of strays when no other call runs. Processes of others and the caller itself are left alone.
 */
const VICTIMS = `
victims() {
  mine=" $(grep -lzxF "$mark" /proc/[0-9]*/environ 2>/dev/null | tr -dc '0-9\\n' | tr '\\n' ' ') "
  all= roots=
  for d in /proc/[0-9]*; do
    p=\${d#/proc/}
    read -r line <"$d/stat" || continue
    set -- \${line##*) }
    case $1 in Z | X) continue ;; esac
    # One that is ending has no memory and no environment any more, and must not be taken for another call's.
    [ "\${21}" = 0 ] && continue
    eval "up_$p=$2 ses_$p=$4"
    all="$all $p"
    if [ "$2" = 0 ] && [ "$p" != 1 ] && [ "$p" != $$ ]; then
      case $mine in *" $p "*) ;; *) roots="$roots $p" ;; esac
    fi
  done 2>/dev/null
  eval "mine_session=\\$ses_$$"
  found=
  for p in $all; do
    [ "$p" = 1 ] || [ "$p" = $$ ] && continue
    eval "s=\\$ses_$p"
    # Process 1 and its sleep; nobody can join a session.
    [ "$s" = 1 ] && continue
    q=$p
    while [ "$q" -gt 1 ]; do
      eval "u=\\\${up_$q:-1}"
      [ "$u" = 0 ] && break
      q=$u
    done
    case " $roots " in *" $q "*) continue ;; esac
    if [ "$q" != 1 ]; then
      # Below the one that asks: a command's own runner asks for all below it.
      found="$found $p"
      continue
    fi
    case $mine in *" $p "*) found="$found $p" ; continue ;; esac
    [ -z "$roots" ] && found="$found $p"
  done
}
# Whether none is left. Looks twice: a process that was started after the list was made, by one that had ended when it was
# looked at, is in the next list.
none_left() {
  victims
  [ -n "$found" ] && return 1
  victims
  [ -z "$found" ]
}
# SIGTERM, $1 tenths of a second, SIGKILL until none is left; fails when some cannot be ended.
end_all() {
  count=0
  none_left && return 0
  for p in $found; do count=$((count + 1)); done
  kill -TERM $found 2>/dev/null; kill -CONT $found 2>/dev/null
  i=0
  while [ "$i" -lt "$1" ]; do
    none_left && return 0
    sleep 0.1 || sleep 1
    i=$((i + 1))
  done
  i=0
  while [ "$i" -lt 20 ]; do
    none_left && return 0
    kill -KILL $found 2>/dev/null
    sleep 0.1 || sleep 1
    i=$((i + 1))
  done
  return 1
}
`;

/**
 * Runs a command to its end and ends its leftover processes. $1 nonce, $2 mark, $3 tenths of a second between SIGTERM
 * and SIGKILL, $4 command. The last text on stderr is that of TRAILER. The shell's remark on a child that a signal
 * ended distinguishes that from an exit code above 128.
 */
export const RUNNER = `
${VICTIMS}
nonce=$1; mark=$2; grace=$3; command=$4
shell=/bin/sh
[ -x /bin/bash ] && shell=/bin/bash
exec 3>&1 4>&2 5<&0
remarks=$(
  exec 2>&1
  (exec <&5 >&3 2>&4 3>&- 4>&- 5<&-; exec "$shell" -c "$command")
  echo "=$?"
)
code=\${remarks##*=}
signal=0 clean=1
[ "$remarks" = "=$code" ] || signal=1
end_all "$grace" 2>/dev/null || clean=0
printf '\\036%s %s %s %s %s\\036' "$nonce" "$code" "$signal" "$clean" "\${count:-0}" >&2
exit "$code"
`;

/** Printed by ENDER when nothing remains: the engine knows an exit code only some time after the output's end. */
export const NONE_LEFT = 'none-left';

/** Ends all processes of a call from outside of it. $1 mark, $2 tenths of a second. */
export const ENDER = `
${VICTIMS}
mark=$1
end_all "$2" 2>/dev/null && echo ${NONE_LEFT}
`;

/** Longest form of the trailer, in bytes. */
export const TRAILER_BYTES = 64;

/** The runner's report of how its command ended. */
export interface Trailer {
  readonly code: number;
  readonly signalled: boolean;
  /** None of its processes runs any more. */
  readonly clean: boolean;
  /** Number of processes that it had left running. */
  readonly left: number;
  readonly bytes: number;
}

/** Reads the trailer at the end of stderr; undefined when it is not there (yet). */
export function readTrailer(end: Buffer, nonce: string): Trailer | undefined {
  if (end.at(-1) !== 0x1e) return undefined;
  const found = new RegExp(`\\x1e${nonce} (\\d{1,3}) ([01]) ([01]) (\\d{1,6})\\x1e$`).exec(
    end.toString('latin1'),
  );
  if (!found) return undefined;
  const [whole, code, signalled, clean, remaining] = found;
  return {
    code: Number(code),
    signalled: signalled === '1',
    clean: clean === '1',
    left: Number(remaining),
    bytes: whole.length,
  };
}
