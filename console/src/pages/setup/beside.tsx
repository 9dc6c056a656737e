/** What is special about the kinds, beside the form. */
import { useSignal } from '@preact/signals';
import { addressOf } from '../../api/request.ts';
import { useRequest, useRequestAt } from '../../api/use-request.ts';
import { hrefOf } from '../../app/router.ts';
import { ExactText, PlainText } from '../../components/exact-text.tsx';
import { JsonFields } from '../../components/fact.tsx';
import { isRecord, type Values } from '../../components/field-schema.ts';
import { ActButton } from './act-button.tsx';
import type { BesideProps, RowOf } from './kind.ts';
import { LoginButton } from './login-button.tsx';
import { OperationForm } from './operation-form.tsx';

interface ListOf<One> {
  readonly data: readonly One[];
}

/** In the time zone of the browser, with its name. */
export function LocalTime({ at }: { readonly at: string }) {
  const shown = new Date(at).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'long' });
  return <time dateTime={at}>{shown}</time>;
}

export function ToolFacts({ row }: BesideProps<RowOf<'GET /v1/tools'>>) {
  const { name, description, parameters, replay } = row;
  const policy = useRequest('GET /v1/policy', {});
  const isOff = policy.data.value?.tools?.disabled?.includes(name) ?? false;
  const fields = parameters['properties'];
  return (
    <section>
      <PlainText text={description} />
      <p>A second run: {replay}</p>
      <ActButton
        label={isOff ? 'Let agents have it again' : 'Switch it off for all agents'}
        method="PUT"
        address={`v1/tools/builtin/${encodeURIComponent(name)}/tenant-config`}
        body={{ enabled: isOff }}
        onDone={policy.reload}
      />
      <h2>Arguments</h2>
      <JsonFields values={isRecord(fields) ? fields : {}} />
    </section>
  );
}

type Server = RowOf<'GET /v1/mcp/servers'>;

export function McpTools({ row: { tools, error }, address, reload }: BesideProps<Server>) {
  return (
    <section>
      <h2>Tools</h2>
      <p class="bad">
        <ExactText text={error ?? ''} />
      </p>
      <div class="buttons">
        <ActButton label="Look again" address={`${address}/test`} onDone={reload} />
        <ActButton label="Connect anew" address={`${address}/reconnect`} onDone={reload} />
        <LoginButton label="Log in…" address={address} />
      </div>
      <ul class="plain">
        {tools.map((tool) => (
          <li key={tool.name}>
            <strong>{tool.tool}</strong> <span class="badge">{stateOf(tool)}</span>
            <PlainText text={tool.description} />
            {tool.changed && (
              <ActButton
                label="Agree"
                name={`Agree to ${tool.tool}`}
                address={`${address}/consent`}
                body={{ tools: [{ name: tool.name, hash: tool.found_hash }] }}
                onDone={reload}
              />
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

function stateOf({ gone, changed, pinned_hash: agreed, enabled }: Server['tools'][number]): string {
  if (gone) return 'gone';
  if (changed) return `${agreed === null ? 'new' : 'changed'}: off until you agree`;
  return enabled ? 'agreed' : 'off';
}

interface Run {
  readonly at: string;
  readonly status: string;
  readonly session: string | null;
  readonly text: string | null;
  readonly reason: string | null;
}

export function ScheduleRuns({ row, address, reload }: BesideProps<RowOf<'GET /v1/schedules'>>) {
  const { enabled, next_runs: next } = row;
  const runs = useRequestAt<ListOf<Run>>('GET', `${address}/runs?limit=20`);
  const refresh = (): void => {
    reload();
    runs.reload();
  };
  return (
    <section>
      <h2>Runs</h2>
      <div class="buttons">
        <ActButton label="Run now" scope="run" address={`${address}/run`} onDone={refresh} />
        <ActButton
          label={enabled ? 'Pause' : 'Resume'}
          scope="run"
          method="PATCH"
          address={address}
          body={{ enabled: !enabled }}
          onDone={refresh}
        />
      </div>
      {next.length === 0 && <p>{enabled ? 'It runs no more by itself.' : 'It is paused.'}</p>}
      <ol aria-label="Next runs">
        {next.map((at) => (
          <li key={at}>
            <LocalTime at={at} />
          </li>
        ))}
      </ol>
      <ul class="plain" aria-label="Past runs">
        {runs.data.value?.data.map(({ at, status, session, text, reason }) => (
          <li key={at}>
            <LocalTime at={at} /> <span class="badge">{status}</span>{' '}
            {session && <a href={hrefOf('sessions', session)}>{session}</a>}{' '}
            <ExactText text={(text ?? reason ?? '').slice(0, 200)} />
          </li>
        ))}
      </ul>
    </section>
  );
}

interface Person {
  readonly person: string;
  readonly name: string;
  readonly user: string;
  readonly may_decide: boolean;
}

/** Types of channels that are nowhere registered. */
const OWN_SERVICES: readonly string[] = ['web', 'webhook'];

export function ChannelPeople({ row, address, reload }: BesideProps<RowOf<'GET /v1/channels'>>) {
  const people = useRequestAt<ListOf<Person>>('GET', `${address}/people?limit=200`);
  const connected = useSignal<Values | undefined>(undefined);
  const paired = useSignal(0);
  return (
    <section>
      <h2>People</h2>
      {!OWN_SERVICES.includes(row.type) && (
        <ActButton
          label="Register with its service"
          address={`${address}/connect`}
          onDone={(answer) => {
            connected.value = answer;
            reload();
          }}
        />
      )}
      {connected.value && <JsonFields values={connected.value} />}
      <ul class="plain">
        {people.data.value?.data.map(({ person, name, user, may_decide: decides }) => (
          <li key={person}>
            <ExactText text={`${name} (${person}) speaks as ${user}${decides ? ' and decides' : ''}`} />{' '}
            <ActButton
              label="Unpair…"
              name={`Unpair ${name}`}
              question="They speak here no more."
              method="DELETE"
              address={addressOf(`DELETE /${address}/people/{person}`, { params: { person } }).address}
              command={['channels', 'unpair', row.key, person]}
              onDone={people.reload}
            />
          </li>
        ))}
      </ul>
      <details>
        <summary>Pair somebody</summary>
        <OperationForm
          key={paired.value}
          method="POST"
          path="/v1/channels/{key}/pairings"
          address={`${address}/pairings`}
          button="Pair"
          onDone={() => {
            paired.value += 1;
            people.reload();
          }}
        />
      </details>
    </section>
  );
}
