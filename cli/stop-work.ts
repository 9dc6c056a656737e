/** Ends work that agents do for each other, whichever kind it is: the command `stop ID` of each. */
import { type ApiOptions, createContext, pathOf } from './command-context.ts';
import { printJson } from './output.ts';

export type StopOptions = ApiOptions & { readonly reason?: string };

/** For commander's `action`. The API takes the same stop again without harm. */
export function stopWork(kind: 'subagents' | 'delegations' | 'evaluations') {
  return async (id: string, options: StopOptions): Promise<void> => {
    const { client, out, json } = createContext(options);
    const body = options.reason === undefined ? {} : { reason: options.reason };
    const receipt = await client.post<{ readonly id: string }>(pathOf(kind, id, 'stop'), body);
    if (json) return printJson(out, receipt);
    out.line(`stop was sent to ${receipt.id}`);
  };
}
