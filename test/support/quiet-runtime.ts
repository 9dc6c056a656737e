/** The SDK's one runtime of this process, without its log: what goes wrong on purpose in a test is not printed. */
import { Runtime } from '@temporalio/worker';

let installed = false;

/** Before the first worker; doing it twice changes nothing. `told` is for a test of what workers log. */
export function quietRuntime(told: (message: string) => void = () => undefined): void {
  if (installed) return;
  installed = true;
  const quiet = (): void => undefined;
  Runtime.install({
    logger: {
      log: (_level, message) => told(message),
      trace: quiet,
      debug: quiet,
      info: quiet,
      warn: quiet,
      error: quiet,
    },
    telemetryOptions: { logging: { filter: 'OFF', forward: {} } },
  });
}
