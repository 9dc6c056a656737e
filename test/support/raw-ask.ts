/** A request with headers that `fetch` would not send, such as a foreign `host`. */
import { request } from 'node:http';

export function rawAsk(
  url: string,
  method: string,
  headers: Readonly<Record<string, string>>,
  body = '',
): Promise<{ readonly status: number; readonly text: string; readonly cookies: readonly string[] }> {
  return new Promise((resolve, reject) => {
    const requested = request(url, { method, headers }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      answer.on('error', reject);
      answer.on('end', () =>
        resolve({ status: answer.statusCode ?? 0, text, cookies: answer.headers['set-cookie'] ?? [] }),
      );
    });
    requested.on('error', reject).end(body);
  });
}
