/** How people and models name tasks. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readTaskRef, taskIdOf, taskWorkflowId } from '#domain/team/team.ts';

describe('names of tasks', () => {
  it('reads what taskIdOf makes, #7 and 7', () => {
    assert.deepEqual(readTaskRef(taskIdOf('my-team', 7)), { team: 'my-team', number: 7 });
    assert.deepEqual(readTaskRef('#7'), { team: undefined, number: 7 });
    assert.deepEqual(readTaskRef(' 7 '), { team: undefined, number: 7 });
  });

  it('refuses what is none', () => {
    for (const text of ['task-1', 'task_a.0', '', 'x7', '7.5', '-7', 'task_a.b.7', '9999999999'])
      assert.equal(readTaskRef(text), undefined, text);
  });

  it('names one workflow over all tenants', () => {
    assert.notEqual(taskWorkflowId('a', 'b-c', 1), taskWorkflowId('a-b', 'c', 1));
    assert.equal(taskWorkflowId('default', 'report', 7), 'task/default.report/7');
  });
});
