import assert from 'node:assert/strict';
import { it } from 'node:test';
import { teamRoot } from '#domain/budget.ts';

it('DU-7 a team’s session counts for the team, and for all that the turn which asked for the work counts for', () => {
  assert.deepEqual(teamRoot(null, 'red'), { team: ['red'] });
  const asked = { turn: 'turn_1', session: 'one', agent: 'main' };
  assert.deepEqual(teamRoot(asked, 'red'), { ...asked, team: ['red'] });
  const within = { ...asked, team: ['red'] };
  assert.deepEqual(teamRoot(within, 'blue'), { ...asked, team: ['red', 'blue'] });
  assert.deepEqual(teamRoot(within, 'red'), within);
});
