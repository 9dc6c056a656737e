/** All work below a session as a tree: subagents, delegations, evaluations, judges and tasks. */
import type { Operations } from '@tempoclaw/client';
import { AFTER_SESSIONS, useRequest } from '../../api/use-request.ts';
import { hrefOf, type PageProps } from '../../app/router.ts';
import { moneyText } from '../../components/amounts.ts';
import { CopyAs } from '../../components/copy-as.tsx';
import { ExactText } from '../../components/exact-text.tsx';
import { RowText } from '../../components/fact.tsx';
import { NotYet } from '../../components/notices.tsx';
import { PageFrame } from '../../components/page-frame.tsx';
import { VirtualList } from '../../components/virtual-list.tsx';

type Node = Operations['GET /v1/sessions/{key}/tree']['answer']['data'][number];

export default function SessionGraph({ params: { key = '' } }: PageProps) {
  const parts = { params: { key } };
  const tree = useRequest('GET /v1/sessions/{key}/tree', parts, AFTER_SESSIONS);
  const found = tree.data.value;
  if (!found) return <NotYet reading={tree} />;
  return (
    <PageFrame
      title="Work below"
      trail={[
        ['Sessions', 'sessions'],
        [key, 'sessions', key],
      ]}
      head={<CopyAs name="GET /v1/sessions/{key}/tree" parts={parts} command={['sessions', 'tree', key]} />}
      readings={[tree]}
    >
      {found.truncated && <p class="notice asks">There is more than these {found.data.length}.</p>}
      {found.data.length === 0 ? (
        <p class="notice">
          This session has given no work to others. Ask for it:{' '}
          <code>npx tempoclaw run --session {key} "Let a subagent count the files here."</code>
        </p>
      ) : (
        <VirtualList
          items={found.data}
          keyOf={({ parent, kind, id }) => `${parent} ${kind} ${id}`}
          label="Work below the session"
          estimate={64}
        >
          {(node) => <NodeRow node={node} />}
        </VirtualList>
      )}
    </PageFrame>
  );
}

/** Deeper levels stay at this indent, so that they fit on a phone. */
const MAX_INDENT = 8;

function NodeRow({ node }: { readonly node: Node }) {
  const { kind, label, agent, status, session_key: session, turn_id: turn, depth, steps, tokens } = node;
  const text = <ExactText text={label} />;
  const name = (
    <>
      {kind} {session ? <a href={hrefOf('sessions', session)}>{text}</a> : text}
    </>
  );
  return (
    <div class="row" style={{ paddingLeft: `${Math.min(depth, MAX_INDENT) + 0.25}rem` }}>
      <RowText name={name} status={status}>
        <span class="visually-hidden">level {depth} · </span>
        {agent}
        {turn && (
          <>
            {' '}
            · <a href={hrefOf('runs', turn)}>run</a> · {steps} steps · {tokens} tokens ·{' '}
            {moneyText(node.cost_usd)}
          </>
        )}
      </RowText>
    </div>
  );
}
