/** The SDK's one runtime of this process, without its log: what goes wrong on purpose in a test is not printed. */
import { Runtime } from '@temporalio/worker';

let installed = false;
let hear = (_message: string): void => undefined;

/** Before the first worker; a process has one, so of several calls the last one that gives `told` hears what workers log. */
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
