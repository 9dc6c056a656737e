/** Texts about a task become visible with the change that contains them. */
import { withWarnings } from '#domain/gate/gate.ts';
import { ofTask, type TaskKey, type WrittenChange } from './recorded-task.ts';
import type { TenantTx } from '../postgres/tenant-db.ts';

/**
 * A text of another client comes with its update; one of ours is a row already. Resolves with the task's new result.
 */
export async function takeTexts(
  tx: TenantTx,
  key: TaskKey,
  { task, action, actor, text, warnings = [], result_of }: WrittenChange,
): Promise<string | undefined> {
  const [team, number] = key;
  const { revision } = task;
  if (result_of !== undefined) return takeAnswer(tx, key, result_of, revision);
  const isHandedIn = action === 'hand_in';
  if (text?.text !== undefined) {
    const id = `text_${team}.${number}.${revision}`;
    const seen = isHandedIn ? null : revision;
    await tx
      .insertInto('team_comments')
      .values({ ...ofTask(tx, key), id, kind: text.as, author: actor, text: text.text, revision: seen })
      .execute();
    return text.as === 'result' && !isHandedIn ? text.text : undefined;
  }
  if (text?.id === undefined || isHandedIn) return undefined;
  const words = withWarnings((await readText(tx, key, text.id)) ?? '', warnings);
  const { numUpdatedRows } = await tx
    .updateTable('team_comments')
    .set({ revision, kind: text.as, text: words })
    .where((is) => is.and({ ...ofTask(tx, key), id: text.id ?? '' }))
    .where('revision', 'is', null)
    .executeTakeFirstOrThrow();
  return text.as === 'result' && numUpdatedRows > 0n ? words : undefined;
}

/** A turn's answer becomes the result. */
async function takeAnswer(
  tx: TenantTx,
  key: TaskKey,
  turn: string,
  revision: number,
): Promise<string | undefined> {
  const answer = await tx
    .selectFrom('turns')
    .select(['agent_key', 'text'])
    .where((is) => is.and({ tenant_id: tx.tenant, id: turn }))
    .executeTakeFirst();
  if (!answer) return undefined;
  const taken = await tx
    .insertInto('team_comments')
    .values({
      ...ofTask(tx, key),
      id: `text_${turn}`,
      kind: 'result',
      author: `agent:${answer.agent_key}`,
      text: answer.text || '(no result)',
      revision,
    })
    .onConflict((on) =>
      on
        .columns(['tenant_id', 'id'])
        .doUpdateSet({ revision, kind: 'result' })
        .where('team_comments.revision', 'is', null),
    )
    .returning('text')
    .executeTakeFirst();
  return taken?.text;
}

export async function readText(tx: TenantTx, key: TaskKey, id: string): Promise<string | undefined> {
  const row = await tx
    .selectFrom('team_comments')
    .select('text')
    .where((is) => is.and({ ...ofTask(tx, key), id }))
    .executeTakeFirst();
  return row?.text;
}
