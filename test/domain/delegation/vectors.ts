/** The cases of test/vectors/delegation.json. */
import { readFileSync } from 'node:fs';
import type { LinkDirection, LinkStatus } from '#domain/assignment/agent-link.ts';
import type { AssignmentMode } from '#domain/assignment/delegation.ts';
import type { GateCheck, GateStep } from '#domain/gate/gate.ts';

interface Vectors {
  readonly directions: readonly {
    readonly direction: LinkDirection;
    readonly status?: LinkStatus;
    readonly there: boolean;
    readonly back: boolean;
  }[];
  readonly users: readonly {
    readonly name: string;
    readonly settings: unknown;
    readonly user: string | null;
    readonly roles?: readonly string[];
    readonly allowed: boolean;
  }[];
  readonly loads: readonly { readonly asked: unknown; readonly load: number }[];
  readonly seconds: readonly {
    readonly mode: AssignmentMode;
    readonly asked: number | null;
    readonly seconds: number;
  }[];
  readonly replies: readonly {
    readonly reply: string;
    readonly passed: boolean;
    readonly feedback?: string;
  }[];
  readonly commands: readonly {
    readonly exitCode: number | null;
    readonly stdout?: string;
    readonly stderr?: string;
    readonly timedOut?: boolean;
    readonly kind: GateCheck['kind'];
    readonly feedback?: string;
  }[];
  readonly gate_steps: readonly {
    readonly name: string;
    readonly checks: readonly GateCheck['kind'][];
    readonly max_retries?: number;
    readonly block?: boolean;
    readonly steps: readonly GateStep[];
  }[];
  readonly rounds: readonly { readonly asked: number | null; readonly rounds: number }[];
  readonly handoffs: readonly {
    readonly path: readonly string[];
    readonly from: string;
    readonly to: string;
    readonly refused: boolean;
  }[];
}

export const VECTORS = JSON.parse(
  readFileSync(new URL('../../vectors/delegation.json', import.meta.url), 'utf8'),
) as Vectors;
