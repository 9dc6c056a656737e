/** How the start reaches a Temporal server: its own, or the one that the settings name. */
import { Connection } from '@temporalio/client';
import type { Config } from '#config';
import { temporalConnection } from '#config';

/** What a connection to the server at `address` takes: the settings' own, or to our dev server. */
export function connectionTo(config: Config, address: string): ReturnType<typeof temporalConnection> {
  return config.temporal.address === undefined ? { address } : temporalConnection(config);
}

/** Throws, with the remedy, when the server of the settings does not answer. */
export async function checkTemporal(config: Config): Promise<void> {
  const { namespace } = config.temporal;
  const target = temporalConnection(config);
  let connection: Connection | undefined;
  try {
    connection = await Connection.connect({ ...target, connectTimeout: '10 seconds' });
    await connection.workflowService.describeNamespace({ namespace });
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error);
    throw new Error(
      `Temporal at ${target.address}, namespace ${namespace}, does not answer: ${words}. Check TEMPORAL_ADDRESS ` +
        'and TEMPORAL_NAMESPACE, or unset the address to have a dev server started here.',
      { cause: error },
    );
  } finally {
    await connection?.close();
  }
}
