/** The tool of all sides, as docs/code-tools.md recommends. A second payment would do harm, and nothing tells whether one happened. */
import { tool, z } from 'tempoclaw';

export default tool({
  description: 'Pay the bill with this id. A second call pays it again.',
  input: z.object({ id: z.string().max(200).describe('Id of the bill') }),
  replay: 'once',
  async run({ id }, { signal }) {
    const response = await fetch(`${process.env['LEAGUE_WORLD']}/effects`, {
      method: 'POST',
      body: JSON.stringify({ id }),
      signal,
    });
    if (!response.ok) throw new Error(`the service answered ${response.status}`);
    return ((await response.json()) as { text: string }).text;
  },
});
