import assert from 'node:assert/strict';
import { it } from 'node:test';
import { teamRoot } from '#domain/budget/budget.ts';

it('DU-7 a team’s session counts for the team, and for all that the turn which asked for the work counts for', () => {
  assert.deepEqual(teamRoot(null, 'red'), { team: ['red'] });
  const request = { turn: 'turn_1', session: 'one', agent: 'main' };
  assert.deepEqual(teamRoot(request, 'red'), { ...request, team: ['red'] });
  const within = { ...request, team: ['red'] };
  assert.deepEqual(teamRoot(within, 'blue'), { ...request, team: ['red', 'blue'] });
  assert.deepEqual(teamRoot(within, 'red'), within);
});
