/** What every peer's program has in common: its settings, a server that takes turns, and the two things that it reaches. */
import { createServer } from 'node:http';
import { text as readText } from 'node:stream/consumers';

export interface PeerSettings {
  readonly port: number;
  readonly worldUrl: string;
  readonly stateDir: string;
  /** Empty when the peer does not need it; so are the next three. */
  readonly databaseUrl: string;
  readonly temporalAddress: string;
  readonly restateUrl: string;
  readonly restateAdminUrl: string;
}

export const settings = JSON.parse(process.env['LEAGUE'] ?? '{}') as PeerSettings;

/** The base URL of the model's server. */
export const MODEL_URL = `${settings.worldUrl}/v1`;

export const PAY = {
  name: 'pay',
  description: 'Pay the bill with this id. A second call pays it again.',
} as const;

/** Asks the service to pay. It has no key by which it could recognise a second request. */
export async function pay(id: string): Promise<string> {
  const response = await fetch(`${settings.worldUrl}/effects`, {
    method: 'POST',
    body: JSON.stringify({ id }),
  });
  if (!response.ok) throw new Error(`the service answered ${response.status}`);
  return ((await response.json()) as { text: string }).text;
}

/** Delivers what the user gets at the end of a turn. `ok` is false for a turn that has failed. */
export async function deliver(id: string, text: string, ok = true): Promise<void> {
  const response = await fetch(`${settings.worldUrl}/answers`, {
    method: 'POST',
    body: JSON.stringify({ id, text, ok }),
  });
  if (!response.ok) throw new Error(`the receiver answered ${response.status}`);
}

/** Serves `POST /turns`. `begin` resolves when the turn is accepted; it gets the same turn again when a caller repeats it. */
export function serveTurns(
  begin: (id: string, text: string) => Promise<unknown>,
  port = settings.port,
): void {
  createServer((request, response) => {
    if (request.method === 'GET') return void response.end('ready');
    void readText(request)
      .then((body) => JSON.parse(body) as { id: string; text: string })
      .then(({ id, text }) => begin(id, text))
      .then(
        () => response.writeHead(202).end(),
        (error: unknown) => response.writeHead(503).end(String(error).slice(0, 500)),
      );
  }).listen(port, '127.0.0.1');
}
