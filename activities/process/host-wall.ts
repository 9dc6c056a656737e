/** Confines commands on this worker's machine (SH-6), by its settings. */
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bytesOf } from '#domain/sandbox.ts';
import { CREDENTIALS_FOLDER, MEDIA_FOLDER } from './state-folders.ts';
import { OWN_NAME } from './own-names.ts';
import { type ProvenWall, proveWall, type CommandBounds } from '@tempoclaw/sandbox';

const PROGRAM = fileURLToPath(new URL('../..', import.meta.url));

/** The settings that say where our own files and services are. */
export interface Whereabouts {
  readonly stateDir: string;
  readonly workspaceRoot: string;
  readonly secretFiles: readonly string[];
  readonly api: { readonly port: number };
  readonly temporal: {
    readonly address?: string;
    readonly uiUrl?: string;
    readonly port: number;
    readonly uiPort: number;
  };
  readonly database: { readonly url?: string; readonly poolerUrl?: string; readonly port: number };
  readonly worker: {
    readonly closedPorts: readonly number[];
    readonly commands: { readonly processes: number; readonly memory?: string; readonly disk: string };
  };
}

/** Ports of a Temporal server with default settings, which require no key. */
const TEMPORAL_PORTS = [7233, 7234, 7235, 7239, 6933, 6934, 6935, 6939];
/** Folders below the state folder in which programs with credentials and video tools have their own folders. */
const COMMAND_FOLDERS = [CREDENTIALS_FOLDER, MEDIA_FOLDER];
/** Public web ports. */
const WEB_PORTS = [80, 443];

/** Never throws when the machine lacks a capability. */
export function hostWall(places: Whereabouts): Promise<ProvenWall> {
  const { stateDir, workspaceRoot, secretFiles } = places;
  return proveWall({
    stateDir,
    workspaceRoot,
    secretFiles,
    commandFolders: COMMAND_FOLDERS.map((name) => join(stateDir, name)),
    program: PROGRAM,
    ports: closedPorts(places),
    bounds: boundsOf(places.worker.commands),
  });
}

/** The limits in the settings. */
export function boundsOf({ processes, memory, disk }: Whereabouts['worker']['commands']): CommandBounds {
  const machine = Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);
  return {
    name: OWN_NAME,
    processes,
    memory: memory === undefined ? Math.floor(machine / 2) : bytesOf(memory),
    disk: bytesOf(disk),
    settings: {
      processes: 'worker.commands.processes',
      memory: 'worker.commands.memory',
      disk: 'worker.commands.disk',
    },
  };
}

function closedPorts({ api, temporal, database, worker }: Whereabouts): readonly number[] {
  const { address = '', uiUrl } = temporal;
  const found = [
    api.port,
    Number(address.slice(address.lastIndexOf(':') + 1)),
    temporal.port,
    temporal.uiPort,
    portOf(uiUrl, 0),
    database.port,
    portOf(database.url, 5432),
    portOf(database.poolerUrl, 6432),
    ...TEMPORAL_PORTS,
    ...worker.closedPorts,
  ];
  return found.filter((port) => port > 0 && !WEB_PORTS.includes(port));
}

function portOf(url: string | undefined, usual: number): number {
  if (url === undefined || !URL.canParse(url)) return 0;
  return Number(new URL(url).port || usual);
}
