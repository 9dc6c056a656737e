/** Implements `tempoclaw gateway`: the health of an installation as tables. */
import type { Command } from 'commander';
import { gateway as resource } from '#domain/resource/gateway.ts';
import { addCommands } from '#cli/api-commands.ts';
import { printFields, printTable } from '#cli/output.ts';

type Health = (typeof resource.operations.getInstallationHealth.answer)['_output'];

export function register(gateway: Command): void {
  addCommands(gateway, resource, {
    getInstallationHealth: {
      print({ out }, { workers, queues, sweep, disk, database_bytes: database, ...fields }) {
        printFields(out, {
          ...fields,
          disk: disk && `${gigabytes(disk.free_bytes)} free of ${gigabytes(disk.total_bytes)}`,
          database: database === null ? null : gigabytes(database),
        });
        out.line();
        printTable<Health['workers'][number]>(
          out,
          {
            worker: 'id',
            version: 'version',
            build: 'build',
            seen: { ago: 'seen_at' },
            runs: { flexible: ({ running }) => countsText(running) },
          },
          workers,
        );
        out.line();
        printTable<Health['queues'][number]>(
          out,
          {
            queue: ({ queue, kind }) => `${queue} (${kind})`,
            waiting: 'waiting',
            oldest: ({ oldest_seconds: seconds }) => (seconds === 0 ? '' : `${seconds} s`),
          },
          queues,
        );
        out.line();
        printTable<Health['sweep'][number]>(
          out,
          { sweep: 'part', ended: { ago: 'ended_at' }, found: 'found', failed: 'failed' },
          sweep,
        );
      },
    },
  });
}

function countsText(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([type, count]) => `${count} ${type}`)
    .join(', ');
}

function gigabytes(bytes: number): string {
  return `${(bytes / 1e9).toFixed(2)} GB`;
}
