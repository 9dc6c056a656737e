/** Says something to an agent and prints its answer as it is written: `talk.ts SESSION TEXT`. */
import { env } from 'node:process';
import { createClient, TempoClawError } from '@tempoclaw/client';

const [key = 'first', text = 'What can you do?'] = process.argv.slice(2);
const client = createClient({
  url: env['TEMPOCLAW_URL'] ?? 'http://127.0.0.1:7400',
  apiKey: env['TEMPOCLAW_API_KEY'] ?? '',
});
const session = client.session(key);

try {
  const { turn_id } = await session.send(text);
  for await (const event of session.events()) {
    if (event.turn_id !== turn_id) continue;
    if (event.type === 'message.completed') console.log(event.data['text']);
    if (event.type === 'approval.requested')
      console.log(`waits for a person: ${String(event.data['summary'])}`);
    if (['turn.completed', 'turn.failed', 'turn.stopped'].includes(event.type)) break;
  }
} catch (error) {
  if (!(error instanceof TempoClawError)) throw error;
  console.error(`${error.code}: ${error.message}\n${error.remedy}`);
  process.exitCode = 1;
}
