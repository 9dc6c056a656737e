/** Exports what other features may use of this one. */
export { decodeText, kindOf } from './pages/decode-text.ts';
export { readApart, ReadingProblem } from './pages/read-apart.ts';
