/** Moves the focus from row to row, first to the open row or the first one. Returns whether there is a row. */
export function moveRow(step: 1 | -1): boolean {
  // A list that mounts its rows out of order numbers them.
  const rows = [...document.querySelectorAll<HTMLElement>('#main [data-row-link]')].sort(
    (a, b) => Number(a.dataset.rowLink) - Number(b.dataset.rowLink),
  )
  const current = rows.find(row => row.matches(':focus')) ?? rows.find(row => row.matches('[aria-current=true]'))
  const next = current ? rows[rows.indexOf(current) + step] : rows[0]
  next?.focus()
  return next !== undefined
}
