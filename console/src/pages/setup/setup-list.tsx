/** All things of a kind, and the form that makes another one. */
import { useSignal } from '@preact/signals';
import { may } from '../../api/session.ts';
import { useList } from '../../api/use-list.ts';
import { currentSearch, hrefOf, navigate, setSearch } from '../../app/router.ts';
import { SearchBox, TextInput } from '../../components/bound.tsx';
import { Button } from '../../components/button.tsx';
import { CopyAsAt } from '../../components/copy-as.tsx';
import { ExactText } from '../../components/exact-text.tsx';
import { RowText } from '../../components/fact.tsx';
import type { Values } from '../../components/field-schema.ts';
import { Trouble } from '../../components/notices.tsx';
import { PageHead } from '../../components/page-frame.tsx';
import { VirtualList } from '../../components/virtual-list.tsx';
import { RemoveButton } from './act-button.tsx';
import type { Kind, Row } from './kind.ts';
import { joined } from './kinds.tsx';
import { OperationForm } from './operation-form.tsx';

interface SetupListProps {
  readonly kind: Kind;
}

export function SetupList({ kind }: SetupListProps) {
  const { slug, title, path, key, scopes, make, empty, isByAgent } = kind;
  const search = currentSearch.value;
  const filter = search.get('q') ?? '';
  const agent = search.get('agent') ?? '';
  const address = `${path.slice(1)}?limit=200${agentQuery('&', agent)}`;
  const { first, rows: all, more, reload } = useList<Row>(address);
  const rows = all?.filter((row) => matches(row, filter));
  const isMaking = search.has('new') && make !== undefined && may(scopes[1]);
  return (
    <>
      <PageHead title={title}>
        {make && (
          <Button scope={scopes[1]} onClick={() => setSearch({ new: 'true' })}>
            {make[0]}
          </Button>
        )}
        <SearchBox value={filter} onInput={(q) => setSearch({ q })} />
        {isByAgent && (
          <TextInput
            label="Of this agent"
            hint="Agent"
            value={agent}
            onChange={(text) => setSearch({ agent: text })}
          />
        )}
        <CopyAsAt
          method="GET"
          address={address}
          command={[slug, 'list', ...(agent ? ['--agent', agent] : [])]}
        />
      </PageHead>
      {isMaking && <MakeForm kind={kind} reload={reload} />}
      <Trouble reading={first} />
      {rows?.length === 0 && (
        <p class="notice">
          {filter ? 'None has these words.' : `None yet. At a terminal: npx tempoclaw ${slug} ${empty}`}
        </p>
      )}
      {rows && (
        <VirtualList items={rows} keyOf={(row) => String(row[key])} label={title} estimate={64} onEnd={more}>
          {(row) => <SetupRow kind={kind} row={row} reload={reload} />}
        </VirtualList>
      )}
    </>
  );
}

interface SetupRowProps extends SetupListProps {
  readonly row: Row;
  readonly reload: () => void;
}

function SetupRow({ kind, row, reload }: SetupRowProps) {
  const id = String(row[kind.key]);
  const agent = currentSearch.value.get('agent') ?? '';
  const content = (
    <RowText name={<ExactText text={kind.nameOf?.(row) ?? id} />} status={kind.badge?.(row)}>
      {joined(kind.more(row))}
    </RowText>
  );
  if (kind.page)
    return (
      <a class="row" href={`${hrefOf('setup', kind.slug, id)}${agentQuery('?', agent)}`}>
        {content}
      </a>
    );
  return (
    <div class="row">
      {content}
      {!kind.isOver?.(row) && <RemoveButton kind={kind} id={id} onDone={reload} />}
    </div>
  );
}

function MakeForm({ kind, reload }: Omit<SetupRowProps, 'row'>) {
  const made = useSignal<Values | undefined>(undefined);
  const { slug, page, make: [label = '', path = kind.path] = [], MakeForm: Own, Made } = kind;
  const onDone = (answer: Values): void => {
    reload();
    if (Made) made.value = answer;
    else navigate(hrefOf('setup', slug, ...(page ? [String(answer[kind.key])] : [])));
  };
  const form = Own ? (
    <Own onDone={onDone} />
  ) : (
    <OperationForm method="POST" path={path} button={label} onDone={onDone} />
  );
  return (
    <section class="setup" aria-label={label}>
      {made.value && Made ? <Made answer={made.value} /> : form}
      <Button onClick={() => setSearch({ new: '' })}>Close</Button>
    </section>
  );
}

function agentQuery(sign: string, agent: string): string {
  return agent === '' ? '' : `${sign}agent=${encodeURIComponent(agent)}`;
}

/** Whether each word of the filter is in it. */
function matches(row: Row, filter: string): boolean {
  const text = JSON.stringify(row).toLowerCase();
  const words = filter.toLowerCase().split(/\s+/);
  return words.every((word) => text.includes(word));
}
