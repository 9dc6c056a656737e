/** Builds the console into `dist/`, which the API serves. `npx vite console` serves it for development. */
import { gzipSync } from 'node:zlib';
import { defineConfig, type Plugin } from 'vite';

/** Bytes as they are sent: what the first page loads, and what any later page adds. */
const FIRST_LOAD = 110 * 1024;
const LATER_CHUNK = 60 * 1024;

/** Fails a build that has become too large for a phone. */
function limitSizes(): Plugin {
  return {
    name: 'limit-sizes',
    generateBundle(_options, bundle) {
      const sizeOf = (name: string): number => {
        const file = bundle[name];
        return file ? gzipSync(file.type === 'chunk' ? file.code : file.source).length : 0;
      };
      const first = new Set<string>();
      const add = (name: string): void => {
        const file = bundle[name];
        if (first.has(name) || file?.type !== 'chunk') return;
        first.add(name);
        file.imports.forEach(add);
      };
      const files = Object.values(bundle);
      for (const file of files) if (file.type === 'chunk' && file.isEntry) add(file.fileName);
      const styles = files.filter(({ fileName }) => fileName.endsWith('.css'));
      for (const { fileName } of styles) first.add(fileName);
      const total = [...first].reduce((sum, name) => sum + sizeOf(name), 0);
      if (total > FIRST_LOAD) this.error(`the first load has ${total} bytes, and may have ${FIRST_LOAD}`);
      for (const { fileName } of files)
        if (!first.has(fileName) && sizeOf(fileName) > LATER_CHUNK)
          this.error(`${fileName} has ${sizeOf(fileName)} bytes, and may have ${LATER_CHUNK}`);
    },
  };
}

export default defineConfig({
  // Relative to <base>, which the API sets where a proxy serves it below a path.
  base: './',
  plugins: [limitSizes()],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    target: 'es2022',
    // An inline module would need another policy.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    cssCodeSplit: false,
    emptyOutDir: true,
  },
  server: {
    proxy: Object.fromEntries(
      ['/v1', '/console'].map((path) => [path, process.env['TEMPOCLAW_URL'] ?? 'http://127.0.0.1:7400']),
    ),
  },
});
