/**
 * Temporal's own samples of agents in TypeScript, in short: `ai-sdk` (toolsAgent) and `openai-agents` (tools). Lines that end with
 * `// guard` are what their authors add for TempoClaw. Each is a folder of a project with the packages of `AGENT_PACKAGES`.
 */

/** What such a project has, in exact versions that go together. */
export const AGENT_PACKAGES: readonly string[] = [
  ...['activity', 'ai-sdk', 'client', 'common', 'openai-agents', 'worker', 'workflow'].map(
    (name) => `@temporalio/${name}@1.23.0`,
  ),
  '@ai-sdk/mcp@2.0.0',
  '@ai-sdk/openai-compatible@3.0.92',
  '@openai/agents-core@0.11.6',
  '@openai/agents-openai@0.11.6',
  '@opentelemetry/sdk-trace-base@1.30.1',
  'ai@7.0.173',
  'openai@6.35.0',
  'zod@4.6.7',
];

/** The tool of both: its effect is a line of a file, and `slow` places wait after theirs. */
const ACTIVITIES = `
import { appendFileSync, readFileSync } from 'node:fs';
import { Context } from '@temporalio/activity';

export async function bookTrip({ place }) {
  appendFileSync(process.env.EFFECTS, \`\${place}\\n\`);
  while (place.startsWith('slow') && !readFileSync(process.env.EFFECTS, 'utf8').includes('go on')) {
    Context.current().heartbeat();
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return \`booked \${place}\`;
}
`;

const OPTIONS = `{ startToCloseTimeout: '1 minute', heartbeatTimeout: '2 seconds' }`;

const WORKER_END = `
process.send('ready');
await worker.run();
`;

const GUARD_IMPORT = `import { TempoClawPlugin } from '@tempoclaw/temporal'; // guard`;
const GUARD = `
    new TempoClawPlugin({ // guard
      url: process.env.TEMPOCLAW_URL, // guard
      key: process.env.TEMPOCLAW_API_KEY, // guard
      agent: 'travel', // guard
      tools: { bookTrip: { replay: 'once' } }, // guard
    }), // guard`;

const worker = (imports: string, plugin: string, more = '', tool = ''): string => `
import { NativeConnection, Runtime, DefaultLogger, Worker } from '@temporalio/worker';
import * as activities from './activities.js';
${imports}
${GUARD_IMPORT}

Runtime.install({ logger: new DefaultLogger('ERROR') });
const connection = await NativeConnection.connect({ address: process.env.ADDRESS });
const worker = await Worker.create({
  connection,
  taskQueue: process.env.TASK_QUEUE,
  workflowsPath: new URL('./workflows.js', import.meta.url).pathname,
  activities,
  ${more}
  plugins: [
    ${plugin},${GUARD.replace("'once'", `'once'${tool}`)}
  ],
});
${WORKER_END}`;

export const SAMPLES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'ai-sdk': {
    'activities.js': ACTIVITIES,
    'workflows.js': `
import { generateText, stepCountIs, tool } from 'ai';
import { temporalProvider } from '@temporalio/ai-sdk/workflow';
import { proxyActivities } from '@temporalio/workflow';
import z from 'zod';

const { bookTrip } = proxyActivities(${OPTIONS});

export async function agent(prompt) {
  const result = await generateText({
    model: temporalProvider.languageModel('scripted'),
    prompt,
    tools: {
      bookTrip: tool({
        description: 'Book a trip',
        inputSchema: z.object({ place: z.string() }),
        execute: bookTrip,
      }),
    },
    stopWhen: stepCountIs(5),
  });
  return result.text;
}
`,
    'worker.js': worker(
      `import { AiSdkPlugin } from '@temporalio/ai-sdk';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';`,
      `new AiSdkPlugin({
      modelProvider: createOpenAICompatible({ name: 'scripted', baseURL: process.env.MODEL_URL, apiKey: 'none' }),
    })`,
    ),
  },
  'openai-agents': {
    'activities.js': ACTIVITIES,
    'workflows.js': `
import { Agent } from '@openai/agents-core';
import { TemporalOpenAIRunner, activityAsTool } from '@temporalio/openai-agents/workflow';

export async function agent(prompt) {
  const bookTrip = activityAsTool(
    {
      name: 'bookTrip',
      description: 'Book a trip',
      parameters: {
        type: 'object',
        properties: { place: { type: 'string' } },
        required: ['place'],
        additionalProperties: false,
      },
    },
    ${OPTIONS},
  );
  const traveller = new Agent({ name: 'traveller', model: 'scripted', tools: [bookTrip] });
  const result = await new TemporalOpenAIRunner().run(traveller, prompt);
  return result.finalOutput ?? '';
}
`,
    'worker.js': worker(
      `import OpenAI from 'openai';
import { OpenAIAgentsPlugin } from '@temporalio/openai-agents';
import { OpenAIProvider } from '@openai/agents-openai';`,
      `new OpenAIAgentsPlugin({
      modelProvider: new OpenAIProvider({
        openAIClient: new OpenAI({ apiKey: 'none', baseURL: process.env.MODEL_URL }),
        useResponses: false,
      }),
    })`,
      `bundlerOptions: {
    webpackConfigHook: (config) => ({
      ...config,
      resolve: { ...config.resolve, conditionNames: ['require', 'browser', 'default'] },
    }),
  },`,
      ', returnsRefusals: true',
    ),
  },
};
