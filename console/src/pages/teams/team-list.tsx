/** The teams, each with a board. */
import { useRequest } from '../../api/use-request.ts';
import { hrefOf } from '../../app/router.ts';
import { CopyAs } from '../../components/copy-as.tsx';
import { ExactText } from '../../components/exact-text.tsx';
import { ProblemNotice } from '../../components/problem-notice.tsx';

const ALL = { query: { limit: 200 } };

export default function TeamList() {
  const { data, problem, reload } = useRequest('GET /v1/teams', ALL);
  return (
    <section class="page scrolls">
      <div class="page-head">
        <h1>Teams</h1>
        <CopyAs name="GET /v1/teams" parts={ALL} command={['teams', 'list']} />
      </div>
      {problem.value && <ProblemNotice problem={problem.value} retry={reload} />}
      {data.value?.data.length === 0 && (
        <p class="notice">
          No teams. <code>npx tempoclaw teams create report --lead main --members scribe</code> makes one.
        </p>
      )}
      {data.value?.data.map(({ key, name, lead, members }) => (
        <a key={key} class="row" href={hrefOf('teams', key)}>
          <span class="row-name">
            <ExactText text={name ?? key} />
          </span>
          <span class="row-more">{`${lead} leads ${members.join(', ') || 'nobody yet'}`}</span>
        </a>
      ))}
    </section>
  );
}
