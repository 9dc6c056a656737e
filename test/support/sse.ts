/** Reads a server-sent event stream the way a client does. */
export interface SseEvent {
  readonly id: number;
  readonly event: string;
  readonly data: {
    readonly id: number;
    readonly type: string;
    readonly turn_id?: string;
    readonly data: Record<string, unknown>;
  };
}

export interface SseReader {
  readonly status: number;
  readonly headers: Headers;
  readonly comments: readonly string[];
  /** Events until one for which `isLast` holds (inclusive) or the stream's end. */
  until(isLast: (event: SseEvent) => boolean): Promise<readonly SseEvent[]>;
  close(): void;
}

export async function openSse(url: string, headers: Readonly<Record<string, string>>): Promise<SseReader> {
  const controller = new AbortController();
  const response = await fetch(url, { headers, signal: controller.signal });
  const comments: string[] = [];
  const parsed = parse(response, comments);
  return {
    status: response.status,
    headers: response.headers,
    comments,
    async until(isLast) {
      const events: SseEvent[] = [];
      for (;;) {
        const { value, done } = await parsed.next();
        if (done) return events;
        events.push(value);
        if (isLast(value)) return events;
      }
    },
    close: () => controller.abort(),
  };
}

async function* parse(response: Response, comments: string[]): AsyncGenerator<SseEvent, undefined> {
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const block = text.slice(0, end);
      text = text.slice(end + 2);
      if (block.startsWith(':')) comments.push(block);
      const fields = Object.fromEntries(
        block.split('\n').flatMap((line) => {
          const at = line.indexOf(': ');
          return at > 0 ? [[line.slice(0, at), line.slice(at + 2)]] : [];
        }),
      ) as Record<string, string>;
      if (fields['data'])
        yield { id: Number(fields['id']), event: fields['event'] ?? '', data: JSON.parse(fields['data']) };
    }
  }
  return undefined;
}
