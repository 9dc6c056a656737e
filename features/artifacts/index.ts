/** Exports what other features may use of this one. */
export { detectType, UNKNOWN_TYPE } from './detect-type.ts';
export type { ObjectStore } from './objects/object-store.ts';
export { openObjectStore } from './objects/open-object-store.ts';
export { openArtifacts } from './open-artifacts.ts';
export {
  type ArtifactPlaces,
  asAttachment,
  findArtifacts,
  type NewArtifact,
  putArtifact,
  readWhole,
} from './store.ts';
