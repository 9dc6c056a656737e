/**
 * Where an optional capability joins the core: every extension point, with its type. A feature is a folder below features/, and its manifest
 * says which parts it brings. Each part is a module that is loaded by the process that needs it, so a manifest imports nothing but types.
 */
import type { CommandEntry } from '#cli/commands.ts';
import type { RouteModule } from '#api/deps.ts';
import type { Tool } from '#policy/define-tool.ts';

/** Imports a module when it is needed. */
export type Load<Module> = () => Promise<Module>;

export interface Feature {
  /** The name of its folder. */
  readonly name: string;
  /** What it lets agents or people do, in one line. */
  readonly summary: string;
  /** Tools of agents, a file each. The name of a file is that of its tool. */
  readonly tools?: readonly Load<{ readonly tool: Tool }>[];
  /** Routes of the API, in the order of the OpenAPI document. */
  readonly routes?: readonly Load<RouteModule>[];
  /** Commands of the CLI. */
  readonly commands?: readonly CommandEntry[];
}

/** Gives the manifest its type. */
export function defineFeature(feature: Feature): Feature {
  return feature;
}
