/** The files of the built console. They are read once, and again after a build. */
import { readdir, readFile, stat } from 'node:fs/promises';
import { extname } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { BrowserPage } from '#api/deps.ts';

/** Scripts and styles are files of ours. Styles of elements are set by scripts. The only frame is that of a canvas. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data: blob:; font-src 'self'; frame-src 'self'; manifest-src 'self'; form-action 'none'; base-uri 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types dompurify";

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
};

export interface BuiltFile {
  readonly type: string;
  readonly plain: Buffer;
  readonly gzipped: Buffer;
}

export interface BuiltConsole {
  /** The page below a path that a proxy removes; undefined when the console was not built. */
  page(base: string): Promise<BrowserPage | undefined>;
  /** A file by its name, which is not used as a path. */
  file(name: string): Promise<BuiltFile | undefined>;
}

interface Build {
  readonly at: number;
  readonly html: string;
  readonly files: ReadonlyMap<string, BuiltFile>;
}

/** `folder` has `index.html` and a folder `assets`; its URL ends with a slash. */
export function openBuiltConsole(folder: URL): BuiltConsole {
  let build: Promise<Build | undefined> | undefined;

  async function read(at: number): Promise<Build> {
    const assets = new URL('assets/', folder);
    const names = (await readdir(assets)).filter((name) => extname(name) in TYPES);
    const files = names.map(async (name) => {
      const plain = await readFile(new URL(encodeURIComponent(name), assets));
      const gzipped = await promisify(gzip)(plain, { level: 9 });
      return [name, { type: TYPES[extname(name)] ?? '', plain, gzipped }] as const;
    });
    return {
      at,
      html: await readFile(new URL('index.html', folder), 'utf8'),
      files: new Map(await Promise.all(files)),
    };
  }

  /** The newest build. While another one takes its place, the former one is used. */
  async function current(): Promise<Build | undefined> {
    const before = await build;
    const written = await stat(new URL('index.html', folder)).catch(() => undefined);
    if (!written || written.mtimeMs === before?.at) return before;
    build = read(written.mtimeMs).catch(() => before);
    return build;
  }

  return {
    async page(base) {
      const found = await current();
      return found && { html: found.html.replace('<base href="/"', `<base href="${base}"`), policy: POLICY };
    },
    async file(name) {
      return ((await build) ?? (await current()))?.files.get(name);
    },
  };
}
