/** The settings of sandboxes and the environment of commands: pure, without I/O. */
export { commandEnvironment, DEFAULT_PATH, FIXED } from './command-environment.ts';
export { type BoxSettings, type CommandPlace, MOUNT, type Wall } from './box-settings.ts';
