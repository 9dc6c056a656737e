/**
 * Preloaded into a process (`--import`): its clock is wrong by TEST_CLOCK_OFFSET_MS, and by the opposite after SIGUSR2
 * (F11). Timers and performance.now() run on unchanged, as when somebody sets a machine's clock.
 */
const RealDate = Date;
let offset = Number(process.env['TEST_CLOCK_OFFSET_MS'] ?? 0);
const now = (): number => RealDate.now() + offset;

globalThis.Date = new Proxy(RealDate, {
  construct: (target, args: [], newTarget: typeof RealDate) =>
    Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget) as object,
  apply: () => new RealDate(now()).toString(),
  get: (target, name, receiver): unknown => (name === 'now' ? now : Reflect.get(target, name, receiver)),
});

process.on('SIGUSR2', () => {
  offset = -offset;
});
