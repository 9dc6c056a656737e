/** Limits and sandboxes of tests. */
import type { CommandBounds } from '@tempoclaw/sandbox';
import type { BoxSettings } from '@tempoclaw/sandbox/settings';

export function bounds(limits: Omit<CommandBounds, 'name' | 'settings'>): CommandBounds {
  const settings = { processes: 'limits.processes', memory: 'limits.memory', disk: 'limits.disk' };
  return { name: 'test', settings, ...limits };
}

export function box(settings: Partial<BoxSettings> = {}): BoxSettings {
  return {
    mode: 'preferred',
    stated: true,
    image: 'busybox',
    network: false,
    workspace: 'rw',
    memoryBytes: 512 << 20,
    cpus: 1,
    pids: 256,
    ...settings,
  };
}
