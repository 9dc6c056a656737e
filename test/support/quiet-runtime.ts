/** The SDK's one runtime of this process, without its log, so that errors which a test causes are not printed. */
import { Runtime } from '@temporalio/worker';

let installed = false;
let hear = (_message: string): void => undefined;

/**
 * Must run before the first worker. A process has one runtime, so of several calls, the last one with `notice` gets
 * what workers log.
 */
export function quietRuntime(notice?: (message: string) => void): void {
  if (notice) hear = notice;
  if (installed) return;
  installed = true;
  const quiet = (): void => undefined;
  Runtime.install({
    logger: {
      log: (_level, message) => hear(message),
      trace: quiet,
      debug: quiet,
      info: quiet,
      warn: quiet,
      error: quiet,
    },
    telemetryOptions: { logging: { filter: 'OFF', forward: {} } },
  });
}
