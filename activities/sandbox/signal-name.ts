/** `SIGKILL` for 9, as Node names what ended a process. */
import { constants } from 'node:os';

const NAMES = new Map(Object.entries(constants.signals).map(([name, number]) => [number, name]));

export function signalName(number: number): string | undefined {
  return NAMES.get(number);
}
