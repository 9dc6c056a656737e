/** Why a call was asked about, where it would run, and who must decide. */
import type { ComponentChildren } from 'preact';
import type { Operations } from '@tempoclaw/client';
import { useRequest } from '../../api/use-request.ts';
import { hrefOf } from '../../app/router.ts';
import { ExactText } from '../../components/exact-text.tsx';
import { Fact } from '../../components/fact.tsx';
import { TimeAgo } from '../../components/time-ago.tsx';
import type { Approval } from './approval-list.ts';

type Detail = Operations['GET /v1/approvals/{id}']['answer'];
type Explanation = Operations['POST /v1/explain/{kind}']['answer'];

interface FactsProps {
  readonly approval: Approval;
  readonly explanation: Explanation | undefined;
}

const listed = (parts: readonly unknown[]): string => parts.filter(Boolean).join(' · ');

export function ApprovalFacts({ approval, explanation }: FactsProps) {
  const { reason, risk, session_key: session, user, agent, always, tally, status } = approval;
  return (
    <dl class="facts">
      <Fact name="Why">
        {listed([reason, risk]) || 'A rule asks'}
        {explanation?.step && (
          <small>
            {' '}
            The rules now: {explanation.decision} by {explanation.step}
            {explanation.rule && ` (${explanation.rule})`}
          </small>
        )}
      </Fact>
      <Fact name="From">
        <a href={hrefOf('sessions', session)}>{session}</a> · {agent}
        {user && ` · ${user}`}
      </Fact>
      {originOf(approval) && <Fact name="Of">{originOf(approval)}</Fact>}
      {approval.runs && <Fact name="Runs">{RUNS[approval.runs]}</Fact>}
      <Fact name="May decide">
        {decidersOf(approval)}
        {tally && ` · ${tally}`}
      </Fact>
      <Fact name="Asked">
        <TimeAgo at={approval.created_at} />, until {new Date(approval.expires_at).toLocaleString()}
      </Fact>
      {status === 'pending' && <AlwaysFact always={always} />}
      {approval.files.length > 0 && <Fact name="Files">{filesOf(approval)}</Fact>}
      {(tally ?? approval.decision) && (
        <Record key={`${tally} ${approval.digest} ${status}`} id={approval.id} />
      )}
      {approval.refused > 0 && <Fact name="Refused">{approval.refused} messages changed nothing</Fact>}
    </dl>
  );
}

function AlwaysFact({ always: { allows, refused } }: Pick<Approval, 'always'>) {
  return (
    <Fact name="Always">
      {allows ? (
        <>
          would also allow <code>{allows}</code> from now on
        </>
      ) : (
        `once only: ${refused ?? 'nothing can be stored'}`
      )}
    </Fact>
  );
}

/** Who has decided so far. Lists do not have it. */
function Record({ id }: { readonly id: string }) {
  const detail = useRequest('GET /v1/approvals/{id}', { params: { id } }).data.value;
  return (
    <>
      {detail?.decisions.map((decision) => (
        <Recorded key={`${decision.by} ${decision.at}`} {...decision} />
      ))}
    </>
  );
}

function Recorded({ decision, by, via, note, at, proven, counts }: Detail['decisions'][number]) {
  return (
    <Fact name="Decided">
      {decision.replace('_', ' ')} by {by} ({via}
      {!proven && ', a claim'}
      {!counts && ', no longer counts'}) <TimeAgo at={at} />
      {note && (
        <>
          : <ExactText text={note} />
        </>
      )}
    </Fact>
  );
}

const RUNS: Readonly<Record<NonNullable<Approval['runs']>, string>> = {
  container: 'in a container',
  bubblewrap: 'in a sandbox (bubblewrap)',
  walled_host: 'on the machine itself, kept from TempoClaw’s own files and ports',
  host: 'on the machine itself, without a wall',
};

function originOf({ subagent, delegation }: Approval): string {
  return listed([
    subagent && `subagent ${subagent.label} of ${subagent.parent_session}`,
    delegation && `delegation ${delegation.label} of ${delegation.parent_session}`,
  ]);
}

function decidersOf({ terms, user }: Approval): string {
  const { approvers, quorum = 1, exclude_requester: isExcluded, escalate } = terms;
  const named = [
    ...(approvers?.users ?? []),
    ...(approvers?.scopes ?? []).map((scope) => `keys with ${scope}`),
  ];
  const anyone = user === null ? 'anyone with approve' : `${user}, keys without a user, admins`;
  const who = named.length > 0 ? named.join(', ') : anyone;
  return listed([
    who,
    quorum > 1 && `${quorum} must agree`,
    isExcluded && user && `not ${user}`,
    escalate && `later also ${[...(escalate.to.users ?? []), ...(escalate.to.scopes ?? [])].join(', ')}`,
  ]);
}

function filesOf({ files }: Approval): ComponentChildren {
  return files.map(({ path, bytes, sha256, missing, unbound }) => (
    <p key={path}>
      <code>
        <ExactText text={path} />
      </code>{' '}
      <small>{unbound ?? (missing ? 'not there' : `${bytes} bytes, SHA-256 ${sha256?.slice(0, 12)}…`)}</small>
    </p>
  ));
}
