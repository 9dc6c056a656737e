/** Implements `tempoclaw heartbeat`: it shows, sets, removes and tests an agent's heartbeat, and lists its beats. */
import type { Command } from 'commander';
import { heartbeats } from '../resource/heartbeats.ts';
import { addApiCommand, addList, type Flags } from '#cli/api-commands.ts';
import { printFields } from '#cli/output.ts';
import type { z } from 'zod';
import type { heartbeatSchema } from '../schema/heartbeat.ts';
import type { scheduleRunSchema } from '../schema/schedule.ts';

type Heartbeat = z.infer<typeof heartbeatSchema>;
type ScheduleRun = z.infer<typeof scheduleRunSchema>;
import { RUN_COLUMNS } from './schedules.ts';

const USER = {
  user: { flags: '--user <user>', help: 'whose; that of no user when absent' },
} as const satisfies Flags;
const YES_NO = ['yes', 'no'] as const;

const CHANGES = {
  interval: { flags: '--every <seconds>', kind: 'number', help: 'at least 300; 1800 unless given' },
  prompt: { flags: '--prompt <text>', help: 'in place of the usual words; "" for those' },
  session: { flags: '--session <key>', help: 'where it speaks; nowhere unless given, or with ""' },
  active_hours: { flags: '--hours <from-to>', help: '08:00-22:00; "" for all times' },
  timezone: { flags: '--zone <name>', help: 'of --hours: Europe/Berlin; UTC unless given' },
  model: { flags: '--model <ref>', help: 'provider/model in place of the agent’s; "" for that one' },
  ack_max_chars: {
    flags: '--ack-max-chars <n>',
    kind: 'number',
    help: 'beside HEARTBEAT_OK in a quiet answer',
  },
  max_retries: { flags: '--retries <n>', kind: 'number', help: 'of a beat that has failed' },
  isolated: { flags: '--isolated <yes-or-no>', choices: YES_NO, help: 'each beat in a session of its own' },
  light: {
    flags: '--light <yes-or-no>',
    choices: YES_NO,
    help: 'HEARTBEAT.md is the only file of the prompt',
  },
  pause: { flags: '--pause', help: 'no beat begins by itself' },
  resume: { flags: '--resume' },
} as const satisfies Flags;

const yes = (value: string | undefined): boolean | undefined =>
  value === undefined ? undefined : value === 'yes';

export function register(parent: Command): void {
  const { getHeartbeat, setHeartbeat, deleteHeartbeat, testHeartbeat, listHeartbeatLogs } =
    heartbeats.operations;
  addApiCommand(parent, {
    word: 'show',
    help: 'an agent’s',
    path: getHeartbeat.path as '/v1/agents/:agent/heartbeat',
    flags: USER,
    print: ({ out }, { links, next_runs: runs, ...row }: Heartbeat) =>
      printFields(out, { ...row, next_runs: runs.join(' '), temporal: links.temporal }),
  });
  addApiCommand(parent, {
    word: 'set',
    help: 'wake an agent at intervals, or change how',
    method: setHeartbeat.method,
    path: setHeartbeat.path as '/v1/agents/:agent/heartbeat',
    flags: { ...USER, ...CHANGES },
    asks: ({ user }) => ({ user }),
    sends: ({ agent: _agent, user: _user, isolated, light, pause, resume, ...flags }) => ({
      ...Object.fromEntries(
        Object.entries(flags).map(([name, value]) => [name, value === '' ? null : value]),
      ),
      isolated_session: yes(isolated),
      light_context: yes(light),
      enabled: pause === undefined ? (resume === undefined ? undefined : true) : false,
    }),
    print: ({ out }, { agent, next_runs: [next], checklist }: Heartbeat) =>
      out.line(
        `${agent} ${next === undefined ? 'is not woken by itself' : `is woken next at ${next}`}${checklist === 'empty' ? ', once its HEARTBEAT.md has something to do' : ''}`,
      ),
  });
  addApiCommand(parent, {
    word: 'remove',
    help: 'wake it no more',
    method: deleteHeartbeat.method,
    path: deleteHeartbeat.path as '/v1/agents/:agent/heartbeat',
    flags: USER,
    answer: ({ agent }) => ({ agent, deleted: true }),
    print: ({ out }, _answer, { agent }) => out.line(`${agent} is woken no more`),
  });
  addApiCommand(parent, {
    word: 'test',
    help: 'begin a beat now',
    method: testHeartbeat.method,
    path: testHeartbeat.path as '/v1/agents/:agent/heartbeat/test',
    flags: USER,
    asks: ({ user }) => ({ user }),
    sends: () => ({}),
    print: ({ out }, _answer: object, { agent }) =>
      out.line(`a beat of ${agent} begins; see: tempoclaw heartbeat logs ${agent}`),
  });
  addList<ScheduleRun>(parent, {
    word: 'logs',
    help: 'how its beats went, newest first',
    path: listHeartbeatLogs.path,
    flags: USER,
    columns: RUN_COLUMNS,
    nothing: 'no beat yet',
  });
}
