/** Reads the parts of an office file's archive that are text, and how they name each other. */
import { strFromU8, unzipSync } from 'fflate';
import { attributesIn } from './read-xml.ts';

/** No person has written an archive that has more, or grows to more. */
const MAX_ENTRIES = 10_000;
const MAX_BYTES = 64 * 1024 * 1024;
/** For an entry that grows to more than a megabyte; text that repeats itself is compressed to a fiftieth. */
const MAX_RATIO = 200;
const SMALL_BYTES = 1_048_576;

/** Parts by path. */
export type Parts = ReadonlyMap<string, string>;

/** The declared sizes are checked before, and enforced during, unpacking. */
export function unpack(bytes: Uint8Array): Parts {
  let [entries, whole] = [0, 0];
  const unpacked = unzipSync(bytes, {
    filter({ name, size, originalSize }) {
      entries += 1;
      if (entries > MAX_ENTRIES) throw new Error(`it has more than ${MAX_ENTRIES} entries`);
      if (!/\.(?:xml|rels|opf|x?html?)$/i.test(name)) return false;
      whole += originalSize;
      if (whole > MAX_BYTES) throw new Error(`it unpacks to more than ${MAX_BYTES} bytes`);
      if (originalSize > SMALL_BYTES && originalSize > size * MAX_RATIO)
        throw new Error(`an entry unpacks to more than ${MAX_RATIO} times its size`);
      return true;
    },
  });
  return new Map(Object.entries(unpacked).map(([name, data]) => [name, strFromU8(data)]));
}

export function partOf(parts: Parts, path: string): string {
  const part = parts.get(path);
  if (part === undefined) throw new Error(`it has no ${path.slice(0, 100)}`);
  return part;
}

/** Paths by the ids under which a part names others (OPC, relationships). */
export function relationsOf(parts: Parts, folder: string, name: string): ReadonlyMap<string, string> {
  const relations = attributesIn(partOf(parts, `${folder}_rels/${name}.rels`), 'Relationship');
  return new Map(relations.map(({ Id = '', Target = '' }) => [Id, resolvedPath(folder, Target)]));
}

/** Resolves the target that a part names, which may be any text. */
export function resolvedPath(folder: string, target: string): string {
  const base = `http://parts.invalid/${folder}`;
  const path = URL.canParse(target, base) ? new URL(target, base).pathname.slice(1) : '';
  return path.replace(/(?:%[0-9a-f]{2})+/gi, (bytes) =>
    Buffer.from(bytes.replaceAll('%', ''), 'hex').toString('utf8'),
  );
}
