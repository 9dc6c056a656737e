/** The rules for all agents of the tenant. */
import { useSignal } from '@preact/signals';
import { may } from '../../api/session.ts';
import { useRequest } from '../../api/use-request.ts';
import { notify } from '../../app/toasts.tsx';
import { CopyAs } from '../../components/copy-as.tsx';
import { ExactText } from '../../components/exact-text.tsx';
import { ProblemNotice } from '../../components/problem-notice.tsx';
import { TimeAgo } from '../../components/time-ago.tsx';
import { ActButton } from './act-button.tsx';
import { Backtest } from './backtest.tsx';
import { lacks } from './kind.ts';
import { OperationForm } from './operation-form.tsx';

export function PolicyPage() {
  const { data, problem, reload } = useRequest('GET /v1/policy', {});
  const version = useSignal(0);
  const policy = data.value;
  const refresh = (answer: unknown): void => {
    data.value = answer as typeof policy;
    version.value += 1;
  };
  return (
    <>
      <div class="page-head">
        <h1>Policy</h1>
        <CopyAs name="GET /v1/policy" parts={{}} command={['policy', 'show']} />
      </div>
      {problem.value && <ProblemNotice problem={problem.value} retry={reload} />}
      {policy && (
        <div class="setup">
          {policy.warnings.map((warning) => (
            <p key={warning} class="asks">
              <ExactText text={warning} />
            </p>
          ))}
          <OperationForm
            key={version.value}
            method="PUT"
            path="/v1/policy"
            address={`v1/policy?change=${policy.change}`}
            start={policy}
            button="Save"
            refusal={may('admin') ? undefined : lacks('admin')}
            onDone={(answer) => {
              notify('done', 'It holds for every call from now on');
              refresh(answer);
            }}
            beside={(values) => (
              <>
                <Backtest key={JSON.stringify(values)} rules={{ tenant: values }} />
                {may('admin') && <History key={version.value} onRestored={refresh} />}
              </>
            )}
          />
        </div>
      )}
    </>
  );
}

function History({ onRestored }: { readonly onRestored: (answer: unknown) => void }) {
  const { data } = useRequest('GET /v1/policy/history', { query: { limit: 20 } });
  return (
    <details>
      <summary>Changes</summary>
      <ul class="plain">
        {data.value?.data.map(({ id, changed_by: by, changed_at: at, from }) => (
          <li key={id}>
            <ExactText text={by} /> <TimeAgo at={at} />
            <pre>
              <ExactText text={JSON.stringify(from, null, 2)} />
            </pre>
            <ActButton
              label="Put this back"
              address="v1/policy/restore"
              body={{ change: id }}
              onDone={onRestored}
            />
          </li>
        ))}
      </ul>
    </details>
  );
}
