/** Tasks as models read them: one line each on the board, and one task with all its comments. */
import { taskIdOf } from '#domain/team/team.ts';
import type { CommentRow, FileRow, TeamTaskRow } from '#store/teams/team-task-store.ts';

/** Characters of one comment; results are whole. */
const COMMENT = 2_000;

export function taskLines(team: string, rows: readonly TeamTaskRow[], nextPage: number | undefined): string {
  if (rows.length === 0) return 'No tasks found.';
  const lines = rows.map((row) => {
    const who = row.owner ?? row.assignee;
    const extras = [
      who === null ? 'nobody’s' : who,
      row.priority === 0 ? '' : `priority ${row.priority}`,
      row.status === 'in_progress' ? `${row.percent}%` : '',
      row.status === 'blocked'
        ? `waits for ${row.state.open_blockers.map((number) => `#${number}`).join(', ')}`
        : '',
    ].filter((extra) => extra !== '');
    return `${taskIdOf(team, row.number)} [${row.status}] "${row.subject}" (${extras.join(', ')})`;
  });
  if (nextPage !== undefined) lines.push(`[more: page=${nextPage}]`);
  return lines.join('\n');
}

export function taskText(
  row: TeamTaskRow,
  comments: readonly CommentRow[],
  files: readonly FileRow[],
): string {
  const parts = [taskLines(row.team_key, [row], undefined)];
  if (row.description !== '') parts.push(row.description);
  if (row.blocked_by.length > 0) parts.push(`blocked_by: ${row.blocked_by.map((n) => `#${n}`).join(', ')}`);
  if (row.reason !== null) parts.push(`Last reason: ${row.reason}`);
  const lines = comments.filter(({ kind }) => kind !== 'result');
  if (lines.length > 0)
    parts.push(
      `Comments:\n${lines.map(({ author, kind, text }) => `- ${author} (${kind}): ${text.slice(0, COMMENT).toWellFormed()}`).join('\n')}`,
    );
  if (files.length > 0)
    parts.push(`Files: ${files.map(({ id, name, size }) => `${name} (${size} bytes, ${id})`).join(', ')}`);
  if (row.result !== null) parts.push(`Result:\n${row.result}`);
  return parts.join('\n\n');
}
