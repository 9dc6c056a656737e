/** The teams, each with a board. */
import { useRequest } from '../../api/use-request.ts';
import { hrefOf } from '../../app/router.ts';
import { CopyAs } from '../../components/copy-as.tsx';
import { ExactText } from '../../components/exact-text.tsx';
import { ProblemNotice } from '../../components/problem-notice.tsx';
import { VirtualList } from '../../components/virtual-list.tsx';

export default function TeamList() {
  const query = { limit: 200 };
  const { data, problem, reload } = useRequest('GET /v1/teams', { query });
  const teams = data.value?.data;
  return (
    <section class="page">
      <div class="page-head">
        <h1>Teams</h1>
        <CopyAs name="GET /v1/teams" parts={{ query }} command={['teams', 'list']} />
      </div>
      {problem.value && <ProblemNotice problem={problem.value} retry={reload} />}
      {teams?.length === 0 && (
        <p class="notice">
          No teams. <code>npx tempoclaw teams create report --lead main --members scribe</code> makes one of
          two agents.
        </p>
      )}
      {teams && teams.length > 0 && (
        <VirtualList items={teams} keyOf={({ key }) => key} label="Teams" estimate={64}>
          {({ key, name, lead, members }) => (
            <a class="row" href={hrefOf('teams', key)}>
              <span class="row-name">
                <ExactText text={name ?? key} />
              </span>
              <span class="row-more">
                {lead} leads {members.join(', ') || 'nobody yet'}
              </span>
            </a>
          )}
        </VirtualList>
      )}
    </section>
  );
}
