/** Removes undefined members from a change: such fields stay as they are. */
export function given<T extends object>(change: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const entries = Object.entries(change).filter(([, value]) => value !== undefined)
  return Object.fromEntries(entries) as { [K in keyof T]?: Exclude<T[K], undefined> } // the same names
}

export function isEmpty(change: object): boolean {
  return Object.keys(change).length === 0
}
