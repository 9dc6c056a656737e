/**
 * Limits for a command on the host, as lines of sh before it. command-environment sets the environment.
 *
 * There is no limit on address space: V8, Go and sanitizers reserve far more than they use. Instead the kernel is
 * configured to end commands first when memory is short, so that neither we nor a database are ended.
 */

/** Size of one file, in blocks of 512 bytes: 16 GiB. */
const FILE_BLOCKS = 33_554_432;
/** CPU seconds of one process; no foreground command may run longer than five minutes of real time. */
const CPU_SECONDS = 3_600;
/** All threads of the user: more than people have, less than what overloads a machine. Root has no such limit. */
const THREADS = 16_384;

/** A limit that cannot be set (because it is already lower) stays unchanged. */
const COMMON = `{
  ulimit -c 0
  ulimit -f ${FILE_BLOCKS}
  ulimit -u ${THREADS} || ulimit -p ${THREADS}
  echo 1000 >/proc/self/oom_score_adj
} 2>/dev/null`;

/** For commands that end with their call. */
export const HOST_LIMITS = `${COMMON}
ulimit -t ${CPU_SECONDS} 2>/dev/null`;

/** For background commands, which may run for days. */
export const BACKGROUND_LIMITS = COMMON;
