/** Exports what other features may use of this one. */
export { detectType, UNKNOWN_TYPE } from './detect-type.ts';
export { openArtifacts } from './open-artifacts.ts';
export {
  type ArtifactPlaces,
  asAttachment,
  findArtifacts,
  type NewArtifact,
  putArtifact,
  readWhole,
} from './store.ts';
