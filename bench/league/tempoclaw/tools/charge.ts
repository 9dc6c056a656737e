/** The same tool for a service that can be asked whether a bill is paid. */
import { tool, z } from 'tempoclaw';
import pay from './pay.ts';

export default tool({
  description: pay.description,
  input: z.object({ id: z.string().max(200).describe('Id of the bill') }),
  replay: 'once',
  run: (input, context) => pay.run(input, context),
  async probe({ id }, { signal }) {
    const response = await fetch(`${process.env['LEAGUE_WORLD']}/effects/${encodeURIComponent(id)}`, {
      signal,
    });
    if (!response.ok) throw new Error(`the service answered ${response.status}`);
    return ((await response.json()) as { count: number }).count > 0 ? `paid ${id}` : undefined;
  },
});
