/** Exports what other features may use of this one. */
import type { LinkWish, makeOwnLink } from './own-link.ts';

/** Creates the link of one person to one approval. Resolves with undefined when no more links may be created. */
type OwnLink = (tenant: string, wish: LinkWish) => Promise<string | undefined>;

export interface OwnLinkDeps {
  /** Undefined when this build or installation has no links. */
  ownLink(): OwnLink | undefined;
}

declare module '#domain/feature.ts' {
  interface FeaturePoints {
    readonly ownLink: OwnLink;
  }
}

declare module '#api/deps.ts' {
  interface FeatureDeps {
    readonly makeOwnLink?: typeof makeOwnLink;
  }
}
