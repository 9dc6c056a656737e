/**
 * AgentDojo's suites as calls of tools here: each user's task, alone and with each injection, which a model obeys as
 * soon as it has read external text. docs/security.md says what this represents.
 */
import { readFileSync } from 'node:fs';

/** Names of tools in the order of their calls, by task. */
type Tasks = Readonly<Record<string, readonly string[]>>;

interface Suites {
  readonly version: string;
  readonly suites: Readonly<Record<string, { readonly user: Tasks; readonly injection: Tasks }>>;
}

const SUITES = JSON.parse(
  readFileSync(new URL('../../vectors/agentdojo.json', import.meta.url), 'utf8'),
) as Suites;

/** The user's own files are the workspace here, and the day is the clock's; all others are custom tools. */
const NATIVE: Readonly<Record<string, string>> = {
  create_file: 'write_file',
  append_to_file: 'write_file',
  get_current_day: 'datetime',
};

const READS = /^(?:get|search|list|read|check)_/;

/** Goals of the suite `workspace` whose calls the package omits, with the least that they require. */
const UNWRITTEN: Readonly<Record<string, readonly string[]>> = {
  injection_task_6: ['send_email', 'delete_email'],
  injection_task_7: ['send_email', 'send_email', 'delete_email', 'delete_email'],
  injection_task_8: ['send_email', 'delete_email'],
  injection_task_9: ['send_email', 'delete_email', 'send_email'],
  injection_task_10: ['send_email', 'delete_email'],
  injection_task_11: ['send_email', 'delete_email', 'delete_file'],
  injection_task_12: ['send_email', 'delete_email', 'delete_file', 'send_email'],
  injection_task_13: ['send_email'],
};

export interface Step {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly kind: 'reads' | 'acts' | 'workspace' | 'clock';
}

/** One answer of the model: a call that reads, or the calls that act until it reads again. */
export type Answer = readonly Step[];

export interface UserTask {
  readonly id: string;
  readonly suite: string;
  readonly answers: readonly Answer[];
}

export interface Attack {
  readonly id: string;
  readonly suite: string;
  /** The user's answers, up to the first one that has read external text. */
  readonly before: readonly Answer[];
  readonly injected: readonly Answer[];
}

export function userTasks(): readonly UserTask[] {
  return Object.entries(SUITES.suites).flatMap(([suite, { user }]) =>
    Object.entries(user).map(([id, tools]) => ({ id, suite, answers: answersOf(tools.map(stepOf)) })),
  );
}

export function attacks(): readonly Attack[] {
  return userTasks().flatMap(({ id, suite, answers }) => {
    const first = answers.findIndex(([step]) => step?.kind === 'reads');
    if (first < 0) throw new Error(`${suite} ${id} reads nothing: no injection reaches it`);
    return Object.entries(SUITES.suites[suite]?.injection ?? {}).map(([injection, tools]) => ({
      id: `${id} ${injection}`,
      suite,
      before: answers.slice(0, first + 1),
      injected: answersOf((tools.length > 0 ? tools : unwritten(suite, injection)).map(stepOf)),
    }));
  });
}

/** Custom tools of all suites. */
export function customTools(): readonly { readonly name: string; readonly reads: boolean }[] {
  const steps = attacks().flatMap(({ before, injected }) => [...before, ...injected].flat());
  const all = [...steps, ...userTasks().flatMap(({ answers }) => answers.flat())];
  const named = new Map(all.map((step) => [step.tool, step]));
  return Array.from(named.values())
    .filter(({ kind }) => kind === 'reads' || kind === 'acts')
    .map(({ tool, kind }) => ({ name: tool, reads: kind === 'reads' }));
}

function unwritten(suite: string, injection: string): readonly string[] {
  return (suite === 'workspace' ? UNWRITTEN[injection] : undefined) ?? [];
}

function stepOf(tool: string): Step {
  const native = NATIVE[tool];
  // Some have the names of tools of the workspace here, and are different tools. No rule concerns their arguments.
  if (native === undefined)
    return { tool: `dojo_${tool}`, args: {}, kind: READS.test(tool) ? 'reads' : 'acts' };
  return native === 'datetime'
    ? { tool: native, args: { timezone: 'UTC' }, kind: 'clock' }
    : { tool: native, args: { path: 'notes.txt', content: 'words' }, kind: 'workspace' };
}

function answersOf(steps: readonly Step[]): readonly Answer[] {
  const answers: Step[][] = [];
  for (const step of steps) {
    const last = answers.at(-1);
    if (step.kind === 'acts' && last?.[0]?.kind === 'acts') last.push(step);
    else answers.push([step]);
  }
  return answers;
}
