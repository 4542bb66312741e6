import { Checkbox } from './checkbox.tsx'
import type { Column } from './table.tsx'

type Selection<Row> = {
  rows: readonly Row[]
  selected: ReadonlySet<string>
  onChange(selected: ReadonlySet<string>): void
}

/** Returns a column of checkboxes that select rows, with one for all rows in its header. */
export function selectionColumn<Row extends { id: string; name: string }>(selection: Selection<Row>): Column<Row> {
  const { rows, selected, onChange } = selection
  return {
    isTight: true,
    header: (
      <Checkbox
        label="Select all"
        isLabelHidden
        isOn={rows.length > 0 && rows.every(({ id }) => selected.has(id))}
        onChange={isOn => onChange(new Set(isOn ? rows.map(({ id }) => id) : []))}
      />
    ),
    cell: ({ id, name }) => (
      <Checkbox
        label={`Select ${name}`}
        isLabelHidden
        isOn={selected.has(id)}
        onChange={isOn => onChange(new Set(isOn ? [...selected, id] : [...selected].filter(one => one !== id)))}
      />
    ),
  }
}
