import { hasBinaryForm, toBinaryArray } from './binary-arrays.ts'

/** A column of a statement's input rows: its name, its SQL type, and the value of an item. Undefined counts as NULL. */
export type InputColumn<Item> = readonly [name: string, type: string, of: (item: Item) => unknown]

/**
 * Returns the input rows of a statement, as a query. Each column is one of the first parameters, an array. So the statement
 * is the same for any number of rows, and PostgreSQL prepares and plans it once.
 */
export function inputRows<Item>(columns: ReadonlyArray<InputColumn<Item>>): string {
  const arrays = columns.map(([, type], i) => `$${i + 1}::${hasBinaryForm(type) ? '' : 'text[]::'}${type}[]`)
  return `SELECT * FROM unnest(${arrays.join(', ')}) AS input (${columns.map(([name]) => name).join(', ')})`
}

/** Returns the parameters for `inputRows`. Enumerations, whose oids differ between databases, are arrays of texts. */
export function inputValues<Item>(columns: ReadonlyArray<InputColumn<Item>>, items: readonly Item[]): Buffer[] {
  return columns.map(([, type, of]) => toBinaryArray(hasBinaryForm(type) ? type : 'text', items, of))
}
