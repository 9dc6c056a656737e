/** Dependencies of judging, showing and running a call. */
import type { CommandPlace } from '@tempoclaw/shell-judge';
import type { AgentConfig } from '#domain/agent.ts';
import type { SandboxSettings } from '#domain/sandbox.ts';
import type { CallRules } from '#policy/call-rules.ts';
import type { KnownAddresses } from './known-addresses.ts';
import type { Scrubber } from '#store/secrets/scrubber.ts';
import type { Sealer } from '#store/seal.ts';
import type { ReadBoundFiles } from './bound-files.ts';

/** Where commands of an agent with this setting would run now. Never throws. */
export type PlaceOf = (own: AgentConfig['sandbox'] | null) => Promise<CommandPlace>;

export interface CallDeps {
  readonly rules: CallRules;
  readonly scrubber: Scrubber;
  readonly sealer: Sealer;
  /** Sandbox of the settings, for agents that set none. */
  readonly sandbox: SandboxSettings;
  readonly placeOf: PlaceOf;
  readonly boundFiles: ReadBoundFiles;
  readonly knownAddresses: KnownAddresses;
}
