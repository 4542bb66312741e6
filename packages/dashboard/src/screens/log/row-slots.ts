/** The id of a run, or the index of a row that is loading. */
type RowKey = string | number

/**
 * Assigns mounted rows to slots, whose elements are reused: a row that leaves the view passes its slot to an entering row.
 * New text in old elements costs a fraction of new elements. A row keeps its slot, and so the focus, while it is mounted.
 */
export function assignSlots(rows: readonly RowKey[], before: ReadonlyMap<RowKey, number>): Map<RowKey, number> {
  const taken = new Set(rows.flatMap(row => before.get(row) ?? []))
  let free = 0
  const takeFree = () => {
    while (taken.has(free)) free += 1
    taken.add(free)
    return free
  }
  return new Map(rows.map(row => [row, before.get(row) ?? takeFree()]))
}
