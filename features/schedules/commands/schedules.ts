/** Implements `tempoclaw schedules`: the commands of the definition, and the runs of a schedule. */
import type { Command } from 'commander';
import { schedules as resource } from '../resource/schedules.ts';
import { addList } from '#cli/api-commands.ts';
import type { Column } from '#cli/output.ts';
import { addCommands } from '#cli/resource-commands.ts';
import type { z } from 'zod';
import type { scheduleRunSchema } from '../schema/schedule.ts';

type ScheduleRun = z.infer<typeof scheduleRunSchema>;

export const RUN_COLUMNS: readonly Column<ScheduleRun>[] = [
  { title: 'AT', cell: (run) => run.at },
  { title: 'STATUS', cell: (run) => run.status },
  { title: 'SESSION', cell: (run) => run.session ?? '' },
  { title: 'ANSWER', cell: (run) => run.text ?? run.reason ?? '', flexible: true },
];

export function register(schedules: Command): void {
  addCommands(schedules, resource);
  addList<ScheduleRun>(schedules, {
    word: 'runs',
    help: 'how its runs went, newest first',
    path: resource.operations.listScheduleRuns.path,
    named: { list: resource.path, ids: [resource.key] },
    columns: RUN_COLUMNS,
    nothing: 'no run yet',
  });
}
