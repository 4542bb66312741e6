/** The new values of a filter, or a function that makes them out of those in the URL. */
export type FilterValue = string | readonly string[] | ((present: readonly string[]) => readonly string[])

/** Returns the query of a URL after changes of its filters. An empty text is no value. */
export function changedFilters(search: string, changes: ReadonlyArray<readonly [name: string, value: FilterValue]>) {
  const next = new URLSearchParams(search)
  for (const [name, value] of changes) {
    const values = typeof value === 'function' ? value(next.getAll(name).filter(Boolean)) : [value].flat()
    next.delete(name)
    for (const one of values) if (one !== '') next.append(name, one)
  }
  return next
}

/** Returns a change that adds a value, or removes it if it is there. */
export function toggled(value: string) {
  return (present: readonly string[]) =>
    present.includes(value) ? present.filter(one => one !== value) : [...present, value]
}
