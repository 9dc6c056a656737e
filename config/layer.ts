/**
 * One source of settings (file, environment, flags) as a tree of values. It records where each leaf came from, so that
 * an error can name the variable, flag or line that set the value.
 */

/** Values by key; `origins` maps a dotted key to the words that name its source. */
export interface Layer {
  readonly values: Record<string, unknown>;
  readonly origins: Map<string, string>;
  readonly problems: string[];
}

/** Sets a dotted key in the layer, and creates the objects on the way. */
export function setAt(layer: Layer, key: string, value: unknown, origin: string): void {
  const parts = key.split('.');
  let node = layer.values;
  for (const part of parts.slice(0, -1)) {
    const next = node[part];
    if (isTree(next)) node = next;
    else {
      const made: Record<string, unknown> = {};
      node[part] = made;
      node = made;
    }
  }
  node[parts.at(-1) ?? key] = value;
  layer.origins.set(key, origin);
}

/** The deep union of two trees where `override` wins; arrays and scalars are replaced whole. */
export function mergeTrees(
  under: Readonly<Record<string, unknown>>,
  override: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const merged: Record<string, unknown> = { ...under };
  for (const [key, value] of Object.entries(override)) {
    const old = merged[key];
    merged[key] = isTree(old) && isTree(value) ? mergeTrees(old, value) : value;
  }
  return merged;
}

/** True for a plain object, which merges key by key. */
export function isTree(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
