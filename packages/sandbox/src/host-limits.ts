/**
 * What holds for a command that runs on the host, as lines of sh before it. The environment is
 * command-environment's.
 *
 * There is no limit on address space: V8, Go and sanitizers reserve far more than they use. Instead the kernel is told to
 * take commands first when memory is short, so that neither we nor a database go.
 */

/** One file, in blocks of 512 bytes: 16 GiB. */
const FILE_BLOCKS = 33_554_432;
/** Of one process; no foreground command may run longer than five minutes by the clock. */
const CPU_SECONDS = 3_600;
/** All threads of the user: above what people have, below what brings a machine down. Root has no such limit. */
const THREADS = 16_384;

/** A limit that cannot be set (it is lower already) stays as it is. */
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
