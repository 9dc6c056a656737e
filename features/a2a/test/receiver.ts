/** A stack, and a site on this machine that it may send push notifications to. */
import { type Stack, startStack } from '#test/support/stack.ts';
import { startSite, type WebSite } from '#test/support/web-site.ts';

export interface Receiver {
  readonly stack: Stack;
  readonly site: WebSite;
  stop(): Promise<void>;
}

export async function startReceiver(): Promise<Receiver> {
  const ends: (() => void)[] = [];
  const site = await startSite({ after: (end) => void ends.push(end) }, (_request, reply) =>
    reply.writeHead(204).end(),
  );
  const allowPrivate = [site.place];
  const stack = await startStack({
    settings: `egress: { allowPrivate: ${JSON.stringify(allowPrivate)} }`,
    egress: { allowPrivate },
  } as object);
  return {
    stack,
    site,
    async stop() {
      await stack.stop();
      for (const end of ends) end();
    },
  };
}
