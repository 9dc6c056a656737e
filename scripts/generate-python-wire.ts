/**
 * Makes what the package for Python takes from TypeScript: _wire.py has the constants of tool hosts and the remedies,
 * _operations.py the operations of the OpenAPI document.
 */
import { HOST_LIMITS, HOST_WORK } from '#features/code-tools/contract.ts';
import { NOT_STARTED } from '#temporal/activity-once.ts';
import manifest from '../package.json' with { type: 'json' };
import { keepPage } from './generated-page.ts';
import { readDocument } from './openapi-document.ts';
import { REMEDIES } from '#domain/remedies.ts';

const MADE = 'Made by scripts/generate-python-wire.ts';

/** A literal of JSON is one of Python too, if it is a text or a number. */
const literal = (value: string | number): string => JSON.stringify(value);
const constants: Readonly<Record<string, string | number>> = {
  VERSION: manifest.version,
  RUN: HOST_WORK.run,
  PROBE: HOST_WORK.probe,
  NOT_STARTED,
  HEARTBEAT_SECONDS: HOST_WORK.heartbeatMs / 1_000,
  NOTICE_SECONDS: HOST_WORK.noticeMs / 1_000,
  DRAIN_SECONDS: HOST_WORK.drainMs / 1_000,
  AT_ONCE: HOST_LIMITS.atOnce,
  MAX_OUTPUT: HOST_LIMITS.output,
  MAX_MESSAGE: HOST_LIMITS.message,
  MIN_SECRET: HOST_LIMITS.hidden,
};
const remedies = Object.entries(REMEDIES).map(([code, words]) => `    ${literal(code)}: ${literal(words)},`);
keepPage(
  'python/tempoclaw/_wire.py',
  `"""${MADE}: what tool hosts and TempoClaw agree on, and what a caller does about each error."""

${Object.entries(constants)
  .map(([name, value]) => `${name} = ${literal(value)}`)
  .join('\n')}

REMEDIES: dict[str, str] = {
${remedies.join('\n')}
}
`,
);

const operations = Object.entries(await readDocument()).flatMap(([path, byMethod]) =>
  Object.entries(byMethod).map(([method, { parameters = [], responses }]) => {
    const query = parameters.filter((one) => one.in === 'query').map((one) => `${literal(one.name)},`);
    const [, answer] = Object.entries(responses).find(([status]) => status.startsWith('2')) ?? [];
    const isFeed = Object.hasOwn(answer?.content ?? {}, 'text/event-stream');
    return `    ${literal(`${method.toUpperCase()} ${path}`)}: ((${query.join(' ')}), ${isFeed ? 'True' : 'False'}),`;
  }),
);
keepPage(
  'python/tempoclaw/_operations.py',
  `"""${MADE} from the OpenAPI document: every operation of the API."""

#: Names of the fields of the query, and whether it is a stream of events.
OPERATIONS: dict[str, tuple[tuple[str, ...], bool]] = {
${operations.toSorted().join('\n')}
}
`,
);
