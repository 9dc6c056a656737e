/** The teams, each with a board. */
import { useRequest } from '../../api/use-request.ts';
import { hrefOf } from '../../app/router.ts';
import { CopyAs } from '../../components/copy-as.tsx';
import { ExactText } from '../../components/exact-text.tsx';
import { RowText } from '../../components/fact.tsx';
import { PageFrame } from '../../components/page-frame.tsx';

const ALL = { query: { limit: 200 } };

export default function TeamList() {
  const teams = useRequest('GET /v1/teams', ALL);
  const found = teams.data.value?.data;
  const copy = <CopyAs name="GET /v1/teams" parts={ALL} command={['teams', 'list']} />;
  return (
    <PageFrame title="Teams" scrolls head={copy} readings={[teams]}>
      {found?.length === 0 && (
        <p class="notice">
          No teams. <code>npx tempoclaw teams create report --lead main --members scribe</code> makes one.
        </p>
      )}
      {found?.map(({ key, name, lead, members }) => (
        <a key={key} class="row" href={hrefOf('teams', key)}>
          <RowText name={<ExactText text={name ?? key} />}>
            {`${lead} leads ${members.join(', ') || 'nobody yet'}`}
          </RowText>
        </a>
      ))}
    </PageFrame>
  );
}
