/** `tempoclaw/feature`: the manifest of a feature, and the types of its parts. It loads nothing else. */
export {
  type AddedTools,
  type ApiModule,
  type ApiPart,
  defineFeature,
  type Feature,
  type FeatureCommand,
  type ForgetPart,
  type PromptPiece,
  type PromptStep,
  type WorkerModule,
  type WorkerPart,
} from '#domain/feature.ts';
export type { Guard } from '#activities/guards.ts';
export type { ApiCore } from '#api/api-parts.ts';
export type { SettingsSection } from '#config/section.ts';
export type { RowPart } from '#store/row-parts.ts';
export type { WorkerCore } from '#workers/worker-core.ts';
