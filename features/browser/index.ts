/** Exports what other features may use of this one. */
export type { Browsers } from './activities/browsers.ts';
export { shortError } from './activities/in-tab.ts';
export { ignoring, type Tab } from './activities/open-browser.ts';
export { takePicture } from './activities/take-picture.ts';
