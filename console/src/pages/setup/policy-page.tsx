/** The rules for all agents of the tenant. */
import { useSignal } from '@preact/signals';
import { lacks, may } from '../../api/session.ts';
import { useRequest } from '../../api/use-request.ts';
import { notify } from '../../app/toasts.tsx';
import { CopyAs } from '../../components/copy-as.tsx';
import { ExactText, Pre } from '../../components/exact-text.tsx';
import { Trouble } from '../../components/notices.tsx';
import { PageHead } from '../../components/page-frame.tsx';
import { TimeAgo } from '../../components/time-ago.tsx';
import { ActButton } from './act-button.tsx';
import { Backtest } from './backtest.tsx';
import { OperationForm } from './operation-form.tsx';

export function PolicyPage() {
  const reading = useRequest('GET /v1/policy', {});
  const version = useSignal(0);
  const policy = reading.data.value;
  const refresh = (answer: unknown): void => {
    reading.data.value = answer as typeof policy;
    version.value += 1;
  };
  return (
    <>
      <PageHead title="Policy">
        <CopyAs name="GET /v1/policy" parts={{}} command={['policy', 'show']} />
      </PageHead>
      <Trouble reading={reading} />
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
            refusal={lacks('admin')}
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
            <Pre value={from} />
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
