/** One approval: the whole call, why it was asked about, and the decision. */
import { useRequest } from '../../api/use-request.ts';
import { CopyAs } from '../../components/copy-as.tsx';
import { ExactText, PlainText } from '../../components/exact-text.tsx';
import { JsonFields } from '../../components/fact.tsx';
import { NewTab } from '../../components/page-frame.tsx';
import { ApprovalFacts } from './approval-facts.tsx';
import type { Approval } from './approval-list.ts';
import { CommandText } from './command-text.tsx';
import { Decisions } from './decisions.tsx';

interface ApprovalViewProps {
  readonly approval: Approval;
  readonly onDecided: () => void;
}

export function ApprovalView({ approval, onDecided }: ApprovalViewProps) {
  const { id, tool, args, agent, session_key: session, summary, status, decided_by: by } = approval;
  const explanation = useRequest('POST /v1/explain/{kind}', {
    params: { kind: 'tool' },
    body: { tool, args, agent, context: { session } },
  });
  return (
    <article class="approval" aria-label={summary}>
      <h2>
        <ExactText text={summary} />
      </h2>
      <Call approval={approval} />
      {status === 'pending' ? (
        <Decisions approval={approval} hasKeys onDecided={onDecided} />
      ) : (
        <p class={`outcome ${status === 'approved' ? 'good' : 'bad'}`} role="status">
          {status}
          {by && ` by ${by}`}
        </p>
      )}
      <ApprovalFacts approval={approval} explanation={explanation.data.value} />
      <p class="buttons">
        <CopyAs
          name="POST /v1/approvals/{id}/decision"
          parts={{ params: { id }, body: { decision: 'approve' } }}
          command={['approvals', 'approve', id]}
        />
        <NewTab href={approval.links.temporal}>Temporal</NewTab>
      </p>
    </article>
  );
}

function Call({ approval: { tool, args, agent, form } }: { readonly approval: Approval }) {
  const { command, ...others } = args;
  const isCommand = typeof command === 'string';
  const shown = isCommand ? others : args;
  return (
    <>
      {isCommand && <Command command={command} agent={agent} />}
      {!isCommand && form?.message && <PlainText text={form.message} />}
      {(!isCommand || Object.keys(shown).length > 0) && (
        <JsonFields values={shown} label={`Arguments of ${tool}`} />
      )}
    </>
  );
}

function Command({ command, agent }: { readonly command: string; readonly agent: string }) {
  const explained = useRequest('POST /v1/explain/{kind}', {
    params: { kind: 'shell' },
    body: { command, agent },
  });
  return <CommandText command={command} commands={explained.data.value?.command_words} />;
}
