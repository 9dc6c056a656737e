/** One approval: the whole call, why it was asked about, and the decision. */
import { useRequest } from '../../api/use-request.ts';
import { CopyAs } from '../../components/copy-as.tsx';
import { ExactText } from '../../components/exact-text.tsx';
import { ApprovalFacts } from './approval-facts.tsx';
import type { Approval } from './approval-list.ts';
import { CommandText } from './command-text.tsx';
import { Decisions } from './decisions.tsx';

interface ApprovalViewProps {
  readonly approval: Approval;
  readonly onDecided: () => void;
}

export function ApprovalView({ approval, onDecided }: ApprovalViewProps) {
  const { id, tool, args, agent, session_key: session, status } = approval;
  const explanation = useRequest('POST /v1/explain/{kind}', {
    params: { kind: 'tool' },
    body: { tool, args, agent, context: { session } },
  });
  return (
    <article class="approval" aria-label={approval.summary}>
      <h2>
        <ExactText text={approval.summary} />
      </h2>
      <Call approval={approval} />
      {status === 'pending' ? (
        <Decisions approval={approval} hasKeys onDecided={onDecided} />
      ) : (
        <Outcome approval={approval} />
      )}
      <ApprovalFacts approval={approval} explanation={explanation.data.value} />
      <p class="buttons">
        <CopyAs
          name="POST /v1/approvals/{id}/decision"
          parts={{ params: { id }, body: { decision: 'approve' } }}
          command={['approvals', 'approve', id]}
        />
        {approval.links.temporal && (
          <a href={approval.links.temporal} target="_blank" rel="noreferrer">
            Temporal
          </a>
        )}
      </p>
    </article>
  );
}

function Call({ approval: { tool, args, agent, form } }: { readonly approval: Approval }) {
  const { command, ...others } = args;
  if (typeof command !== 'string') return <Arguments tool={tool} args={args} message={form?.message} />;
  return (
    <>
      <Command command={command} agent={agent} />
      {Object.keys(others).length > 0 && <Arguments tool={tool} args={others} />}
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

interface ArgumentsProps {
  readonly tool: string;
  readonly args: Approval['args'];
  readonly message?: string | undefined;
}

function Arguments({ tool, args, message }: ArgumentsProps) {
  return (
    <>
      {message && (
        <p class="plain-text">
          <ExactText text={message} />
        </p>
      )}
      <dl class="arguments" aria-label={`Arguments of ${tool}`}>
        {Object.entries(args).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              <pre>
                <ExactText text={typeof value === 'string' ? value : JSON.stringify(value, null, 2)} />
              </pre>
            </dd>
          </div>
        ))}
      </dl>
    </>
  );
}

function Outcome({ approval: { status, decided_by: by } }: { readonly approval: Approval }) {
  return (
    <p class={`outcome ${status === 'approved' ? 'good' : 'bad'}`} role="status">
      {status}
      {by && ` by ${by}`}
    </p>
  );
}
