/** Exports what other features may use of this one. */
export { beginWork } from './begin-work.ts';
export { webhookReader } from './reader.ts';
export { isDiscordSigned, isSame, isSlackSigned, isStandardSecret } from './signatures.ts';
