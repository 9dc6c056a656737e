/**
 * SH-1, SH-2: how an agent's commands are judged, from the settings, its tenant and the agent. The innermost layer wins
 * for each key.
 */
import { DEFAULT_EXEC, type ExecAsk, type ExecPolicy, type ExecSecurity } from '#domain/agent.ts';

export interface EffectiveExec {
  readonly security: ExecSecurity;
  readonly ask: ExecAsk;
  readonly allowlist: readonly string[];
  /** Categories, or parts of them, that are switched off. Denied paths are not a category. */
  readonly categoriesOff: readonly string[];
}

/** `layers` are in order from the outermost to the innermost; lists are concatenated. */
export function effectiveExec(layers: readonly (ExecPolicy | undefined)[]): EffectiveExec {
  const values = layers.filter((layer) => layer !== undefined);
  const switches = values.reduce<Readonly<Record<string, boolean | undefined>>>(
    (all, layer) => ({
      ...all,
      ...Object.fromEntries((layer.categories_off ?? []).map((name) => [name, false])),
      ...layer.categories,
    }),
    {},
  );
  return {
    security: values.findLast((layer) => layer.security)?.security ?? DEFAULT_EXEC.security,
    ask: values.findLast((layer) => layer.ask)?.ask ?? DEFAULT_EXEC.ask,
    allowlist: values.flatMap((layer) => layer.allowlist ?? []),
    categoriesOff: Object.keys(switches).filter((name) => switches[name] === false),
  };
}
