/** A client of the API that runs here, whatever other one the settings of this shell name. */
import { type Client, createClient } from '#cli/client.ts';
import { findTarget } from '#cli/target.ts';

const NOTHING = { url: undefined, apiKey: undefined, stateDir: undefined };

export function runningClient(stateDir: string): Client {
  return createClient(findTarget({ stateDir }, NOTHING, stateDir));
}
