/** One tool call as the ledger has it, with the reasons of its verdict, its requests to the outside and its work elsewhere. */
import type { Operations } from '@tempoclaw/client';
import { login } from '../../api/session.ts';
import { useRequest } from '../../api/use-request.ts';
import { hrefOf } from '../../app/router.ts';
import { durationText } from '../../components/amounts.ts';
import { ExactText, Pre } from '../../components/exact-text.tsx';
import { Fact } from '../../components/fact.tsx';
import { NotYet } from '../../components/notices.tsx';
import { NewTab } from '../../components/page-frame.tsx';
import type { Step, Turn } from './timeline.ts';

type Call = Step['calls'][number];
type Work = Call['work'][number];
type Record = Operations['GET /v1/turns/{id}/steps/{step}']['answer']['tool_calls'][number];

/** What a code means for a person who must do something about it. */
const OUTCOMES: Readonly<globalThis.Record<string, string>> = {
  OutcomeUnknown:
    'Nobody knows whether it took effect: its worker was lost after it had begun. It was not run again, so find out before you repeat it.',
};

export function outcomeOf({ state, ok, code }: Pick<Record, 'state' | 'ok' | 'code'>): string {
  if (state !== 'done') return state === 'running' ? 'it runs' : 'it has not begun';
  return ok ? 'ok' : (code ?? 'failed');
}

interface CallPanelProps {
  readonly turn: Turn;
  readonly call: Call;
  readonly record: Record;
  /** The piece of its work that is chosen. */
  readonly work: Work | undefined;
}

export function CallPanel({ turn, call, record, work }: CallPanelProps) {
  const { approval, attempts } = call;
  const meaning = OUTCOMES[record.code ?? ''];
  return (
    <>
      <h2>
        <ExactText text={call.summary} />
      </h2>
      <p class={`outcome ${record.ok === false ? 'bad' : 'good'}`}>{outcomeOf(record)}</p>
      {meaning && <p class="bad">{meaning}</p>}
      <dl class="facts">
        <Fact name="Asked for">
          {new Date(record.created_at).toLocaleString()}
          {record.called_as !== record.tool && ` as ${record.called_as}`}
        </Fact>
        {attempts > 0 && <Fact name="Took">{tookOf(record, attempts)}</Fact>}
        <Fact name="The rules then">
          <ExactText text={[record.verdict, record.reason].filter(Boolean).join(': ')} />
        </Fact>
        <RulesNow turn={turn} record={record} />
        {record.hooks?.map((hook, at) => (
          <Fact key={at} name="Hook">
            <ExactText text={Object.values(hook).filter(isWord).join(' · ')} />
          </Fact>
        ))}
        {approval && (
          <Fact name="Approval">
            <a href={`${hrefOf('inbox')}?id=${encodeURIComponent(approval.id)}`}>{approval.status}</a>
            {approval.decided_by && ` by ${approval.decided_by}`}
          </Fact>
        )}
        <ChangedFiles calls={[record]} />
        {(work ? [work] : call.work).map((one) => (
          <WorkFact key={one.id} work={one} />
        ))}
      </dl>
      <h3>Arguments</h3>
      <Pre value={record.args} />
      <Result record={record} />
      <h3>Requests to the outside</h3>
      {isOfUser() ? <p>Only keys without a user see them.</p> : <Egress call={record.id} />}
    </>
  );
}

/** Nothing where nothing was changed. */
export function ChangedFiles({ calls }: { readonly calls: readonly Record[] }) {
  const known = new Set(calls.flatMap(({ changed_files: paths }) => paths ?? []));
  const isIncomplete = calls.some(({ changed_files: paths }) => paths === null);
  if (known.size === 0 && !isIncomplete) return null;
  const rest = known.size === 0 ? 'not known' : 'others are not known';
  return (
    <Fact name="Files changed">
      <ExactText text={[...known, ...(isIncomplete ? [rest] : [])].join(', ')} />
    </Fact>
  );
}

/** Only a call that is claimed records when it began. */
function tookOf({ started_at: from, ended_at: to }: Record, attempts: number): string {
  const took = from && to ? durationText(Date.parse(to) - Date.parse(from)) : 'it runs';
  return attempts > 1 ? `${took}, in ${attempts} attempts` : took;
}

function Result({ record: { id, text, whole, images } }: { readonly record: Record }) {
  if (text === null) return null;
  const addressOf = (path: string): string => new URL(path, document.baseURI).pathname;
  return (
    <>
      <h3>Result</h3>
      <Pre value={text} />
      {whole && (
        <p>
          The model read a part of it: <NewTab href={addressOf(`v1/tool-calls/${id}/result`)}>all</NewTab>
        </p>
      )}
      {images.map(({ url, type, width, height }) => (
        <p key={url}>
          <NewTab href={addressOf(url.slice(1))}>{`${type}, ${width} × ${height}`}</NewTab>
        </p>
      ))}
    </>
  );
}

function WorkFact({ work }: { readonly work: Work }) {
  const { kind, label, agent, status, session_key: session, turn_id: turn } = work;
  return (
    <Fact name={`Gave to a ${kind}`}>
      <ExactText text={label} /> {agent && `(${agent})`}: {status}{' '}
      {session && <a href={hrefOf('sessions', session)}>session</a>}{' '}
      {turn && <a href={hrefOf('runs', turn)}>run</a>}
    </Fact>
  );
}

function RulesNow({ turn, record: { tool, args } }: Pick<CallPanelProps, 'turn' | 'record'>) {
  const { data } = useRequest('POST /v1/explain/{kind}', {
    params: { kind: 'tool' },
    body: { tool, args, agent: turn.agent, context: { session: turn.session_key } },
  });
  const now = data.value;
  if (!now?.decision) return null;
  return (
    <Fact name="The rules now">
      {now.decision} by {now.step}
      {now.rule && ` (${now.rule})`}
    </Fact>
  );
}

/** Only keys without a user see them. */
function Egress({ call }: { readonly call: string }) {
  const reading = useRequest('GET /v1/egress', { query: { call_id: call } });
  const rows = reading.data.value?.data;
  if (!rows) return <NotYet reading={reading} />;
  if (rows.length === 0) return <p>None in the last 30 days.</p>;
  return (
    <ul>
      {rows.map(({ id, method, host, status, problem, bytes, milliseconds }) => (
        <li key={id} class={problem ? 'bad' : ''}>
          {method} <ExactText text={host} /> · {problem ?? status} · {bytes} bytes ·{' '}
          {durationText(milliseconds)}
        </li>
      ))}
    </ul>
  );
}

function isOfUser(): boolean {
  return login.value.state === 'in' && login.value.me.user !== null;
}

function isWord(value: unknown): value is string {
  return typeof value === 'string';
}
