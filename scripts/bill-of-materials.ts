/** The bill of materials of the npm package (CycloneDX 1.6): what it bundles, and what is installed with it. */
import type { Library } from './bundle-dependencies.ts';
import type { Entries } from './on-demand-lock.ts';

interface Component {
  readonly type: 'library' | 'application';
  readonly 'bom-ref': string;
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly licenses?: readonly [{ readonly expression: string }];
}

/** `bundled`: libraries that are part of the package. `pinned`: packages beside it, by their paths in node_modules. */
export function billOfMaterials(
  { name, version }: { readonly name: string; readonly [field: string]: unknown },
  bundled: readonly Library[],
  pinned: Entries,
): object {
  const installed = Object.entries(pinned).map(([path, entry]) => ({
    name: path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length),
    version: entry.version,
    ...(entry.license !== undefined && { license: entry.license }),
  }));
  const components = [...bundled, ...installed].map((library) => componentOf('library', library));
  const single = new Map(components.map((component) => [component.purl, component]));
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: componentOf('application', { name, version: String(version) }) },
    components: [...single.values()].toSorted((a, b) => (a.purl < b.purl ? -1 : 1)),
  };
}

/** Addresses as https://github.com/package-url/purl-spec says: the scope's @ is escaped. */
function componentOf(type: Component['type'], { name, version, license }: Library): Component {
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
  const licenses = license === undefined ? {} : { licenses: [{ expression: license }] as const };
  return { type, 'bom-ref': purl, name, version, purl, ...licenses };
}
