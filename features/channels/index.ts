/** Exports what other features may use of this one. */
export type { ChannelReader, ServiceRequest } from './routes/channel-reader.ts';
export type { ChannelTypePart, SettingsProblem } from './routes/channel-types.ts';
export { isFresh, isSame } from './signatures.ts';
export type { ChannelRow } from './store/channel-store.ts';
