/** AP-2, B10: when decisions over Temporal need a token. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createNeedsToken } from '#activities/approvals/needs-token.ts';
import type { PlaceOf } from '#activities/tool-call/call-deps.ts';
import type { AgentConfig } from '#domain/agent.ts';
import type { SandboxSettings } from '#domain/sandbox.ts';

type Own = NonNullable<AgentConfig['sandbox']> | null;

/** A machine with boxes of this kind: by an engine that has one image, by bubblewrap, or not at all. */
function machine(kind: 'engine' | 'bubblewrap' | 'bare', settings: SandboxSettings = {}): PlaceOf {
  return async (own) => {
    const mode = settings.mode === 'required' ? 'required' : (modeOf(own) ?? settings.mode ?? 'preferred');
    if (mode === 'off') return 'host';
    const image = typeof own === 'object' ? own?.image : undefined;
    if (mode === 'required' || (kind === 'engine' && image === undefined)) return 'image';
    return kind === 'bubblewrap' ? 'system' : 'host';
  };
}

function modeOf(own: Own | undefined): SandboxSettings['mode'] {
  return typeof own === 'string' ? own : own?.mode;
}

async function needs(
  kind: Parameters<typeof machine>[0],
  agents: readonly Own[],
  sandbox: SandboxSettings = {},
  required: boolean | 'auto' = 'auto',
  hasQueueNode = false,
): Promise<boolean> {
  const placeOf = machine(kind, sandbox);
  const hasTemporalClients = async (): Promise<boolean> => hasQueueNode;
  const parts = { required, hasTemporalClients, sandbox, placeOf, sandboxesOf: async () => agents };
  return createNeedsToken(parts)('default');
}

describe('B10 a token is needed', () => {
  it('where commands may run unboxed: no way to box, or an agent that is not boxed', async () => {
    assert.equal(await needs('bare', [null]), true);
    for (const kind of ['engine', 'bubblewrap'] as const) {
      assert.equal(await needs(kind, [null, 'preferred', 'required']), false, kind);
      assert.equal(await needs(kind, [null, 'off']), true, kind);
      assert.equal(await needs(kind, [null, { mode: 'off' }]), true, kind);
      assert.equal(await needs(kind, [], { mode: 'off' }), true, kind);
    }
    assert.equal(await needs('engine', [{ image: 'not-there' }]), true);
  });

  it('where a box without a network of its own reaches Temporal', async () => {
    assert.equal(await needs('bubblewrap', [{ network: true }]), true);
    assert.equal(await needs('bubblewrap', [{ network: true }], { network: false }), false);
    assert.equal(await needs('bubblewrap', [], { network: true }), true);
    assert.equal(await needs('engine', [{ network: true }]), false);
  });

  it('where a node works on a task queue, whatever boxes there are, unless the settings say never', async () => {
    assert.equal(await needs('engine', [null], { mode: 'required' }, 'auto', true), true);
    assert.equal(await needs('engine', [null], {}, false, true), false);
  });

  it('never where the settings demand boxes, and as the settings say when they do', async () => {
    for (const kind of ['engine', 'bubblewrap', 'bare'] as const) {
      assert.equal(await needs(kind, ['off', null], { mode: 'required' }), false, kind);
      assert.equal(await needs(kind, [null], {}, true), true, kind);
      assert.equal(await needs(kind, ['off'], {}, false), false, kind);
    }
  });
});
