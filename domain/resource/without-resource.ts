/** Operations that no resource defines, each with the command that uses it, or the reason why there is none. */
import type { NoCommand } from './command.ts';

const bytes = { none: 'bytes, for programs' } as const;
const codec = { none: 'the web UI and the command line of Temporal use it' } as const;
const probe = { none: 'for the probes and metrics of whoever runs it' } as const;

export const WITHOUT_RESOURCE: Readonly<Record<string, NoCommand>> = {
  followApprovals: { by: 'approvals watch' },
  followChanges: { none: 'for pages, which read again what has changed' },
  putArtifact: { by: 'artifacts put' },
  getArtifact: { by: 'artifacts get' },
  getCodec: codec,
  encodePayloads: codec,
  decodePayloads: codec,
  followSession: { by: 'sessions events' },
  explainDecision: { by: 'explain tool' },
  sendMessage: { by: 'run' },
  getHealth: probe,
  getReadiness: probe,
  getMetrics: probe,
  getStart: { by: 'open' },
  getToolCallResult: bytes,
  getToolCallImage: bytes,
  getWorkspaceFile: bytes,
  putWorkspaceFile: bytes,
  exportAgent: { by: 'export' },
  importAgent: { by: 'import' },
  exportEvidence: { by: 'evidence export' },
  receiveFromService: { none: 'chat services call it' },
  joinNode: { by: 'node' },
};
