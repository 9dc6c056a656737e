/**
 * A Restate service with the AI SDK, as https://docs.restate.dev/ai/sdk-integrations/vercel-ai-sdk recommends: the
 * middleware journals each model call, and the tool's `execute` is a `ctx.run`. Restate's server calls the service again
 * when it has died.
 */
import { createServer } from 'node:http2';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import * as restate from '@restatedev/restate-sdk';
import { durableCalls } from '@restatedev/vercel-ai-middleware';
import { generateText, stepCountIs, tool, wrapLanguageModel } from 'ai';
import { z } from 'zod';
import { deliver, MODEL_URL, PAY, pay, serveTurns, settings } from '../served.ts';

const provider = createOpenAICompatible({ name: 'league', baseURL: MODEL_URL, apiKey: 'none' });

const agent = restate.service({
  name: 'agent',
  handlers: {
    run: async (ctx: restate.Context, { id, prompt }: { id: string; prompt: string }) => {
      const model = wrapLanguageModel({
        model: provider('script'),
        middleware: durableCalls(ctx, { maxRetryAttempts: 3 }),
      });
      const { text } = await generateText({
        model,
        prompt,
        tools: {
          pay: tool({
            description: PAY.description,
            inputSchema: z.object({ id: z.string() }),
            execute: (input) => ctx.run('pay', () => pay(input.id)),
          }),
        },
        stopWhen: [stepCountIs(200)],
        maxRetries: 3,
      });
      await ctx.run('deliver', () => deliver(id, text));
    },
  },
});

// The service's own port follows the one that takes turns; its address stays the same over restarts.
const port = settings.port + 400;
createServer(restate.createEndpointHandler({ services: [agent] })).listen(port, '127.0.0.1');
const json = { 'content-type': 'application/json' };
const registered = await fetch(`${settings.restateAdminUrl}/deployments`, {
  method: 'POST',
  headers: json,
  body: JSON.stringify({ uri: `http://127.0.0.1:${port}`, force: true }),
});
if (!registered.ok) throw new Error(`the service was not registered: ${await registered.text()}`);

serveTurns(async (id, prompt) => {
  const sent = await fetch(`${settings.restateUrl}/agent/run/send`, {
    method: 'POST',
    headers: { ...json, 'idempotency-key': id },
    body: JSON.stringify({ id, prompt }),
  });
  if (!sent.ok) throw new Error(`Restate answered ${sent.status}: ${await sent.text()}`);
});
