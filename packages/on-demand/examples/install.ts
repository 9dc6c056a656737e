/** `node examples/install.ts LOCKS NAME CACHE`: installs the package that the folder LOCKS pins. */
import { env } from 'node:process';
import { packageFolder } from '../src/on-demand.ts';

const [, , locks = '', name = '', cacheDir = ''] = process.argv;
const { PATH = '', HOME = '' } = env;
const onProgress = (text: string): void => console.error(text);
console.log(await packageFolder(name, import.meta.url, { locks, cacheDir, env: { PATH, HOME }, onProgress }));
