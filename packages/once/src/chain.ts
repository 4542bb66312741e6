/** Continues with a value: at once, or when its promise has resolved. */
export function chain(value: unknown, next: (value: unknown) => unknown): unknown {
  return isPromise(value) ? value.then(next) : next(value)
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as PromiseLike<unknown> | undefined)?.then === 'function'
}
