/**
 * Fetches addresses that somebody else chose: `node examples/fetch-urls.ts [--internal HOST:PORT]… URL…`. It prints the
 * status and size of each answer, or the reason why there is none, and the record of the exchange.
 */
import { parseArgs } from 'node:util';
import { createEgress, EgressError } from '@tempoclaw/egress';
import { resolveHost } from '@tempoclaw/egress/resolve-host';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { internal: { type: 'string', multiple: true } },
});

const egress = createEgress<string>({
  resolve: resolveHost,
  record: async ({ labels, method, host, bytes, problem }) =>
    console.log(
      `recorded for ${labels}: ${method} ${host || '?'}, ${bytes} bytes, ${problem ?? 'no problem'}`,
    ),
});
const client = egress.open({ labels: 'the example', rules: { internalHosts: values.internal } });

for (const url of positionals)
  try {
    const answer = await client.fetch(url);
    const { length } = await answer.text();
    console.log(`${answer.url}: ${answer.status}, ${length} characters`);
  } catch (error) {
    if (!(error instanceof EgressError)) throw error;
    console.log(`${error.isRefused ? 'refused' : 'failed'} (${error.rule}): ${error.message}`);
  }
await client.close();
